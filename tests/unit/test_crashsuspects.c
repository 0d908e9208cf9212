/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose fault it is that readers die, and what the next one is told. */
#include <check.h>

#include "base/clock.h"
#include "supervise/crashsuspects.h"

#include "run.h"

static struct crash_suspects *suspects;
static struct orders orders;
static const uint64_t root = 0, user = 1001;

static void setup(void)
{
	suspects = crash_suspects_create();
}

static void teardown(void)
{
	crash_suspects_destroy(suspects);
}

static void check_orders(bool alone, bool files, unsigned count)
{
	orders = (struct orders){0};
	crash_suspects_order(suspects, &orders);
	ck_assert_int_eq(orders.alone, alone);
	ck_assert_int_eq(orders.files > 0, files);
	ck_assert_uint_eq(orders.suspects->len, count);
}

static int64_t wait_of_first(void)
{
	return g_array_index(orders.suspects, struct suspect, 0).wait;
}

static unsigned left_out(uint64_t *first)
{
	return crash_suspects_left_out(suspects, first, 1);
}

START_TEST(nobody)
{
	uint64_t first;

	check_orders(false, false, 0);
	ck_assert_uint_eq(left_out(&first), 0);
	g_array_unref(orders.suspects);
}
END_TEST

/* The first death of live reading sends the next reader to the files for once, the second for a while. */
START_TEST(live_reading)
{
	crash_suspects_died(suspects, NULL, true, DEATH_PLAIN);
	check_orders(true, false, 0);
	g_array_unref(orders.suspects);
	crash_suspects_died(suspects, NULL, false, DEATH_PLAIN);
	check_orders(true, false, 0);
	g_array_unref(orders.suspects);
	crash_suspects_died(suspects, NULL, true, DEATH_PLAIN);
	check_orders(true, true, 0);
	ck_assert_int_le(orders.files, 30 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
	crash_suspects_died(suspects, NULL, true, DEATH_PLAIN);
	check_orders(true, true, 0);
	ck_assert_int_gt(orders.files, 30 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
}
END_TEST

/* Two readers have to die of a user; then he waits, each time for longer. */
START_TEST(one_user)
{
	uint64_t first = 42;

	crash_suspects_died(suspects, &root, false, DEATH_PLAIN);
	check_orders(true, false, 1);
	ck_assert_int_eq(wait_of_first(), 0);
	ck_assert_uint_eq(left_out(&first), 0);
	g_array_unref(orders.suspects);
	crash_suspects_died(suspects, &root, false, DEATH_PLAIN);
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 29 * NS_PER_SECOND);
	ck_assert_uint_eq(left_out(&first), 1);
	ck_assert_uint_eq(first, root);
	g_array_unref(orders.suspects);
	crash_suspects_died(suspects, &root, false, DEATH_PLAIN); /* he was tried */
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 59 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
	/* all is well, but one death is enough now */
	crash_suspects_well(suspects, root);
	ck_assert_uint_eq(left_out(&first), 0);
	crash_suspects_died(suspects, &root, false, DEATH_PLAIN);
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 119 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
}
END_TEST

/* One death, and the next reader can read him: nothing is held against him. */
START_TEST(one_user_once)
{
	crash_suspects_died(suspects, &user, false, DEATH_PLAIN);
	crash_suspects_well(suspects, user);
	crash_suspects_died(suspects, &user, false, DEATH_PLAIN);
	check_orders(true, false, 1);
	ck_assert_int_eq(wait_of_first(), 0);
	g_array_unref(orders.suspects);
}
END_TEST

/* Of what a reader died is told for as long as it matters. */
START_TEST(too_large)
{
	crash_suspects_died(suspects, NULL, true, DEATH_TOO_LARGE);
	crash_suspects_died(suspects, &user, false, DEATH_TOO_LARGE);
	ck_assert_msg(!crash_suspects_too_large(suspects), "each is tried once more");
	crash_suspects_died(suspects, &user, false, DEATH_TOO_LARGE);
	ck_assert(crash_suspects_too_large(suspects));
	crash_suspects_well(suspects, user);
	ck_assert(!crash_suspects_too_large(suspects));
	crash_suspects_died(suspects, NULL, true, DEATH_TOO_LARGE);
	ck_assert_msg(crash_suspects_too_large(suspects), "live reading is left");
	crash_suspects_died(suspects, NULL, true, DEATH_PLAIN);
	ck_assert(!crash_suspects_too_large(suspects));
}
END_TEST

/* Whose trace babeltrace2 refuses is left out too, as the status has it; but readers may try. */
START_TEST(unreadable)
{
	struct unreadable left = {.user = user, .packets = 3, .error = "no"};
	uint64_t first;

	crash_suspects_unreadable(suspects, &left);
	ck_assert_uint_eq(left_out(&first), 1);
	ck_assert_uint_eq(first, user);
	check_orders(false, false, 0);
	g_array_unref(orders.suspects);
}
END_TEST

/* However many there are, memory has a bound. */
START_TEST(many)
{
	uint64_t first;

	for (uint64_t i = 0; i < 5000; i++) {
		crash_suspects_died(suspects, &i, false, DEATH_PLAIN);
		crash_suspects_died(suspects, &i, false, DEATH_PLAIN);
	}
	ck_assert_uint_eq(left_out(&first), 1024);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, nobody);
	tcase_add_test(cases, live_reading);
	tcase_add_test(cases, one_user);
	tcase_add_test(cases, one_user_once);
	tcase_add_test(cases, too_large);
	tcase_add_test(cases, unreadable);
	tcase_add_test(cases, many);
	return run_cases("crashsuspects", cases);
}
