/* SPDX-License-Identifier: BSD-2-Clause */
/* What the uplink makes of a server's answers. */
#include "queue/backlog.h"
#include "uplink_rig.h"

static struct rig rig;

static void setup(void)
{
	rig_open(&rig);
}

static void teardown(void)
{
	rig_close(&rig);
}

START_TEST(good_server_gets_each_once)
{
	uint64_t delivered;

	delivered = latencies(&rig);
	if (_i == 1)
		ACT(rig.peer, PEER_OLD_OK);
	push(&rig, 20);
	start(&rig);
	ck_assert(!state_of(&rig).up);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 20 * SPANS);
	push(&rig, 20);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 40 * SPANS);
	assert_all_arrived(&rig);
	assert_in_order(&rig);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(rig.peer->connections, 1);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	ck_assert(state_of(&rig).up);
	ck_assert_str_eq(state_of(&rig).error, "");
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	ck_assert_uint_eq(in_log(&rig, "connected"), 1);
	ck_assert_uint_eq(latencies(&rig) - delivered, 40 * SPANS);
}
END_TEST

START_TEST(deaf_server_times_out)
{
	rig.is.timeout = 60 * NS_PER_MS;
	ACT(rig.peer, PEER_SILENT);
	push(&rig, 6);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TIMEOUT) == 3);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	ASSERT_ROW(&rig, SPANS_SENT, 0);
	/* All that the window allowed, once; and then, to see whether it hears, one call at a time. */
	ck_assert_uint_eq(rig.peer->calls, 4 + 1 + 1);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 2 * SPANS);
	ck_assert(!state_of(&rig).up);
	ck_assert_str_eq(state_of(&rig).error, "no answer within 0.06 s");
	ck_assert_uint_eq(in_log(&rig, "no answer"), 1);
	ACT(rig.peer, PEER_OK);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
	ck_assert_int_eq(errors(&rig), row(&rig, OUTPUT_ERRORS_TIMEOUT));
	ck_assert(state_of(&rig).up);
	ck_assert_uint_eq(in_log(&rig, "delivering again after 0 s"), 1);
}
END_TEST

/* Slow is not deaf: the deadline is from one answer to the next, however many calls wait. */
START_TEST(slow_server_keeps_its_connection)
{
	rig.is.window = 20;
	rig.is.timeout = NS_PER_SECOND;
	rig.peer->delay_ms = 100;
	push(&rig, 20);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	assert_in_order(&rig);
}
END_TEST

START_TEST(window_is_kept)
{
	rig.is.window = 3;
	rig.peer->delay_ms = 10;
	push(&rig, 12);
	start(&rig);
	RUN_UNTIL(&rig, state_of(&rig).calls_open == 3);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_uint_eq(rig.peer->open_max, 3);
	ck_assert_uint_eq(state_of(&rig).calls_open, 0);
	assert_in_order(&rig);
}
END_TEST

/* A call too large to be on its way as a whole. */
static void push_large(void)
{
	size_t size = 12 << 20;
	char *span = g_malloc(size);

	memset(span, 'x', size);
	push_span(&rig, span, size);
	push_batch(&rig);
	g_free(span);
}

START_TEST(server_closes_within_a_call)
{
	rig.is.timeout = 20 * NS_PER_SECOND;
	rig.peer->close_after = 100;
	push_large();
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CLOSED) == 2);
	ASSERT_ROW(&rig, SPANS_QUEUED, 1);
	rig.peer->close_after = 0;
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 1);
	/* It never went out whole before, so it cannot arrive twice. */
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	ck_assert_uint_eq(rig.peer->taken->len, 1);
	ck_assert_uint_eq(strlen(g_ptr_array_index(rig.peer->taken, 0)), 12 << 20);
	ck_assert_uint_eq(in_log(&rig, "retrying"), 1);
}
END_TEST

/* The batch must not be released while it is being written. */
START_TEST(answer_before_the_call_is_sent)
{
	rig.is.timeout = 20 * NS_PER_SECOND;
	rig.peer->answer_early = true;
	push_large();
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_PROTOCOL) == 1);
	ASSERT_ROW(&rig, SPANS_QUEUED, 1);
	ASSERT_ROW(&rig, SPANS_SENT, 0);
	ck_assert_uint_eq(in_log(&rig, "before it was sent completely"), 1);
}
END_TEST

static const struct {
	enum peer_act act;
	enum account_row row;
	const char *words;
} bad_answers[] = {
	{PEER_CLOSE, OUTPUT_ERRORS_CLOSED, "the server closed the connection"},
	{PEER_HALF_AND_CLOSE, OUTPUT_ERRORS_CLOSED, "the server closed the connection"},
	{PEER_HALF_AND_HANG, OUTPUT_ERRORS_TIMEOUT, "no answer within 0.25 s"},
	{PEER_GARBAGE, OUTPUT_ERRORS_PROTOCOL, "not a reply to Log()"},
	{PEER_TEXT, OUTPUT_ERRORS_PROTOCOL, "the peer answers \"Bad request, sorry\""},
	{PEER_HTTP, OUTPUT_ERRORS_PROTOCOL, "the peer speaks HTTP, not Scribe"},
	{PEER_WRONG_SEQID, OUTPUT_ERRORS_PROTOCOL, "an answer without a call"},
};

