/* SPDX-License-Identifier: BSD-2-Clause */
/* How evenly spans are sent to a server that was busy, by a clock of the test's own. */
#include "output/server/evenpace.h"
#include "uplink_rig.h"

#define COME 1000.0

static struct evenpace pace;
static int64_t now;

static void setup(void)
{
	pace = (struct evenpace){0};
	now = 1000 * NS_PER_SECOND;
}

/* Sends for some time, with so many spans waiting all the while, in calls as large as may be; returns how
 * many. */
static unsigned send_for(int64_t ms, double come, uint64_t waiting)
{
	unsigned sent = 0;

	for (int64_t i = 0; i < ms; i++, now += NS_PER_MS) {
		while (evenpace_wait(&pace, come, waiting, now) == 0) {
			uint32_t most = evenpace_most(&pace);

			if (most == UINT32_MAX)
				return UINT32_MAX;
			evenpace_spend(&pace, most);
			sent += most;
		}
	}
	return sent;
}

START_TEST(a_server_that_was_not_busy_gets_all_at_once)
{
	ck_assert(!evenpace_is_on(&pace, now));
	ck_assert_int_eq(evenpace_wait(&pace, COME, 5000, now), 0);
	ck_assert_uint_eq(evenpace_most(&pace), UINT32_MAX);
	evenpace_spend(&pace, 5000);
	ck_assert_int_eq(evenpace_wait(&pace, COME, 5000, now), 0);
}
END_TEST

START_TEST(what_waits_goes_evenly)
{
	evenpace_busy(&pace, now);
	now += NS_PER_SECOND / 2;
	/* a call, and no more: 150 ms of 1000 + 600 / 2 */
	ck_assert_int_eq(evenpace_wait(&pace, COME, 600, now), 0);
	ck_assert_uint_eq(evenpace_most(&pace), 195);
	ck_assert_uint_le(send_for(10, COME, 600), 195);
	ck_assert_double_eq_tol(send_for(4000, COME, 600), 4 * 1300, 200);
	ck_assert_double_eq_tol(send_for(3000, COME, 0), 3 * 1000, 200);
}
END_TEST

/* Never below what comes, however often it is busy. */
START_TEST(it_does_not_fall)
{
	unsigned sent = 0;

	for (int i = 0; i < 100; i++) {
		evenpace_busy(&pace, now);
		sent += send_for(1000, COME, 0);
	}
	ck_assert_double_eq_tol(sent, 100 * COME, 15 * COME);
}
END_TEST

/* A node with nothing to speak of sends what it has. */
START_TEST(few_are_sent_soon)
{
	evenpace_busy(&pace, now);
	now += NS_PER_SECOND / 2;
	ck_assert_int_eq(evenpace_wait(&pace, 0, 3, now), 0);
	ck_assert_uint_eq(evenpace_most(&pace), 4);
	ck_assert_uint_ge(send_for(5000, 0, 3), 16);
}
END_TEST

START_TEST(it_ends)
{
	evenpace_busy(&pace, now);
	ck_assert_uint_ne(send_for(9990, COME, 0), UINT32_MAX);
	ck_assert(evenpace_is_on(&pace, now));
	now += 10 * NS_PER_MS;
	ck_assert_uint_eq(send_for(1000, COME, 0), UINT32_MAX);
	evenpace_end(&pace); /* and for good, when there is no time for it */
	evenpace_busy(&pace, now);
	ck_assert(!evenpace_is_on(&pace, now));
	ck_assert_uint_eq(send_for(1, COME, 0), UINT32_MAX);
}
END_TEST

TCase *uplink_evenpace(void)
{
	TCase *cases = tcase_create("evenpace");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, a_server_that_was_not_busy_gets_all_at_once);
	tcase_add_test(cases, what_waits_goes_evenly);
	tcase_add_test(cases, it_does_not_fall);
	tcase_add_test(cases, few_are_sent_soon);
	tcase_add_test(cases, it_ends);
	return cases;
}
