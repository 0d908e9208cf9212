/* SPDX-License-Identifier: BSD-2-Clause */
/* One offset for all traces of one clock: what is an error of measurement, and what is a step. */
#include <check.h>

#include <string.h>

#include "core/clockoffsets.h"

#include "run.h"

#define EPOCH INT64_C(1700000000000000000)
#define US INT64_C(1000)

static const uint8_t boot[CLOCK_UUID] = "this boot's uuid", other[CLOCK_UUID] = "that boot's uuid";
static struct clock_offsets offsets;

static void setup(void)
{
	memset(&offsets, 0, sizeof(offsets));
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, EPOCH), EPOCH);
}

START_TEST(measured_again)
{
	for (int64_t error = -999999; error < CLOCK_STEP_NS; error += 3 * US + 7)
		ck_assert_int_eq(clock_offsets_take(&offsets, boot, EPOCH + error), EPOCH);
	ck_assert_uint_eq(offsets.count, 1);
}
END_TEST

START_TEST(stepped)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		int64_t there = EPOCH + sign * CLOCK_STEP_NS;

		ck_assert_int_eq(clock_offsets_take(&offsets, boot, there), there);
		ck_assert_int_eq(clock_offsets_take(&offsets, boot, there + sign * 3 * US), there);
	}
	/* and back again */
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, EPOCH + 2 * US), EPOCH);
	ck_assert_uint_eq(offsets.count, 3);
}
END_TEST

/* Where only the clock itself matters. */
START_TEST(one_for_each_clock)
{
	struct clock_offsets one = {.one_each = true};

	ck_assert_int_eq(clock_offsets_take(&one, boot, EPOCH), EPOCH);
	ck_assert_int_eq(clock_offsets_take(&one, boot, EPOCH + 3600 * NS_PER_SECOND), EPOCH);
	ck_assert_int_eq(clock_offsets_take(&one, other, -EPOCH), -EPOCH);
	ck_assert_uint_eq(one.count, 2);
}
END_TEST

START_TEST(another_clock)
{
	ck_assert_int_eq(clock_offsets_take(&offsets, other, EPOCH + 2 * US), EPOCH + 2 * US);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, EPOCH + 3 * US), EPOCH);
	ck_assert_int_eq(clock_offsets_take(&offsets, other, EPOCH + 1 * US), EPOCH + 2 * US);
}
END_TEST

/* What came in between changes nothing of what is read a second time, be it nearer. */
START_TEST(read_again)
{
	const int64_t read = EPOCH + 900 * US, nearer = EPOCH + 1100 * US;

	ck_assert_int_eq(clock_offsets_take(&offsets, boot, read), EPOCH);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, nearer), nearer);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, read), EPOCH);
}
END_TEST

START_TEST(kept_over_a_restart)
{
	struct buffer saved = {0};
	struct unpacker from;

	clock_offsets_take(&offsets, other, -EPOCH);
	clock_offsets_save(&offsets, &saved);
	for (size_t size = 0; size < saved.size; size++) {
		from = unpacker_of(saved.data, size);
		ck_assert(!clock_offsets_load(&offsets, &from));
		ck_assert_uint_eq(offsets.count, 0);
	}
	from = unpacker_of(saved.data, saved.size);
	ck_assert(clock_offsets_load(&offsets, &from));
	ck_assert(from.at == from.end);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, EPOCH + US), EPOCH);
	ck_assert_int_eq(clock_offsets_take(&offsets, other, US - EPOCH), -EPOCH);
	/* more than there can be */
	saved.data[0] = saved.data[1] = 0xff;
	from = unpacker_of(saved.data, saved.size);
	ck_assert(!clock_offsets_load(&offsets, &from));
	ck_assert_uint_eq(offsets.count, 0);
	buffer_free(&saved);
}
END_TEST

START_TEST(more_than_are_kept)
{
	for (int i = 1; i < 3 * CLOCK_OFFSETS; i++) {
		int64_t offset = EPOCH + i * CLOCK_STEP_NS;

		ck_assert_int_eq(clock_offsets_take(&offsets, boot, offset), offset);
		ck_assert_int_eq(clock_offsets_take(&offsets, boot, offset + US), offset);
		ck_assert_uint_le(offsets.count, CLOCK_OFFSETS);
	}
}
END_TEST

/* Such as only a forged trace says. */
START_TEST(extremes)
{
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, INT64_MAX), INT64_MAX);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, INT64_MIN), INT64_MIN);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, INT64_MAX - 1), INT64_MAX);
	ck_assert_int_eq(clock_offsets_take(&offsets, boot, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clockoffsets");
	TCase *cases = tcase_create("all");
	SRunner *runner;

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, measured_again);
	tcase_add_test(cases, stepped);
	tcase_add_test(cases, one_for_each_clock);
	tcase_add_test(cases, another_clock);
	tcase_add_test(cases, read_again);
	tcase_add_test(cases, kept_over_a_restart);
	tcase_add_test(cases, more_than_are_kept);
	tcase_add_test(cases, extremes);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	return run_all(runner);
}
