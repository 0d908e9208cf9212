/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a server is asked for at a time, by a clock of the test's own. */
#include "output/server/courtesy.h"
#include "uplink_rig.h"

#define WINDOW 8
#define NOW (1000 * NS_PER_SECOND)

static struct courtesy courtesy;

static void setup(void)
{
	courtesy_init(&courtesy, WINDOW);
	sendpace_look(&courtesy.pace, NOW, 0, 100);
	courtesy.pace.usual = 40;
	courtesy_good(&courtesy, NOW);
}

START_TEST(a_busy_server_gets_small_calls_first)
{
	ck_assert_uint_eq(courtesy.most, UINT32_MAX);
	courtesy_put_off(&courtesy, 40);
	courtesy_failed(&courtesy, FAULT_TRY_LATER, 0, NOW);
	ck_assert(courtesy.busy && courtesy.window == 1 && courtesy.most == 20);
	ck_assert(!courtesy_serves(&courtesy, NOW));
	courtesy_good(&courtesy, NOW + NS_PER_SECOND / 2);
	ck_assert(!courtesy.busy && courtesy.window == 1 && courtesy.most == 25);
	for (int i = 0; i < 20; i++)
		courtesy_good(&courtesy, NOW + 2 * NS_PER_SECOND);
	ck_assert(courtesy.window == WINDOW && courtesy.most > 200);
	courtesy_good(&courtesy, NOW + 6 * NS_PER_SECOND);
	ck_assert_uint_eq(courtesy.most, UINT32_MAX);
}
END_TEST

/* What is replayed is slowed down, and nothing else. */
START_TEST(too_fast)
{
	double rate = courtesy.pace.rate = 20;

	ck_assert(courtesy_serves(&courtesy, NOW + 900 * NS_PER_MS));
	ck_assert(!courtesy_serves(&courtesy, NOW + 1100 * NS_PER_MS));
	courtesy_too_fast(&courtesy, NOW);
	ck_assert(courtesy.pace.rate < rate && courtesy.most == UINT32_MAX && !courtesy.busy);
}
END_TEST

/* One that is away is not busy, and the rate is found anew when it is back. */
START_TEST(away)
{
	courtesy.pace.rate = 77;
	courtesy_failed(&courtesy, FAULT_CONNECT_REFUSED, 0, NOW);
	ck_assert(!courtesy.busy);
	ck_assert_double_eq_tol(courtesy.pace.rate, 4, 0.01);
	courtesy_failed(&courtesy, FAULT_CLOSED, 0, NOW + NS_PER_SECOND);
	ck_assert(courtesy.busy && courtesy.window == 1);
	courtesy_put_off(&courtesy, 1);
	ck_assert_uint_eq(courtesy.most, 2); /* a twentieth of a second's */
}
END_TEST

/* A batch that fails among others that are taken is the exception; one of many is not. */
START_TEST(most_are_taken)
{
	ck_assert(courtesy_takes_most(&courtesy));
	courtesy_not_taken(&courtesy);
	ck_assert(courtesy_takes_most(&courtesy));
	for (int i = 0; i < 30; i++)
		courtesy_not_taken(&courtesy);
	ck_assert(!courtesy_takes_most(&courtesy));
	for (int i = 0; i < 30; i++)
		courtesy_good(&courtesy, NOW);
	ck_assert(courtesy_takes_most(&courtesy));
}
END_TEST

TCase *uplink_courtesy(void)
{
	TCase *cases = tcase_create("courtesy");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, a_busy_server_gets_small_calls_first);
	tcase_add_test(cases, too_fast);
	tcase_add_test(cases, away);
	tcase_add_test(cases, most_are_taken);
	return cases;
}
