/* SPDX-License-Identifier: BSD-2-Clause */
/* A server that is back has to show anew that it takes spans; and what the log says of one that comes and
 * goes. */
#include "uplink_rig.h"

#include "output/uplink/health.h"

/* The rig's peer comes first. */
static struct peer *open_second(struct rig *rig)
{
	struct peer *second;
	size_t used;

	rig_open(rig);
	second = peer_create(rig->base, "127.0.0.1");
	used = strlen(rig->server);
	snprintf(rig->server + used, sizeof(rig->server) - used, ",127.0.0.1:%u", second->port);
	rig->is.return_interval = 40 * NS_PER_MS;
	return second;
}

/* Tried for a while with spans, which it refuses all: the second keeps its place, and no span is set aside.
 */
static void assert_refusing_first_gets_nothing(struct rig *rig, struct peer *second)
{
	unsigned int taken = rig->peer->taken->len;

	for (int i = 0; i < 50; i++) {
		push(rig, 1);
		run_ms(rig, 10);
		ck_assert(state_of(rig).servers[1].serving);
	}
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	ck_assert_int_ge(row(rig, OUTPUT_ERRORS_REFUSED), 2);
	ASSERT_ROW(rig, SPANS_DROPPED_REFUSED, 0);
	ASSERT_ROW(rig, SPANS_SENT, rig->pushed);
	ck_assert_uint_eq(rig->peer->taken->len, taken);
	ck_assert_uint_eq(taken + second->taken->len, rig->pushed);
}

/* What it took before it failed is no proof that it takes spans now. */
START_TEST(back_and_refusing)
{
	struct rig rig;
	struct peer *second = open_second(&rig);

	push(&rig, 4);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	peer_stop(rig.peer);
	RUN_UNTIL(&rig, !state_of(&rig).up);
	push(&rig, 4);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ACT(rig.peer, PEER_EXCEPTION);
	peer_start(rig.peer);
	assert_refusing_first_gets_nothing(&rig, second);
	peer_destroy(second);
	rig_close(&rig);
}
END_TEST

/* Nor is what it took in the same breath in which it put off. */
START_TEST(put_off_and_refusing)
{
	struct rig rig;
	struct peer *second = open_second(&rig);

	rig.is.window = 2;
	ACT(rig.peer, PEER_OK, PEER_OK, PEER_TRY_LATER, PEER_EXCEPTION);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	push(&rig, 2);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TRY_LATER, 1);
	assert_refusing_first_gets_nothing(&rig, second);
	peer_destroy(second);
	rig_close(&rig);
}
END_TEST

/* Every other call is put off: told six times, and not each time. */
START_TEST(flapping_is_told_in_few_lines)
{
	static enum peer_act acts[4000];
	struct rig rig;

	for (size_t i = 0; i < LENGTH(acts); i++)
		acts[i] = i % 2 ? PEER_TRY_LATER : PEER_OK;
	rig_open(&rig);
	rig.is.retry_max = 10 * NS_PER_MS;
	peer_set_acts(rig.peer, acts, LENGTH(acts));
	start(&rig);
	while (row(&rig, OUTPUT_ERRORS_TRY_LATER) < 20) {
		push(&rig, 1);
		RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed); /* waits grow while more does */
	}
	ck_assert_uint_eq(in_log(&rig, "connected"), 1);
	ck_assert_uint_eq(in_log(&rig, "delivering again after 0 s"), 6);
	ck_assert_uint_eq(in_log(&rig, "try later"), 7);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1 + 6 + 7);
	ck_assert(state_of(&rig).up);
	rig_close(&rig);
}
END_TEST

static void come_and_go(struct health *health, int times)
{
	while (times-- > 0) {
		health_failing(health, FAULT_CLOSED, "gone", "waiting");
		health_failing(health, FAULT_CLOSED, "still gone", "waiting");
		ck_assert(health->failing);
		ck_assert_str_eq(health->error, "still gone");
		health_good(health);
		ck_assert(!health->failing);
		ck_assert_str_eq(health->error, "");
	}
}

/* The log's last word on a server that comes and goes is that it fails, until a minute is over. */
START_TEST(flapping_is_told_again_a_minute_later)
{
	struct health health;
	struct rig rig;

	rig_open(&rig);
	health_init(&health, "x:1", KIND_SPANS);
	health_good(&health);
	come_and_go(&health, 100);
	ck_assert_uint_eq(in_log(&rig, "gone; waiting"), 7);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 6);
	health.minute -= 59 * NS_PER_SECOND;
	health_good(&health);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 6);
	health.minute -= NS_PER_SECOND;
	health_good(&health);
	ck_assert_uint_eq(in_log(&rig, "x:1: delivering again after 0 s, and 94 failures\n"), 1);
	health_good(&health);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1 + 7 + 7);
	come_and_go(&health, 100);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1 + 7 + 7 + 5 + 6);
	rig_close(&rig);
}
END_TEST

TCase *uplink_trials(void)
{
	TCase *tests = tcase_create("trials");

	tcase_add_test(tests, back_and_refusing);
	tcase_add_test(tests, put_off_and_refusing);
	tcase_add_test(tests, flapping_is_told_in_few_lines);
	tcase_add_test(tests, flapping_is_told_again_a_minute_later);
	tcase_set_timeout(tests, 30);
	return tests;
}
