/* SPDX-License-Identifier: BSD-2-Clause */
/* The wall clock's steps, with clocks of the test's own. */
#include <check.h>

#include <glib.h>

#include "base/clock.h"
#include "core/clocksteps.h"

#include "run.h"

#define HOUR (3600 * NS_PER_SECOND)
#define EPOCH INT64_C(1700000000000000000)

static int64_t monotonic, offset;

/* In libc's place. The monotonic clock moves a little with each look. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	int64_t now = monotonic += 40;

	if (clock == CLOCK_REALTIME)
		now += offset;
	*time = (struct timespec){now / NS_PER_SECOND, now % NS_PER_SECOND};
	return 0;
}

static struct clock_steps steps;
static int64_t by;

static void setup(void)
{
	memset(&steps, 0, sizeof(steps));
	monotonic = 5 * NS_PER_SECOND;
	offset = EPOCH;
	ck_assert(!clock_steps_look(&steps, &by));
}

/* An event that LTTng, which knows only the first offset, dates wrongly. */
static int64_t time_at(int64_t moment)
{
	return clock_steps_time(&steps, moment, moment + EPOCH);
}

START_TEST(hours_both_ways)
{
	int64_t moments[5];

	for (int i = 0; i < 5; i++) {
		monotonic += 10 * NS_PER_SECOND;
		ck_assert_int_eq(clock_steps_look(&steps, &by), i > 0);
		ck_assert_int_le(llabs(by - (i == 0 ? 0 : i % 2 ? HOUR : -HOUR)), 1000);
		moments[i] = monotonic + NS_PER_SECOND;
		monotonic += 10 * NS_PER_SECOND;
		ck_assert(!clock_steps_look(&steps, &by));
		offset = i % 2 ? EPOCH : EPOCH + HOUR;
	}
	for (int i = 0; i < 5; i++)
		ck_assert_int_le(
			llabs(time_at(moments[i]) - (moments[i] + EPOCH + (i % 2 ? HOUR : 0))), 1000);
}
END_TEST

START_TEST(what_is_no_step)
{
	offset += 900 * 1000;
	ck_assert(!clock_steps_look(&steps, &by));
	/* what LTTng says is kept to the nanosecond */
	ck_assert_int_eq(time_at(monotonic), monotonic + EPOCH);
	/* but small ones add up */
	offset += 900 * 1000;
	ck_assert(clock_steps_look(&steps, &by));
	ck_assert_int_le(llabs(time_at(monotonic) - (monotonic + offset)), 1000);
}
END_TEST

/* A trace that began before a step, and one that began behind it and measured the offset itself: what both
 * record is dated alike, whichever was read first. */
START_TEST(traces_of_before_and_behind)
{
	const int64_t measured = EPOCH + HOUR + 3000;
	int64_t moment = monotonic + NS_PER_SECOND;

	offset += HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	for (int old_first = 0; old_first < 2; old_first++) {
		int64_t old = old_first ? clock_steps_time(&steps, moment, moment + EPOCH) : 0;
		int64_t young = clock_steps_time(
			&steps, moment, moment + clock_offsets_take(&steps.offsets, steps.boot, measured));

		ck_assert_int_le(llabs(young - (moment + EPOCH + HOUR)), 5000);
		ck_assert_int_eq(young, old_first ? old : moment + measured);
		ck_assert_int_eq(young, clock_steps_time(&steps, moment, moment + EPOCH));
		memset(&steps.offsets, 0, sizeof(steps.offsets));
	}
}
END_TEST

START_TEST(before_anybody_looked)
{
	offset += HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	ck_assert_int_eq(time_at(NS_PER_SECOND), NS_PER_SECOND + EPOCH);
}
END_TEST

START_TEST(kept_over_a_restart)
{
	struct buffer saved = {0};
	struct unpacker from;
	int64_t before = monotonic;

	monotonic += NS_PER_SECOND;
	clock_steps_look(&steps, &by);
	clock_offsets_take(&steps.offsets, steps.boot, EPOCH + 3000);
	clock_steps_save(&steps, &saved);
	for (size_t size = 0; size < saved.size; size++) {
		from = unpacker_of(saved.data, size);
		ck_assert(!clock_steps_load(&steps, &from));
		ck_assert_uint_eq(steps.count, 0);
	}
	from = unpacker_of(saved.data, saved.size);
	ck_assert(clock_steps_load(&steps, &from));
	ck_assert_int_eq(clock_offsets_take(&steps.offsets, steps.boot, EPOCH), EPOCH + 3000);
	/* it stepped while nobody looked */
	monotonic += 100 * NS_PER_SECOND;
	offset -= HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	ck_assert_int_eq(time_at(before), before + EPOCH);
	ck_assert_int_le(llabs(time_at(monotonic) - (monotonic + EPOCH - HOUR)), 1000);
	buffer_free(&saved);
}
END_TEST

