/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast what is on disk is sent to a server, by a clock of the test's own. */
#include "output/server/sendpace.h"
#include "uplink_rig.h"

#define FLOOR 1000

static struct sendpace pace;
static int64_t now;
static uint64_t fresh;

static void setup(void)
{
	pace = (struct sendpace){0};
	now = 1000 * NS_PER_SECOND;
	fresh = 0;
	sendpace_look(&pace, now, fresh, FLOOR);
}

/* Time passes, in which so many fresh spans come a second. */
static void pass(int64_t ms, unsigned rate)
{
	for (int64_t i = 0; i < ms / 10; i++) {
		now += 10 * NS_PER_MS;
		fresh += rate / 100;
		sendpace_look(&pace, now, fresh, FLOOR);
	}
}

/* Sends calls of @items for a second, which the server takes if it @takes; returns how many spans went. */
static unsigned send_for_a_second(uint32_t items, bool takes)
{
	unsigned sent = 0;

	for (int i = 0; i < 100; i++) {
		pass(10, 0);
		while (sendpace_wait(&pace, now) == 0) {
			sendpace_spend(&pace, items);
			sent += items;
			if (takes)
				sendpace_good(&pace, now);
			else
				sendpace_busy(&pace, now);
		}
	}
	return sent;
}

/* What an agent grants is the most, and no more than that is said. */
START_TEST(granted)
{
	pass(60000, 1000);
	sendpace_restart(&pace, now);
	sendpace_grant(&pace, 1000);
	ck_assert_double_eq_tol(pace.rate, 100, 5);
	sendpace_grant(&pace, 30);
	ck_assert_double_eq(pace.rate, 30);
	sendpace_grant(&pace, 0);
	ck_assert_double_eq_tol(pace.rate, 0.2, 0.01);
}
END_TEST

START_TEST(begins_with_a_part_of_what_is_usual)
{
	sendpace_look(&pace, now, fresh, 0); /* the spool is not there yet */
	ck_assert_double_eq_tol(pace.rate, 0.2, 0.01);
	sendpace_look(&pace, now, fresh, FLOOR);
	ck_assert_double_eq_tol(pace.rate, 10, 0.01); /* of the floor */
	pass(60000, 1000);
	ck_assert_double_eq_tol(pace.usual, 1000, 50);
	sendpace_restart(&pace, now);
	ck_assert_double_eq_tol(pace.rate, 100, 5);
	ck_assert_int_le(sendpace_wait(&pace, now), NS_PER_SECOND);
}
END_TEST

/* By a part of what is usual each second, of the floor, or of itself, while spans are taken as fast as they
 * may be sent. */
START_TEST(grows_while_spans_are_taken)
{
	double before = pace.rate;

	for (int i = 0; i < 4; i++)
		send_for_a_second(1, true);
	ck_assert_double_eq_tol(pace.rate, before + 4 * 2, 1);
	pace.rate = 100;
	send_for_a_second(1, true);
	ck_assert_double_eq_tol(pace.rate, 110, 2);
	pace.rate = 1000;
	send_for_a_second(1, true);
	ck_assert_double_eq_tol(pace.rate, 1020, 2);
	pace.rate = before = 10;
	for (int i = 0; i < 1000; i++) { /* nothing waits: it does not grow for nothing */
		pass(10, 0);
		sendpace_good(&pace, now);
	}
	ck_assert_double_eq_tol(pace.rate, before, 2.1);
}
END_TEST

START_TEST(falls_once_a_second)
{
	sendpace_busy(&pace, now);
	ck_assert_double_eq_tol(pace.rate, 5, 0.01);
	for (int i = 0; i < 9; i++) {
		pass(100, 0);
		sendpace_busy(&pace, now);
	}
	ck_assert_double_eq_tol(pace.rate, 5, 0.01);
	pass(100, 0);
	sendpace_busy(&pace, now);
	ck_assert_double_eq_tol(pace.rate, 2.5, 0.01);
	ck_assert_int_gt(sendpace_wait(&pace, now), 0);
}
END_TEST

/* However long it is busy, it is tried; and not much more often than that. */
START_TEST(a_busy_server_is_tried)
{
	unsigned sent = 0;

	for (int i = 0; i < 100; i++)
		sent += send_for_a_second(1, false);
	ck_assert_double_eq_tol(pace.rate, 0.2, 0.01);
	ck_assert_uint_ge(sent, 20);
	ck_assert_uint_le(sent, 60);
}
END_TEST

/* Its calls are as large as what comes in some time: what one leaves as a debt is paid within seconds. */
START_TEST(a_busy_node_pays_soon)
{
	pass(60000, 1000);
	for (int i = 0; i < 60; i++) {
		sendpace_busy(&pace, now);
		pass(1000, 1000);
	}
	ck_assert_double_eq_tol(pace.rate, 30, 2);
}
END_TEST

/* A call that is larger than what may be sent is paid for afterwards. */
START_TEST(large_calls_leave_a_debt)
{
	unsigned sent = 0;

	for (int i = 0; i < 30; i++)
		sent += send_for_a_second(100, false);
	ck_assert_uint_ge(sent, 100);
	ck_assert_uint_le(sent, 300);
}
END_TEST

/* What was stored in a busy hour, sent in a quiet one: a call is large for the rate, and the next one waits
 * for seconds, and not for the better part of an hour. */
START_TEST(no_debt_lasts)
{
	int64_t waited = 0, longest = 0;

	for (int i = 0; i < 8; i++) {
		sendpace_busy(&pace, now);
		pass(1100, 0);
	}
	for (int calls = 0; calls < 50;) {
		if (sendpace_wait(&pace, now) == 0) {
			sendpace_spend(&pace, 500);
			sendpace_good(&pace, now + NS_PER_MS);
			calls++;
			waited = 0;
		} else {
			pass(10, 0);
			waited += 10;
			longest = MAX(longest, waited);
		}
		ck_assert_int_le(longest, 25000);
	}
}
END_TEST

TCase *uplink_sendpace(void)
{
	TCase *cases = tcase_create("sendpace");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, granted);
	tcase_add_test(cases, begins_with_a_part_of_what_is_usual);
	tcase_add_test(cases, grows_while_spans_are_taken);
	tcase_add_test(cases, falls_once_a_second);
	tcase_add_test(cases, a_busy_server_is_tried);
	tcase_add_test(cases, a_busy_node_pays_soon);
	tcase_add_test(cases, large_calls_leave_a_debt);
	tcase_add_test(cases, no_debt_lasts);
	return cases;
}
