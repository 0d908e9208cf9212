/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose fault it is that readers die, and what the next one is told. */
#include <check.h>

#include "base/clock.h"
#include "supervise/blame.h"

#include "run.h"

static struct blame *suspects;
static struct orders orders;
static const uint64_t root = 0, user = 1001;

static void setup(void)
{
	suspects = blame_create();
}

static void teardown(void)
{
	blame_destroy(suspects);
}

static void check_orders(bool alone, bool files, unsigned count)
{
	orders = (struct orders){0};
	blame_order(suspects, &orders);
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
	return blame_left_out(suspects, first, 1);
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
	blame_died(suspects, NULL, true, false);
	check_orders(true, false, 0);
	g_array_unref(orders.suspects);
	blame_died(suspects, NULL, false, false);
	check_orders(true, false, 0);
	g_array_unref(orders.suspects);
	blame_died(suspects, NULL, true, false);
	check_orders(true, true, 0);
	ck_assert_int_le(orders.files, 30 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
	blame_died(suspects, NULL, true, false);
	check_orders(true, true, 0);
	ck_assert_int_gt(orders.files, 30 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
}
END_TEST

/* Two readers have to die of a user; then he waits, each time for longer. */
START_TEST(one_user)
{
	uint64_t first = 42;

	blame_died(suspects, &root, false, false);
	check_orders(true, false, 1);
	ck_assert_int_eq(wait_of_first(), 0);
	ck_assert_uint_eq(left_out(&first), 0);
	g_array_unref(orders.suspects);
	blame_died(suspects, &root, false, false);
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 29 * NS_PER_SECOND);
	ck_assert_uint_eq(left_out(&first), 1);
	ck_assert_uint_eq(first, root);
	g_array_unref(orders.suspects);
	blame_died(suspects, &root, false, false); /* he was tried */
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 59 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
	/* all is well, but one death is enough now */
	blame_well(suspects, root);
	ck_assert_uint_eq(left_out(&first), 0);
	blame_died(suspects, &root, false, false);
	check_orders(true, false, 1);
	ck_assert_int_gt(wait_of_first(), 119 * NS_PER_SECOND);
	g_array_unref(orders.suspects);
}
END_TEST

/* One death, and the next reader can read him: nothing is held against him. */
START_TEST(one_user_once)
{
	blame_died(suspects, &user, false, false);
	blame_well(suspects, user);
	blame_died(suspects, &user, false, false);
	check_orders(true, false, 1);
	ck_assert_int_eq(wait_of_first(), 0);
	g_array_unref(orders.suspects);
}
END_TEST

/* Whose trace babeltrace2 refuses is left out too, as the status has it; but readers may try. */
START_TEST(unreadable)
{
	struct culprit culprit = {.user = user, .packets = 3, .error = "no"};
	uint64_t first;

	blame_unreadable(suspects, &culprit);
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
		blame_died(suspects, &i, false, false);
		blame_died(suspects, &i, false, false);
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
	tcase_add_test(cases, unreadable);
	tcase_add_test(cases, many);
	return run_cases("blame", cases);
}
