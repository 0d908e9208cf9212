/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits between two tries of a server, by a clock of the test's own. */
#include "output/uplink/backoff.h"
#include "uplink_rig.h"

#define TRIES 200
#define NOW (1000 * NS_PER_SECOND)

static struct event_base *base;
static struct backoff backoff;

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void setup(void)
{
	base = event_base_new();
	backoff_init(&backoff, base, on_over, NULL);
	backoff_set_pace(&backoff, 250 * NS_PER_MS, 64 * NS_PER_SECOND);
}

static void teardown(void)
{
	backoff_free(&backoff);
	event_base_free(base);
}

/* Fails so often that waits are long. Returns how long good service has to last then. */
static int64_t fail_often(void)
{
	int64_t wait = 0;

	for (int i = 0; i < 20; i++)
		wait = backoff_next(&backoff, 0, NOW);
	ck_assert_int_eq(backoff.bound, backoff.max_ns);
	return MIN(wait, 5 * NS_PER_SECOND);
}

/* All agents are told the same time; half of it more is where they are spread over. */
START_TEST(what_is_asked_for_is_spread)
{
	int64_t shortest = INT64_MAX, longest = 0;

	for (int i = 0; i < TRIES; i++) {
		int64_t ns;

		backoff_reset(&backoff);
		ns = backoff_next(&backoff, 10 * NS_PER_SECOND, NOW);
		ck_assert_int_ge(ns, 10 * NS_PER_SECOND);
		ck_assert_int_le(ns, 15 * NS_PER_SECOND);
		ck_assert_int_eq(backoff.asked, NOW + ns);
		shortest = MIN(shortest, ns);
		longest = MAX(longest, ns);
	}
	ck_assert_int_lt(shortest, 11 * NS_PER_SECOND);
	ck_assert_int_gt(longest, 14 * NS_PER_SECOND);
}
END_TEST

/* However long the server asks for. */
START_TEST(what_is_asked_for_is_bounded)
{
	for (int i = 0; i < TRIES; i++) {
		int64_t ns = backoff_next(&backoff, INT64_MAX, NOW);

		ck_assert_int_ge(ns, 300 * NS_PER_SECOND);
		ck_assert_int_le(ns, 450 * NS_PER_SECOND);
	}
}
END_TEST

/* An overloaded server gives good answers too. */
START_TEST(one_good_answer_does_not_make_waits_short)
{
	int64_t wait = fail_often();

	backoff_good(&backoff, NOW);
	wait = backoff_next(&backoff, 0, NOW + wait - NS_PER_MS);
	ck_assert_int_eq(backoff.bound, backoff.max_ns);
	/* and what was good before that failure does not count */
	backoff_good(&backoff, NOW + 60 * NS_PER_SECOND);
	backoff_next(&backoff, 0, NOW + 60 * NS_PER_SECOND + MIN(wait, 5 * NS_PER_SECOND) - NS_PER_MS);
	ck_assert_int_eq(backoff.bound, backoff.max_ns);
}
END_TEST

/* One that puts off a call now and then, whatever it is sent, is not overloaded. */
START_TEST(some_good_answers_do)
{
	for (int i = 0; i < TRIES; i++) {
		int64_t ns;

		fail_often();
		backoff_good(&backoff, NOW);
		backoff_good(&backoff, NOW + NS_PER_MS);
		ns = backoff_next(&backoff, 0, NOW + 2 * NS_PER_MS);
		ck_assert_int_ge(ns, 250 * NS_PER_MS);
		ck_assert_int_le(ns, 500 * NS_PER_MS);
	}
}
END_TEST

START_TEST(good_service_makes_waits_short)
{
	for (int i = 0; i < TRIES; i++) {
		int64_t ns = fail_often();

		backoff_good(&backoff, NOW);
		ns = backoff_next(&backoff, 0, NOW + ns);
		ck_assert_int_ge(ns, 250 * NS_PER_MS);
		ck_assert_int_le(ns, 500 * NS_PER_MS);
	}
}
END_TEST

/* All agents ask for a server that is away; the longer it is, the seldomer. One that comes back is tried as
 * usual. */
START_TEST(waits_grow_with_the_outage)
{
	const int64_t max = 1500 * NS_PER_MS;

	backoff_set_pace(&backoff, 250 * NS_PER_MS, max);
	for (int i = 0; i < 20; i++)
		backoff_next(&backoff, 0, NOW);
	ck_assert_int_eq(backoff.bound, max);
	for (int i = 0; i < 20; i++)
		backoff_next(&backoff, 0, NOW + 100 * NS_PER_SECOND);
	ck_assert_int_eq(backoff.bound, 10 * NS_PER_SECOND);
	for (int i = 0; i < 20; i++)
		backoff_next(&backoff, 0, NOW + 3000 * NS_PER_SECOND);
	ck_assert_int_eq(backoff.bound, 30 * NS_PER_SECOND);
	backoff_connected(&backoff);
	backoff_good(&backoff, NOW + 3000 * NS_PER_SECOND);
	ck_assert_int_eq(backoff.bound, max);
	backoff_next(&backoff, 0, NOW + 3000 * NS_PER_SECOND + 200 * NS_PER_MS);
	ck_assert_int_eq(backoff.bound, max);
}
END_TEST

/* The same of a server that is there, and takes too little: what is put off must not keep it busy. */
START_TEST(waits_grow_while_it_is_busy)
{
	const int64_t max = 1500 * NS_PER_MS;
	int64_t now = NOW;

	backoff_set_pace(&backoff, 250 * NS_PER_MS, max);
	for (int i = 0; i < 14; i++, now += NS_PER_SECOND) {
		backoff_next(&backoff, 0, now);
		backoff_good(&backoff, now + 800 * NS_PER_MS);
	}
	ck_assert_int_eq(backoff.bound, max);
	for (int i = 0; i < 17; i++, now += NS_PER_SECOND) {
		backoff_next(&backoff, 0, now);
		backoff_good(&backoff, now + 800 * NS_PER_MS);
	}
	ck_assert_int_eq(backoff.bound, 3 * NS_PER_SECOND);
	for (int i = 0; i < 100; i++, now += NS_PER_SECOND) {
		backoff_next(&backoff, 0, now);
		backoff_good(&backoff, now + 800 * NS_PER_MS);
	}
	ck_assert_int_eq(backoff.bound, 5 * NS_PER_SECOND);
	backoff_next(&backoff, 0, now + 10 * NS_PER_SECOND); /* it was good for so long */
	ck_assert_int_eq(backoff.bound, NS_PER_SECOND);
}
END_TEST

TCase *uplink_backoff(void)
{
	TCase *tests = tcase_create("backoff");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, what_is_asked_for_is_spread);
	tcase_add_test(tests, what_is_asked_for_is_bounded);
	tcase_add_test(tests, one_good_answer_does_not_make_waits_short);
	tcase_add_test(tests, some_good_answers_do);
	tcase_add_test(tests, good_service_makes_waits_short);
	tcase_add_test(tests, waits_grow_with_the_outage);
	tcase_add_test(tests, waits_grow_while_it_is_busy);
	return tests;
}