START_TEST(bad_answer_costs_the_connection)
{
	enum peer_act acts[] = {bad_answers[_i].act, PEER_OK};

	rig.is.window = 1;
	if (bad_answers[_i].row == OUTPUT_ERRORS_TIMEOUT)
		rig.is.timeout = SHORT_TIMEOUT;
	peer_set_acts(rig.peer, acts, 1);
	push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, bad_answers[_i].row) == 2);
	ASSERT_ROW(&rig, SPANS_SENT, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	ck_assert(!state_of(&rig).up);
	ck_assert_ptr_nonnull(strstr(state_of(&rig).error, bad_answers[_i].words));
	peer_set_acts(rig.peer, acts, 2);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(row(&rig, bad_answers[_i].row), errors(&rig));
	assert_all_arrived(&rig);
	ck_assert_uint_eq(in_log(&rig, bad_answers[_i].words), 1);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 1);
	ck_assert_uint_eq(in_log(&rig, "\n"), 3);
}
END_TEST

START_TEST(second_answer_to_a_call_is_wrong)
{
	ACT(rig.peer, PEER_TWICE, PEER_OK);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_PROTOCOL) == 1);
	ASSERT_ROW(&rig, SPANS_SENT, SPANS);
	push(&rig, 2);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
}
END_TEST

START_TEST(try_later_is_honoured)
{
	int64_t begin;

	rig.is.retry_min = rig.is.retry_max = 40 * NS_PER_MS;
	ACT(rig.peer, PEER_TRY_LATER, PEER_TRY_LATER, PEER_TRY_LATER, PEER_OK);
	rig.is.window = 1;
	push(&rig, 3);
	begin = clock_monotonic();
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_ge(clock_monotonic() - begin, 3 * (40 * NS_PER_MS - EARLY_NS));
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TRY_LATER, 3);
	ck_assert_int_eq(errors(&rig), 3);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	ck_assert_uint_eq(rig.peer->connections, 1);
	assert_all_arrived(&rig);
	assert_in_order(&rig);
	ck_assert_uint_eq(in_log(&rig, "try later"), 1);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 1);
}
END_TEST

/* What was put off went elsewhere meanwhile, for example to disk: its owner learns that it may be sent. */
START_TEST(try_later_and_nothing_left)
{
	struct backlog backlog;

	ACT(rig.peer, PEER_TRY_LATER, PEER_OK);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TRY_LATER) == 1 && state_of(&rig).calls_open == 0);
	backlog_look(rig.queue, &backlog);
	ck_assert(!backlog.delivering);
	queue_drop_waiting(rig.queue, false);
	RUN_UNTIL(&rig, (backlog_look(rig.queue, &backlog), backlog.delivering));
	ck_assert(!state_of(&rig).up); /* until it takes some */
	ck_assert_uint_eq(rig.peer->connections, 1);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ck_assert(state_of(&rig).up);
}
END_TEST

/* With calls in the window: those put off go again, in order, the others do not. */
START_TEST(try_later_in_a_full_window)
{
	static const int order[] = {1, 3, 0, 2, 4, 5};

	rig.peer->delay_ms = 5;
	ACT(rig.peer, PEER_TRY_LATER, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push(&rig, 6);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TRY_LATER, 2);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	assert_all_arrived(&rig);
	for (size_t i = 0; i < LENGTH(order); i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %d", order[i] * SPANS);
		ck_assert_str_eq(g_ptr_array_index(rig.peer->taken, i * SPANS), span);
	}
}
END_TEST

/* The connection goes while a batch is put off and others are open: all come back in order. */
START_TEST(lost_while_put_off)
{
	rig.is.window = 3;
	ACT(rig.peer, PEER_TRY_LATER, PEER_SILENT, PEER_SILENT, PEER_OK);
	push(&rig, 4);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_TRY_LATER) == 1 && rig.peer->calls == 3);
	peer_hang_up(rig.peer);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_CLOSED, 1);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 2 * SPANS);
	assert_all_arrived(&rig);
	/* Two batches before the connection went, and then all four. */
	for (unsigned int i = 0; i < rig.pushed; i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_str_eq(g_ptr_array_index(rig.peer->taken, 2 * SPANS + i), span);
	}
}
END_TEST

TCase *uplink_answers(void)
{
	TCase *tests = tcase_create("answers");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, good_server_gets_each_once, 0, 2);
	tcase_add_test(tests, deaf_server_times_out);
	tcase_add_test(tests, slow_server_keeps_its_connection);
	tcase_add_test(tests, window_is_kept);
	tcase_add_test(tests, server_closes_within_a_call);
	tcase_add_test(tests, answer_before_the_call_is_sent);
	tcase_add_loop_test(tests, bad_answer_costs_the_connection, 0, (int)LENGTH(bad_answers));
	tcase_add_test(tests, second_answer_to_a_call_is_wrong);
	tcase_add_test(tests, try_later_is_honoured);
	tcase_add_test(tests, try_later_and_nothing_left);
	tcase_add_test(tests, try_later_in_a_full_window);
	tcase_add_test(tests, lost_while_put_off);
	tcase_set_timeout(tests, 30);
	return tests;
}
