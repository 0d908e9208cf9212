/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Servers that fail each time a certain span comes, and do not refuse it: the others arrive, that one is
 * found and counted, and no other is.
 */
#include <stdlib.h>

#include "queue/aside.h"
#include "queue/backlog.h"
#include "uplink_web.h"

#define BATCHES 8
#define IN_BATCH 40

static unsigned int number_of(const char *span)
{
	return (unsigned int)strtoul(span + strlen("span "), NULL, 10);
}

static bool seventh(const char *span)
{
	return number_of(span) == 7;
}

/* Two batches in a row, and a run in one of them. */
static bool several(const char *span)
{
	unsigned int number = number_of(span);

	return number == 7 || (number >= 50 && number < 53);
}

static void open_rig(struct rig *rig)
{
	rig_open(rig);
	rig->is.timeout = 60 * NS_PER_MS;
	rig->is.retry_min = 2 * NS_PER_MS;
	rig->is.retry_max = 10 * NS_PER_MS;
}

/* Other spans keep coming until so many are dropped. */
static void run_until_dropped(struct rig *rig, int count)
{
	int64_t end = clock_monotonic() + 25 * NS_PER_SECOND;

	while (row(rig, SPANS_DROPPED_REFUSED) < count && clock_monotonic() < end) {
		push_many(rig, 2);
		run_ms(rig, 20);
	}
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(rig, SPANS_DROPPED_REFUSED, count);
	ASSERT_ROW(rig, SPANS_SENT, rig->pushed - (unsigned int)count);
}

/* Every span but the bad ones arrived, and no more often than the ledger says that it may have. */
static void assert_all_but_bad(struct rig *rig)
{
	int64_t again = 0;
	char span[32];

	for (unsigned int i = 0; i < rig->pushed; i++) {
		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_msg((peer_count(rig->peer, span) > 0) == !rig->peer->bad(span), "%s came %u times",
			span, peer_count(rig->peer, span));
		again += MAX(peer_count(rig->peer, span), 1) - 1;
	}
	ck_assert_int_le(again, row(rig, SPANS_SENT_AGAIN));
}

static const struct {
	enum peer_act act;
	const char *words;
} failures[] = {
	{PEER_CLOSE, "the server closed the connection"},
	{PEER_SILENT, "no answer within 0.06 s"},
	{PEER_HALF_AND_HANG, "no answer within 0.06 s"},
	{PEER_GARBAGE, "the peer"},
	{PEER_WRONG_SEQID, "the peer sent an answer without a call"},
};

START_TEST(bad_span_is_found)
{
	bool two = _i >= (int)LENGTH(failures);
	struct rig rig;

	_i %= (int)LENGTH(failures);
	open_rig(&rig);
	rig.is.window = two ? 4 : 1;
	rig.peer->bad = two ? several : seventh;
	rig.peer->bad_act = failures[_i].act;
	for (int i = 0; i < BATCHES; i++)
		push_many(&rig, IN_BATCH);
	start(&rig);
	/* The batches without them are not held up until they are found. */
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= (BATCHES - 1 - two) * IN_BATCH);
	ck_assert_int_eq(two ? 0 : row(&rig, SPANS_DROPPED_REFUSED), 0);
	run_until_dropped(&rig, two ? 4 : 1);
	assert_all_but_bad(&rig);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	ck_assert(state_of(&rig).up);
	ck_assert_uint_eq(state_of(&rig).suspects.spans, 0);
	ck_assert_str_eq(state_of(&rig).suspects.error, "");
	ck_assert_uint_ge(in_log(&rig, "fails each time that certain ones come ("), 1);
	ck_assert_uint_ge(in_log(&rig, failures[_i].words), 1);
	ck_assert_uint_eq(in_log(&rig, "the server refuses a span"), 1);
	rig_close(&rig);
}
END_TEST

/* More batches than are set aside, one after the other. */
#define IN_A_ROW (ASIDE_MAX + 2)

static bool first_of_a_row(const char *span)
{
	return number_of(span) < IN_A_ROW * IN_BATCH && number_of(span) % IN_BATCH == 0;
}

/* The same as push_many, of a batch from disk. */
static void replay_many(struct rig *rig, int spans)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct entry *entry;
	char span[32];

	while (spans-- > 0) {
		snprintf(span, sizeof(span), "span %u", rig->pushed++);
		batch_add(batch, (const uint8_t *)span, strlen(span), clock_wall());
	}
	entry = entry_create(batch);
	entry->spool_id = rig->pushed;
	backlog_replay(rig->queue, entry);
}

/* The others arrive nonetheless, fresh ones or those on disk, and each bad one is found in the end. */
START_TEST(more_than_are_set_aside)
{
	struct rig rig;

	open_rig(&rig);
	rig.peer->bad = first_of_a_row;
	rig.peer->bad_act = _i & 1 ? PEER_GARBAGE : PEER_SILENT;
	backlog_attach(rig.queue, 1000000);
	for (int i = 0; i < IN_A_ROW + BATCHES; i++)
		_i & 2 ? replay_many(&rig, IN_BATCH) : push_many(&rig, IN_BATCH);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= BATCHES * IN_BATCH);
	run_until_dropped(&rig, IN_A_ROW);
	assert_all_but_bad(&rig);
	ck_assert_uint_eq(state_of(&rig).suspects.spans, 0);
	rig_close(&rig);
}
END_TEST

