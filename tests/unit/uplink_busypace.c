/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast all is sent to a server that was busy lately, by a clock of the test's own. */
#include "output/server/courtesy.h"
#include "uplink_rig.h"

#define WINDOW 8
#define BEGAN (1000 * NS_PER_SECOND)
#define USUAL 500

static struct courtesy courtesy;
static int64_t now;
static uint64_t fresh;

/* So many fresh spans come a second, and the server takes them. */
static void pass(int64_t ms, unsigned rate)
{
	for (int64_t i = 0; i < ms / 10; i++) {
		now += 10 * NS_PER_MS;
		fresh += rate / 100;
		sendpace_look(&courtesy.pace, now, fresh, 100);
		courtesy_good(&courtesy, now);
	}
}

static void setup(void)
{
	courtesy_init(&courtesy, WINDOW);
	now = BEGAN;
	fresh = 0;
	sendpace_look(&courtesy.pace, now, fresh, 100);
	pass(3000, USUAL);
}

static void busy(void)
{
	courtesy_failed(&courtesy, FAULT_TRY_LATER, 0, now);
}

/* As many spans as the pace allows within @ms are sent, and taken; returns how many a second. */
static double send_for(int64_t ms)
{
	double sent = 0;

	for (int64_t i = 0; i < ms; i++) {
		now += NS_PER_MS;
		while (courtesy_wait(&courtesy, now) == 0 && sent < 1e6) {
			uint32_t items = MIN(courtesy_most(&courtesy), 1000);

			courtesy_spend(&courtesy, items, false);
			courtesy_good(&courtesy, now);
			sent += items;
		}
	}
	return sent * 1000 / (double)ms;
}

/* Where the server was never busy, nothing is. */
START_TEST(no_pace_before)
{
	ck_assert_uint_eq(courtesy_most(&courtesy), UINT32_MAX);
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(courtesy_wait(&courtesy, now), 0);
		courtesy_spend(&courtesy, 1000, false);
	}
	courtesy_failed(&courtesy, FAULT_CONNECT_REFUSED, 0, now);
	ck_assert(!courtesy.all.on && courtesy_wait(&courtesy, now) == 0);
	courtesy_failed(&courtesy, FAULT_NO_ANSWER, 0, now);
	ck_assert(!courtesy.all.on);
	courtesy_failed(&courtesy, FAULT_CLOSED, 3, now); /* it fails on one batch */
	ck_assert(!courtesy.all.on);
	courtesy_failed(&courtesy, FAULT_CLOSED, 0, now);
	ck_assert(courtesy.all.on);
}
END_TEST

/* What came in a rest is sent at about the rate of before, in small calls. */
START_TEST(paced_when_it_was_busy)
{
	double rate;

	busy();
	now += NS_PER_SECOND;
	ck_assert_uint_le(courtesy_most(&courtesy), USUAL / 5);
	rate = send_for(1000);
	ck_assert_double_ge(rate, 1.4 * USUAL);
	ck_assert_double_le(rate, 1.9 * USUAL);
	rate = courtesy.all.rate;
	busy();
	ck_assert_double_eq_tol(courtesy.all.rate, 0.8 * rate, 1);
}
END_TEST

/* One that took nothing since it was busy is not busy with what this node sends now. */
START_TEST(busy_without_end)
{
	double rate;

	busy();
	rate = courtesy.all.rate;
	for (int i = 0; i < 20; i++) {
		now += NS_PER_SECOND;
		ck_assert_int_ge(courtesy_wait(&courtesy, now), 0);
		busy();
	}
	ck_assert_double_eq(courtesy.all.rate, rate);
	for (int i = 0; i < 50; i++) {
		courtesy_good(&courtesy, now);
		busy();
	}
	ck_assert_double_ge(courtesy.all.rate, 0.04 * USUAL);
}
END_TEST

/* A load that grew is not held back for long, and in the end there is no pace. */
START_TEST(over)
{
	busy();
	send_for(4000);
	ck_assert_double_ge(send_for(100), 2 * USUAL);
	send_for(3500);
	ck_assert_double_ge(send_for(100), 4 * USUAL);
	ck_assert(courtesy.all.on);
	send_for(400);
	ck_assert(!courtesy.all.on && courtesy_most(&courtesy) == UINT32_MAX);
}
END_TEST

/* What is not held back does not make the rate grow. */
START_TEST(grows_only_when_it_holds_back)
{
	double rate;

	busy();
	rate = courtesy.all.rate;
	for (int i = 0; i < 70; i++) {
		now += 100 * NS_PER_MS;
		ck_assert_int_eq(courtesy_wait(&courtesy, now), 0);
		courtesy_spend(&courtesy, 20, false);
		courtesy_idle(&courtesy);
	}
	ck_assert_double_eq(courtesy.all.rate, rate);
	courtesy_hurry(&courtesy);
	courtesy_spend(&courtesy, 100000, false);
	ck_assert_int_eq(courtesy_wait(&courtesy, now), 0);
}
END_TEST

/* However long the rest is that the server asks for, it is not served all at once then. */
START_TEST(a_rest_does_not_count)
{
	busy();
	now += 300 * NS_PER_SECOND;
	ck_assert(courtesy_wait(&courtesy, now) == 0 && courtesy.all.on);
	ck_assert_double_le(send_for(1000), 2 * USUAL);
}
END_TEST

/* A node that has just begun knows soon what is usual, and has no pace before. */
START_TEST(begun_just_now)
{
	courtesy_init(&courtesy, WINDOW);
	sendpace_look(&courtesy.pace, now, fresh, 100);
	pass(900, USUAL);
	busy();
	ck_assert(!courtesy.all.on && courtesy_wait(&courtesy, now) == 0);
	pass(600, USUAL);
	busy();
	ck_assert(courtesy.all.on);
	ck_assert_double_ge(courtesy.all.usual, 0.8 * USUAL);
	ck_assert_double_le(courtesy.all.usual, 1.3 * USUAL);
}
END_TEST

/* Others' nodes come to this one, whose server was busy with the first of what they have. */
START_TEST(more_comes)
{
	pass(60000, 100);
	pass(300, 10000);
	busy();
	now += 300 * NS_PER_MS;
	pass(2000, 10000);
	ck_assert_double_ge(courtesy.all.rate, 6000);
}
END_TEST

/* While programs wait for the agent, less comes: that is not what is usual. */
START_TEST(less_comes)
{
	pass(60000, USUAL);
	pass(10000, 0);
	busy();
	ck_assert_double_ge(courtesy.all.usual, 0.8 * USUAL);
	pass(300000, USUAL / 5);
	busy();
	ck_assert_double_le(courtesy.all.usual, 0.3 * USUAL);
}
END_TEST

TCase *uplink_busypace(void)
{
	TCase *cases = tcase_create("busypace");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, no_pace_before);
	tcase_add_test(cases, paced_when_it_was_busy);
	tcase_add_test(cases, busy_without_end);
	tcase_add_test(cases, over);
	tcase_add_test(cases, grows_only_when_it_holds_back);
	tcase_add_test(cases, a_rest_does_not_count);
	tcase_add_test(cases, begun_just_now);
	tcase_add_test(cases, more_comes);
	tcase_add_test(cases, less_comes);
	return cases;
}