START_TEST(a_table_of_the_boot_before)
{
	struct buffer saved = {0};
	struct unpacker from;

	monotonic += 5 * HOUR;
	offset += HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	clock_steps_save(&steps, &saved);
	from = unpacker_of(saved.data, saved.size);
	ck_assert(clock_steps_load(&steps, &from));
	/* the monotonic clock begins again, and the wall clock has gone on */
	monotonic = 20 * NS_PER_SECOND;
	offset = EPOCH + 7 * HOUR;
	ck_assert(!clock_steps_look(&steps, &by));
	ck_assert_int_eq(by, 0);
	ck_assert_uint_eq(steps.count, 1);
	for (int64_t moment = monotonic; moment < 9 * HOUR; moment += HOUR) {
		int64_t time = moment + offset;

		ck_assert_int_eq(clock_steps_time(&steps, moment, time), time);
		ck_assert_int_le(llabs(clock_steps_time(&steps, moment, 0) - time), 1000);
	}
	buffer_free(&saved);
}
END_TEST

/* The new boot is up for longer than the old one was at its last look: the clock alone does not tell. */
START_TEST(a_table_of_a_shorter_boot)
{
	struct buffer saved = {0};
	struct unpacker from;

	steps.boot[3] ^= 0x10;
	clock_steps_save(&steps, &saved);
	from = unpacker_of(saved.data, saved.size);
	ck_assert(clock_steps_load(&steps, &from));
	ck_assert(from.at == from.end);
	monotonic += HOUR;
	offset += 5 * HOUR;
	ck_assert(!clock_steps_look(&steps, &by));
	ck_assert_int_eq(by, 0);
	ck_assert_uint_eq(steps.count, 1);
	/* and from now on the table is of this boot */
	monotonic += HOUR;
	offset += HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	buffer_free(&saved);
}
END_TEST

/* Of 0.1: it is not known of which boot it is. */
START_TEST(a_table_without_a_boot)
{
	const uint64_t step[] = {(uint64_t)monotonic, (uint64_t)EPOCH};
	struct buffer saved = {0};
	struct unpacker from;

	pack_u64(&saved, (uint64_t)monotonic);
	pack_u32(&saved, 1);
	pack_u64(&saved, step[0]);
	pack_u64(&saved, step[1]);
	from = unpacker_of(saved.data, saved.size);
	ck_assert(clock_steps_load(&steps, &from));
	ck_assert_uint_eq(steps.count, 1);
	ck_assert_uint_eq(steps.offsets.count, 0);
	monotonic += HOUR;
	offset += HOUR;
	ck_assert(clock_steps_look(&steps, &by));
	buffer_free(&saved);
}
END_TEST

START_TEST(more_steps_than_are_kept)
{
	int64_t last = 0;

	for (int i = 1; i <= 3 * CLOCK_STEPS; i++) {
		monotonic += NS_PER_SECOND;
		offset += 2 * NS_PER_MS;
		ck_assert(clock_steps_look(&steps, &by));
		last = monotonic;
	}
	ck_assert_uint_eq(steps.count, CLOCK_STEPS);
	ck_assert_int_le(llabs(time_at(last) - (last + offset)), 1000);
	/* times that overflow are left as they are */
	ck_assert_int_eq(clock_steps_time(&steps, INT64_MAX, 5), 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clocksteps");
	TCase *cases = tcase_create("all");
	SRunner *runner;

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, hours_both_ways);
	tcase_add_test(cases, what_is_no_step);
	tcase_add_test(cases, traces_of_before_and_behind);
	tcase_add_test(cases, before_anybody_looked);
	tcase_add_test(cases, kept_over_a_restart);
	tcase_add_test(cases, a_table_of_the_boot_before);
	tcase_add_test(cases, a_table_of_a_shorter_boot);
	tcase_add_test(cases, a_table_without_a_boot);
	tcase_add_test(cases, more_steps_than_are_kept);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK); /* Check's own clock is ours, too */
	return run_all(runner);
}