/* HTTP's answer that says nothing. */
START_TEST(status_500)
{
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	web.rig.is.retry_min = 2 * NS_PER_MS;
	web.rig.is.retry_max = 10 * NS_PER_MS;
	web.peer->bad = seventh;
	web.peer->refusal = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
	for (int i = 0; i < BATCHES; i++)
		push_many(&web.rig, IN_BATCH);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) >= (BATCHES - 1) * IN_BATCH);
	run_until_dropped(&web.rig, 1);
	ck_assert_uint_eq(web.peer->taken->len, web.rig.pushed - 1);
	ASSERT_ROW(&web.rig, SPANS_SENT_AGAIN, 0);
	ASSERT_ROW(&web.rig, OUTPUT_ERRORS_TRY_LATER, errors(&web.rig));
	ck_assert_uint_eq(in_log(&web.rig, "certain ones come (HTTP status 500 Oops)"), 1);
	close_web(&web);
}
END_TEST

/* Nothing at all gets through: that is the server, and when it works again nothing is missing. */
START_TEST(server_that_fails_on_everything)
{
	struct rig rig;

	open_rig(&rig);
	ACT(rig.peer, PEER_CLOSE);
	for (int i = 0; i < BATCHES; i++)
		push_many(&rig, IN_BATCH);
	start(&rig);
	RUN_UNTIL(&rig, rig.peer->connections >= 150);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	ck_assert_uint_eq(aside_spans(rig.queue) > 0 || state_of(&rig).suspects.spans > 0, true);
	ck_assert_uint_le(state_of(&rig).suspects.spans, (ASIDE_MAX + 1) * IN_BATCH);
	ck_assert_uint_eq(in_log(&rig, "certain ones"), 0);
	ck_assert(!state_of(&rig).up);
	ACT(rig.peer, PEER_OK);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
	RUN_UNTIL(&rig, state_of(&rig).up);
	rig_close(&rig);
}
END_TEST

/* A batch alone on which it fails: not proven as long as there is nothing else to try the server with. */
START_TEST(nothing_else_to_send)
{
	struct rig rig;

	open_rig(&rig);
	rig.peer->bad = seventh;
	rig.peer->bad_act = PEER_CLOSE;
	push_many(&rig, 7);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 7);
	push_many(&rig, 1);
	RUN_UNTIL(&rig, rig.peer->connections >= 40);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, 1);
	if (_i == 0) {
		run_until_dropped(&rig, 1);
		assert_all_but_bad(&rig);
	} else { /* it comes to take it */
		rig.peer->bad = NULL;
		RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 8);
		RUN_UNTIL(&rig, state_of(&rig).up);
	}
	rig_close(&rig);
}
END_TEST

/* The uplink ends while a batch is set aside: what is not settled is back in the queue, each span once. */
START_TEST(ends_meanwhile)
{
	int64_t sent;
	struct rig rig;

	open_rig(&rig);
	rig.peer->bad = several;
	rig.peer->bad_act = PEER_CLOSE;
	for (int i = 0; i < BATCHES; i++)
		push_many(&rig, IN_BATCH);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= (BATCHES - 2) * IN_BATCH + _i);
	uplink_destroy(rig.uplink);
	rig.uplink = NULL;
	sent = row(&rig, SPANS_SENT) + row(&rig, SPANS_DROPPED_REFUSED);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed - sent);
	ck_assert_uint_ge(aside_spans(rig.queue), 1);
	queue_drop_waiting(rig.queue, false);
	ASSERT_ROW(&rig, SPANS_QUEUED, 0);
	ASSERT_ROW(&rig, SPANS_DROPPED_SHUTDOWN, rig.pushed - sent);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	rig_close(&rig);
}
END_TEST

static bool of_first_batch(const char *span)
{
	return number_of(span) < IN_BATCH;
}

static bool delivers(struct rig *rig)
{
	struct backlog backlog;

	backlog_look(rig->queue, &backlog);
	return backlog.delivering;
}

/* A server that asks for time is left alone with suspects, too, and is away until that is over. */
START_TEST(server_that_asks_for_time)
{
	unsigned int requests;
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	web.rig.is.retry_min = 2 * NS_PER_MS;
	web.rig.is.retry_max = 10 * NS_PER_MS;
	web.peer->bad = of_first_batch;
	web.peer->refusal = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
	for (int i = 0; i < BATCHES; i++)
		push_many(&web.rig, IN_BATCH);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == (BATCHES - 1) * IN_BATCH);
	ck_assert_uint_eq(state_of(&web.rig).suspects.spans, IN_BATCH);
	ANSWER(web.peer, "HTTP/1.1 503 Later\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n", WEB_GOOD);
	push_many(&web.rig, 1);
	RUN_UNTIL(&web.rig, state_of(&web.rig).servers[0].asked);
	run_ms(&web.rig, 20);
	RUN_UNTIL(&web.rig, g_list_length(web.peer->clients) == 1); /* one may be on its way */
	web.peer->bad = NULL;
	requests = web.peer->requests;
	run_ms(&web.rig, 1000);
	ck_assert_uint_eq(web.peer->requests, requests);
	ck_assert_uint_eq(state_of(&web.rig).suspects.spans, IN_BATCH);
	ASSERT_ROW(&web.rig, SPANS_SENT, (BATCHES - 1) * IN_BATCH);
	ck_assert(!delivers(&web.rig));
	close_web(&web);
}
END_TEST

TCase *uplink_suspects(void)
{
	TCase *tests = tcase_create("suspects");

	tcase_add_loop_test(tests, bad_span_is_found, 0, 2 * (int)LENGTH(failures));
	tcase_add_loop_test(tests, more_than_are_set_aside, 0, 4);
	tcase_add_test(tests, status_500);
	tcase_add_test(tests, server_that_fails_on_everything);
	tcase_add_loop_test(tests, nothing_else_to_send, 0, 2);
	tcase_add_loop_test(tests, ends_meanwhile, 0, 3);
	tcase_add_test(tests, server_that_asks_for_time);
	tcase_set_timeout(tests, 60);
	return tests;
}
