/* SPDX-License-Identifier: BSD-2-Clause */
/* What the uplink does with batches that waited on disk. */
#include "queue/backlog.h"
#include "uplink_rig.h"

static struct rig rig;
static int64_t rows;

static void setup(void)
{
	rig_open(&rig);
	rows = 0;
}

static void teardown(void)
{
	rig_close(&rig);
}

/* Hands over as many batches of SPANS, as the spool does; their spans have names of their own. */
static void replay(int batches)
{
	char span[32];

	while (batches-- > 0) {
		struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
		struct entry *entry;

		rows++;
		for (int i = 0; i < SPANS; i++) {
			snprintf(span, sizeof(span), "row %d, span %d", (int)rows, i);
			batch_add(batch, (const uint8_t *)span, strlen(span), clock_wall());
		}
		entry = entry_create(batch);
		entry->spool_id = rows;
		backlog_replay(rig.queue, entry);
	}
}

/* Nothing but its own clock makes it go on. */
START_TEST(goes_on_by_itself)
{
	struct backlog backlog;

	backlog_attach(rig.queue, 1000);
	replay(20);
	run_ms(&rig, 10); /* so that they wake nobody later */
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 20 * SPANS);
	for (int i = 1; i <= 20; i++) {
		char span[32];

		snprintf(span, sizeof(span), "row %d, span 0", i);
		ck_assert_uint_eq(peer_count(rig.peer, span), 1);
	}
	backlog_look(rig.queue, &backlog);
	ck_assert_uint_eq(backlog.replayed, 20);
}
END_TEST

/* The server was away: the replay begins at random within a second, though nothing else comes. */
START_TEST(goes_on_after_an_outage)
{
	backlog_attach(rig.queue, 1000);
	peer_stop(rig.peer);
	replay(4);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) > 2);
	peer_start(rig.peer);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 4 * SPANS);
}
END_TEST

START_TEST(fresh_ones_do_not_wait_for_it)
{
	backlog_attach(rig.queue, 0); /* one span a second */
	replay(20);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= SPANS);
	push(&rig, 20);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= 21 * SPANS);
	ck_assert_int_lt(row(&rig, SPANS_SENT), 25 * SPANS);
	ck_assert_uint_eq(peer_count(rig.peer, "span 99"), 1);
}
END_TEST

/* One that takes what is fresh is too busy for more: only what is replayed is slowed down. */
START_TEST(a_server_that_serves_is_not_left_alone)
{
	backlog_attach(rig.queue, 1000);
	ACT(rig.peer, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	replay(1);
	queue_rouse(rig.queue);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TRY_LATER) == 1);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 3 * SPANS);
	ck_assert_str_eq(g_ptr_array_index(rig.peer->taken, SPANS), "span 5");
	ck_assert_uint_eq(rig.peer->replayed, 2); /* calls said so: the one that was put off, and again */
	ck_assert_uint_eq(rig.peer->connections, 1);
	ck_assert_uint_eq(in_log(&rig, "try later"), 0);
}
END_TEST

TCase *uplink_replay(void)
{
	TCase *cases = tcase_create("replay");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, goes_on_by_itself);
	tcase_add_test(cases, goes_on_after_an_outage);
	tcase_add_test(cases, fresh_ones_do_not_wait_for_it);
	tcase_add_test(cases, a_server_that_serves_is_not_left_alone);
	tcase_set_timeout(cases, 60);
	return cases;
}
