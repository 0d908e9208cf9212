/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uplink against servers that are good, bad, slow, deaf and gone: every span arrives or stands in a row
 * of the ledger, and the log says what is wrong once.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>
#include <netinet/in.h>

#include "batch.h"
#include "clock.h"
#include "ledger.h"
#include "peer.h"
#include "uplink.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define ACT(peer, ...)                                                                                       \
	do {                                                                                                 \
		static const enum peer_act list[] = {__VA_ARGS__};                                           \
		peer_set_acts(peer, list, LENGTH(list));                                                     \
	} while (0)
#define SPANS 5 /* in a batch */

/* Everything that a test has: one of each, in one loop. */
struct line {
	struct event_base *base;
	struct event *tick; /* so that the loop never sleeps for long */
	struct event *woken;
	struct peer *peer;
	struct batch_queue *queue;
	struct batch_limits limits;
	struct uplink *uplink;
	struct uplink_options options;
	char server[64];
	struct ledger start;
	unsigned int pushed; /* spans */
	int drained;
	FILE *real_stderr;
	char *log;
	size_t log_size;
};

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void on_woken(evutil_socket_t fd, short what, void *arg)
{
	struct line *line = arg;

	(void)fd;
	(void)what;
	if (line->uplink)
		uplink_wake(line->uplink);
}

static void wake(void *data)
{
	struct line *line = data;

	event_active(line->woken, EV_READ, 1);
}

static void line_open(struct line *line)
{
	struct timeval soon = {0, 2000};

	memset(line, 0, sizeof(*line));
	signal(SIGPIPE, SIG_IGN);
	evthread_use_pthreads();
	line->real_stderr = stderr;
	stderr = open_memstream(&line->log, &line->log_size);
	line->base = event_base_new();
	line->tick = event_new(line->base, -1, EV_PERSIST, on_tick, NULL);
	line->woken = event_new(line->base, -1, 0, on_woken, line);
	event_add(line->tick, &soon);
	line->peer = peer_create(line->base, "127.0.0.1");
	line->limits = (struct batch_limits){
		.category = "zipkin", .spans = 100000, .bytes = 64 << 20, .queue_bytes = 256 << 20};
	line->queue = batch_queue_create(&line->limits, wake, line);
	line->options = (struct uplink_options){
		.server = line->server,
		.window = 4,
		.timeout_ns = 250 * NS_PER_MS,
		.backoff_min_ns = 10 * NS_PER_MS,
		.backoff_max_ns = 40 * NS_PER_MS,
	};
	snprintf(line->server, sizeof(line->server), "127.0.0.1:%u", line->peer->port);
	ledger_read(&line->start, NULL);
}

static void line_close(struct line *line)
{
	uplink_destroy(line->uplink);
	batch_queue_destroy(line->queue);
	peer_destroy(line->peer);
	event_free(line->tick);
	event_free(line->woken);
	event_base_loop(line->base, EVLOOP_NONBLOCK); /* what libevent frees in the next round */
	event_base_free(line->base);
	fclose(stderr);
	stderr = line->real_stderr;
	free(line->log);
	libevent_global_shutdown();
}

static void start(struct line *line)
{
	line->uplink = uplink_create(line->base, line->queue, &line->options);
	ck_assert_ptr_nonnull(line->uplink);
}

static void push_span(struct line *line, const void *span, size_t size)
{
	ledger_add(SPANS_QUEUED, 1);
	batch_add(line->queue, span, size, clock_wall(), 0);
	line->pushed++;
}

/* Pushes batches of SPANS spans, named by the order of all. */
static void push(struct line *line, int batches)
{
	while (batches-- > 0) {
		for (int i = 0; i < SPANS; i++) {
			char span[32];
			int size = snprintf(span, sizeof(span), "span %u", line->pushed);

			push_span(line, span, (size_t)size);
		}
		batch_flush(line->queue, 0, true);
	}
}

/* Runs the loop until @condition holds, which it must within 5 s. */
#define RUN_UNTIL(line, condition)                                                                           \
	do {                                                                                                 \
		int64_t run_end = clock_monotonic() + 5 * NS_PER_SECOND;                                     \
		while (!(condition) && clock_monotonic() < run_end)                                          \
			event_base_loop((line)->base, EVLOOP_ONCE);                                          \
		ck_assert_msg(condition, "after 5 s still not: %s", #condition);                             \
	} while (0)

static void run_ms(struct line *line, int ms)
{
	int64_t end = clock_monotonic() + ms * NS_PER_MS;

	while (clock_monotonic() < end)
		event_base_loop(line->base, EVLOOP_ONCE);
}

static int64_t row(struct line *line, enum ledger_row which)
{
	struct ledger now;

	ledger_read(&now, NULL);
	return now.row[which] - line->start.row[which];
}

/* How many spans' latencies the ledger has. */
static uint64_t latencies(void)
{
	struct ledger_latency latency;
	struct ledger rows;
	uint64_t spans = 0;

	ledger_read(&rows, &latency);
	for (int i = 0; i <= LEDGER_BUCKETS; i++)
		spans += latency.bucket[i];
	return spans;
}

static int64_t errors(struct line *line)
{
	return row(line, OUTPUT_ERRORS_CONNECT) + row(line, OUTPUT_ERRORS_TIMEOUT) +
	       row(line, OUTPUT_ERRORS_PROTOCOL) + row(line, OUTPUT_ERRORS_CLOSED) +
	       row(line, OUTPUT_ERRORS_TRY_LATER) + row(line, OUTPUT_ERRORS_REFUSED);
}

static unsigned int in_log(struct line *line, const char *words)
{
	unsigned int count = 0;

	fflush(stderr);
	for (const char *found = line->log; (found = strstr(found, words)); found++)
		count++;
	return count;
}

static struct uplink_state state_of(struct line *line)
{
	struct uplink_state state;

	uplink_read_state(line->uplink, &state);
	return state;
}

#define ASSERT_ROW(line, which, amount) ck_assert_int_eq(row(line, which), amount)

/* All that was pushed was sent, arrived at least once, and no more often than the ledger says that it may
 * have. */
static void assert_all_arrived(struct line *line)
{
	int64_t again = 0;

	ASSERT_ROW(line, SPANS_QUEUED, 0);
	ASSERT_ROW(line, SPANS_SENT, line->pushed);
	for (unsigned int i = 0; i < line->pushed; i++) {
		char span[32];
		unsigned int count;

		snprintf(span, sizeof(span), "span %u", i);
		count = peer_count(line->peer, span);
		ck_assert_msg(count >= 1, "%s did not arrive", span);
		again += count - 1;
	}
	ck_assert_int_le(again, row(line, SPANS_SENT_AGAIN));
}

static void assert_in_order(struct line *line)
{
	ck_assert_uint_eq(line->peer->taken->len, line->pushed);
	for (unsigned int i = 0; i < line->pushed; i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_str_eq(g_ptr_array_index(line->peer->taken, i), span);
	}
}

START_TEST(good_server_gets_each_once)
{
	struct line line;
	uint64_t delivered;

	line_open(&line);
	delivered = latencies();
	if (_i == 1)
		ACT(line.peer, PEER_OLD_OK);
	push(&line, 20);
	start(&line);
	ck_assert(!state_of(&line).up);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == 20 * SPANS);
	push(&line, 20);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == 40 * SPANS);
	assert_all_arrived(&line);
	assert_in_order(&line);
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 0);
	ck_assert_int_eq(errors(&line), 0);
	ck_assert_uint_eq(line.peer->connections, 1);
	ck_assert_uint_eq(batch_queue_bytes(line.queue), 0);
	ck_assert(state_of(&line).up);
	ck_assert_str_eq(state_of(&line).error, "");
	ck_assert_uint_eq(in_log(&line, "\n"), 1);
	ck_assert_uint_eq(in_log(&line, "connected"), 1);
	ck_assert_uint_eq(latencies() - delivered, 40 * SPANS);
	line_close(&line);
}
END_TEST

START_TEST(deaf_server_times_out)
{
	struct line line;

	line_open(&line);
	line.options.timeout_ns = 60 * NS_PER_MS;
	ACT(line.peer, PEER_SILENT);
	push(&line, 6);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_TIMEOUT) == 3);
	ASSERT_ROW(&line, SPANS_QUEUED, line.pushed);
	ASSERT_ROW(&line, SPANS_SENT, 0);
	/* All that the window allowed, once; and then, to see whether it hears, one call at a time. */
	ck_assert_uint_eq(line.peer->calls, 4 + 1 + 1);
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 2 * SPANS);
	ck_assert(!state_of(&line).up);
	ck_assert_str_eq(state_of(&line).error, "no answer within 0.06 s");
	ck_assert_uint_eq(in_log(&line, "no answer"), 1);
	ACT(line.peer, PEER_OK);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	assert_all_arrived(&line);
	ck_assert_int_eq(errors(&line), row(&line, OUTPUT_ERRORS_TIMEOUT));
	ck_assert(state_of(&line).up);
	ck_assert_uint_eq(in_log(&line, "delivering again after 0 s"), 1);
	line_close(&line);
}
END_TEST

/* Slow is not deaf: the deadline is from one answer to the next, however many calls wait. */
START_TEST(slow_server_keeps_its_connection)
{
	struct line line;

	line_open(&line);
	line.options.window = 8;
	line.peer->delay_ms = 60;
	push(&line, 8);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_eq(errors(&line), 0);
	assert_in_order(&line);
	line_close(&line);
}
END_TEST

START_TEST(window_is_kept)
{
	struct line line;

	line_open(&line);
	line.options.window = 3;
	line.peer->delay_ms = 10;
	push(&line, 12);
	start(&line);
	RUN_UNTIL(&line, state_of(&line).calls_open == 3);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_uint_eq(line.peer->open_max, 3);
	ck_assert_uint_eq(state_of(&line).calls_open, 0);
	assert_in_order(&line);
	line_close(&line);
}
END_TEST

/* A call too large to be on its way as a whole. */
static void push_large(struct line *line)
{
	size_t size = 12 << 20;
	char *span = g_malloc(size);

	memset(span, 'x', size);
	push_span(line, span, size);
	batch_flush(line->queue, 0, true);
	g_free(span);
}

START_TEST(server_closes_within_a_call)
{
	struct line line;

	line_open(&line);
	line.options.timeout_ns = 5 * NS_PER_SECOND;
	line.peer->close_after = 100;
	push_large(&line);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CLOSED) == 2);
	ASSERT_ROW(&line, SPANS_QUEUED, 1);
	line.peer->close_after = 0;
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == 1);
	/* It never went out whole before, so it cannot arrive twice. */
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 0);
	ck_assert_uint_eq(line.peer->taken->len, 1);
	ck_assert_uint_eq(strlen(g_ptr_array_index(line.peer->taken, 0)), 12 << 20);
	ck_assert_uint_eq(in_log(&line, "trying again"), 1);
	line_close(&line);
}
END_TEST

/* The batch must not be released while it is being written. */
START_TEST(answer_before_the_call_is_sent)
{
	struct line line;

	line_open(&line);
	line.peer->answer_early = true;
	push_large(&line);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_PROTOCOL) == 1);
	ASSERT_ROW(&line, SPANS_QUEUED, 1);
	ASSERT_ROW(&line, SPANS_SENT, 0);
	ck_assert_uint_eq(in_log(&line, "before it got all of it"), 1);
	line_close(&line);
}
END_TEST

static const struct {
	enum peer_act act;
	enum ledger_row row;
	const char *words;
} bad_answers[] = {
	{PEER_CLOSE, OUTPUT_ERRORS_CLOSED, "the server closed the connection"},
	{PEER_HALF_AND_CLOSE, OUTPUT_ERRORS_CLOSED, "the server closed the connection"},
	{PEER_HALF_AND_HANG, OUTPUT_ERRORS_TIMEOUT, "no answer within 0.25 s"},
	{PEER_GARBAGE, OUTPUT_ERRORS_PROTOCOL, "not a reply to Log()"},
	{PEER_TEXT, OUTPUT_ERRORS_PROTOCOL, "the peer answers \"Bad request, sorry\""},
	{PEER_HTTP, OUTPUT_ERRORS_PROTOCOL, "the peer speaks HTTP, not Scribe"},
	{PEER_WRONG_SEQID, OUTPUT_ERRORS_PROTOCOL, "a call that was not made"},
};

START_TEST(bad_answer_costs_the_connection)
{
	enum peer_act acts[] = {bad_answers[_i].act, PEER_OK};
	struct line line;

	line_open(&line);
	line.options.window = 1;
	peer_set_acts(line.peer, acts, 1);
	push(&line, 3);
	start(&line);
	RUN_UNTIL(&line, row(&line, bad_answers[_i].row) == 2);
	ASSERT_ROW(&line, SPANS_SENT, 0);
	ASSERT_ROW(&line, SPANS_QUEUED, line.pushed);
	ck_assert(!state_of(&line).up);
	ck_assert_ptr_nonnull(strstr(state_of(&line).error, bad_answers[_i].words));
	peer_set_acts(line.peer, acts, 2);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_eq(row(&line, bad_answers[_i].row), errors(&line));
	assert_all_arrived(&line);
	ck_assert_uint_eq(in_log(&line, bad_answers[_i].words), 1);
	ck_assert_uint_eq(in_log(&line, "delivering again"), 1);
	ck_assert_uint_eq(in_log(&line, "\n"), 3);
	line_close(&line);
}
END_TEST

START_TEST(second_answer_to_a_call_is_wrong)
{
	struct line line;

	line_open(&line);
	ACT(line.peer, PEER_TWICE, PEER_OK);
	push(&line, 1);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_PROTOCOL) == 1);
	ASSERT_ROW(&line, SPANS_SENT, SPANS);
	push(&line, 2);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	assert_all_arrived(&line);
	line_close(&line);
}
END_TEST

START_TEST(try_later_is_honoured)
{
	struct line line;
	int64_t begin;

	line_open(&line);
	line.options.backoff_min_ns = line.options.backoff_max_ns = 40 * NS_PER_MS;
	ACT(line.peer, PEER_TRY_LATER, PEER_TRY_LATER, PEER_TRY_LATER, PEER_OK);
	line.options.window = 1;
	push(&line, 3);
	begin = clock_monotonic();
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_ge(clock_monotonic() - begin, 3 * 39 * NS_PER_MS);
	ASSERT_ROW(&line, OUTPUT_ERRORS_TRY_LATER, 3);
	ck_assert_int_eq(errors(&line), 3);
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 0);
	ck_assert_uint_eq(line.peer->connections, 1);
	assert_all_arrived(&line);
	assert_in_order(&line);
	ck_assert_uint_eq(in_log(&line, "try later"), 1);
	ck_assert_uint_eq(in_log(&line, "delivering again"), 1);
	line_close(&line);
}
END_TEST

/* With calls in the window: those put off go again, in order, the others do not. */
START_TEST(try_later_in_a_full_window)
{
	static const int order[] = {1, 3, 0, 2, 4, 5};
	struct line line;

	line_open(&line);
	line.peer->delay_ms = 5;
	ACT(line.peer, PEER_TRY_LATER, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push(&line, 6);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ASSERT_ROW(&line, OUTPUT_ERRORS_TRY_LATER, 2);
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 0);
	assert_all_arrived(&line);
	for (size_t i = 0; i < LENGTH(order); i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %d", order[i] * SPANS);
		ck_assert_str_eq(g_ptr_array_index(line.peer->taken, i * SPANS), span);
	}
	line_close(&line);
}
END_TEST

/* The connection goes while a batch is put off and others are open: all come back in order. */
START_TEST(lost_while_put_off)
{
	struct line line;

	line_open(&line);
	line.options.window = 3;
	ACT(line.peer, PEER_TRY_LATER, PEER_SILENT, PEER_SILENT, PEER_OK);
	push(&line, 4);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_TRY_LATER) == 1 && line.peer->calls == 3);
	peer_hang_up(line.peer);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ASSERT_ROW(&line, OUTPUT_ERRORS_CLOSED, 1);
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 2 * SPANS);
	assert_all_arrived(&line);
	/* Two batches before the connection went, and then all four. */
	for (unsigned int i = 0; i < line.pushed; i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_str_eq(g_ptr_array_index(line.peer->taken, 2 * SPANS + i), span);
	}
	line_close(&line);
}
END_TEST

START_TEST(refused_call_is_dropped_and_counted)
{
	struct line line;

	line_open(&line);
	ACT(line.peer, PEER_OK, PEER_EXCEPTION, PEER_OK, PEER_EXCEPTION, PEER_OK);
	push(&line, 6);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_QUEUED) == 0);
	ASSERT_ROW(&line, SPANS_SENT, 4 * SPANS);
	ASSERT_ROW(&line, SPANS_DROPPED_REFUSED, 2 * SPANS);
	ASSERT_ROW(&line, OUTPUT_ERRORS_REFUSED, 2);
	ck_assert_int_eq(errors(&line), 2);
	ck_assert_uint_eq(line.peer->connections, 1);
	ck_assert_uint_eq(line.peer->taken->len, 4 * SPANS);
	ck_assert_uint_eq(batch_queue_bytes(line.queue), 0);
	/* The first in its words; the second within ten seconds. */
	ck_assert_uint_eq(in_log(&line, "no room for 1"), 1);
	ck_assert_uint_eq(in_log(&line, "no room for"), 1);
	ck_assert_uint_eq(in_log(&line, "\n"), 2);
	ck_assert(state_of(&line).up);
	line_close(&line);
}
END_TEST

START_TEST(server_refusing_all_is_not_up)
{
	struct line line;

	line_open(&line);
	ACT(line.peer, PEER_EXCEPTION);
	push(&line, 2);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_QUEUED) == 0);
	ck_assert(!state_of(&line).up);
	ck_assert_str_eq(state_of(&line).error, "no room for 1");
	line_close(&line);
}
END_TEST

START_TEST(server_down_then_up)
{
	struct line line;

	line_open(&line);
	peer_stop(line.peer);
	push(&line, 3);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CONNECT) == 3);
	ck_assert_str_eq(state_of(&line).error, "connection refused");
	ck_assert_uint_eq(in_log(&line, "connection refused; spans wait in memory, trying again"), 1);
	ck_assert_uint_eq(in_log(&line, line.server), 1);
	peer_start(line.peer);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_eq(errors(&line), row(&line, OUTPUT_ERRORS_CONNECT));
	ASSERT_ROW(&line, SPANS_SENT_AGAIN, 0);
	assert_in_order(&line);
	ck_assert_uint_eq(in_log(&line, "\n"), 2);
	/* The same with nothing to send: good when connected. */
	peer_stop(line.peer);
	RUN_UNTIL(&line, in_log(&line, "connection refused") == 2);
	peer_start(line.peer);
	RUN_UNTIL(&line, in_log(&line, "delivering again") == 2);
	ck_assert(state_of(&line).up);
	line_close(&line);
}
END_TEST

START_TEST(restarts_under_load)
{
	struct line line;

	line_open(&line);
	line.peer->delay_ms = 2;
	start(&line);
	for (int i = 0; i < 6; i++) {
		unsigned int calls = line.peer->calls;

		push(&line, 20);
		RUN_UNTIL(&line, line.peer->calls >= calls + 5 && state_of(&line).calls_open > 0);
		peer_stop(line.peer);
		run_ms(&line, 15);
		peer_start(line.peer);
	}
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	assert_all_arrived(&line);
	ck_assert_int_ge(row(&line, OUTPUT_ERRORS_CLOSED), 1);
	ck_assert_int_gt(row(&line, SPANS_SENT_AGAIN), 0);
	ASSERT_ROW(&line, OUTPUT_ERRORS_PROTOCOL, 0);
	line_close(&line);
}
END_TEST

/* Tries come after a wait between the bounds, and not all after the same. */
START_TEST(backoff_is_bounded_and_random)
{
	struct line line;
	int64_t shortest = INT64_MAX, longest = 0;
	GArray *at;

	line_open(&line);
	line.options.backoff_min_ns = 10 * NS_PER_MS;
	line.options.backoff_max_ns = 80 * NS_PER_MS;
	ACT(line.peer, PEER_CLOSE);
	push(&line, 1);
	start(&line);
	RUN_UNTIL(&line, line.peer->connections == 25);
	at = line.peer->connected_at;
	for (guint i = 1; i < at->len; i++) {
		int64_t gap = g_array_index(at, int64_t, i) - g_array_index(at, int64_t, i - 1);

		ck_assert_int_ge(gap, 9 * NS_PER_MS);
		ck_assert_int_le(gap, 580 * NS_PER_MS);
		if (i <= 2) /* the first ones are short: at most two and four times the least */
			continue;
		shortest = MIN(shortest, gap);
		longest = MAX(longest, gap);
	}
	ck_assert_int_gt(longest - shortest, 10 * NS_PER_MS);
	line_close(&line);
}
END_TEST

/*
 * After a good answer waits are short again. With this seed six waits are near the shortest, the seventh is
 * beyond the middle of its bounds: 0.6 s if they had gone on growing.
 */
START_TEST(backoff_begins_again_after_a_good_answer)
{
	struct line line;
	int64_t begin;

	line_open(&line);
	g_random_set_seed(16220);
	line.options.backoff_max_ns = 3600 * NS_PER_SECOND;
	peer_stop(line.peer);
	push(&line, 1);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CONNECT) == 6);
	peer_start(line.peer);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ASSERT_ROW(&line, OUTPUT_ERRORS_CONNECT, 6);
	peer_stop(line.peer);
	begin = clock_monotonic();
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CONNECT) == 7);
	ck_assert_int_lt(clock_monotonic() - begin, 400 * NS_PER_MS);
	line_close(&line);
}
END_TEST

/* Closed while nothing is open: no error, and back at once when there is something to send. */
START_TEST(idle_connection_may_close)
{
	struct line line;
	int64_t begin;

	line_open(&line);
	line.options.backoff_min_ns = line.options.backoff_max_ns = 2 * NS_PER_SECOND;
	push(&line, 1);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	peer_hang_up(line.peer);
	run_ms(&line, 20);
	ck_assert(!state_of(&line).up);
	begin = clock_monotonic();
	push(&line, 1);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_lt(clock_monotonic() - begin, NS_PER_SECOND);
	ck_assert_int_eq(errors(&line), 0);
	ck_assert_uint_eq(line.peer->connections, 2);
	ck_assert_uint_eq(in_log(&line, "\n"), 1);
	assert_in_order(&line);
	line_close(&line);
}
END_TEST

/* Nothing to send for long: it comes back by itself, so that its state tells how the server is. */
START_TEST(idle_connection_is_made_again)
{
	struct line line;

	line_open(&line);
	start(&line);
	for (unsigned int i = 1; i < 4; i++) {
		RUN_UNTIL(&line, line.peer->connections == i && state_of(&line).up);
		peer_hang_up(line.peer);
	}
	RUN_UNTIL(&line, line.peer->connections == 4 && state_of(&line).up);
	ck_assert_int_eq(errors(&line), 0);
	ck_assert_uint_eq(in_log(&line, "\n"), 1);
	line_close(&line);
}
END_TEST

static void on_drained(void *data)
{
	struct line *line = data;

	line->drained++;
	/* As a program that ends would. */
	uplink_destroy(line->uplink);
	line->uplink = NULL;
}

START_TEST(drained_when_all_is_answered)
{
	struct line line;

	line_open(&line);
	line.peer->delay_ms = 20;
	ACT(line.peer, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push(&line, 6);
	start(&line);
	uplink_when_drained(line.uplink, on_drained, &line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == 5 * SPANS);
	ck_assert_int_eq(line.drained, 0);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	run_ms(&line, 20);
	ck_assert_int_eq(line.drained, 0); /* more might come */
	batch_close(line.queue);
	RUN_UNTIL(&line, line.drained == 1);
	run_ms(&line, 20);
	ck_assert_int_eq(line.drained, 1);
	line_close(&line);
}
END_TEST

START_TEST(drained_from_the_start)
{
	struct line line;

	line_open(&line);
	start(&line);
	batch_close(line.queue);
	uplink_when_drained(line.uplink, on_drained, &line);
	ck_assert_int_eq(line.drained, 0); /* not from within */
	RUN_UNTIL(&line, line.drained == 1);
	line_close(&line);
}
END_TEST

/* A stop during a long wait is not held up by it. With this seed the sixth wait is 0.6 s, and those before
 * are short. */
START_TEST(drain_cuts_a_long_wait)
{
	struct line line;
	int64_t begin;

	line_open(&line);
	g_random_set_seed(5318);
	line.options.backoff_max_ns = 3600 * NS_PER_SECOND;
	peer_stop(line.peer);
	push(&line, 2);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CONNECT) == 6);
	peer_start(line.peer);
	batch_close(line.queue);
	begin = clock_monotonic();
	uplink_when_drained(line.uplink, on_drained, &line);
	RUN_UNTIL(&line, line.drained == 1);
	ck_assert_int_lt(clock_monotonic() - begin, 400 * NS_PER_MS);
	ASSERT_ROW(&line, SPANS_SENT, line.pushed);
	line_close(&line);
}
END_TEST

START_TEST(destroy_gives_back)
{
	struct line line;
	struct batch *batch;

	line_open(&line);
	line.options.window = 2;
	ACT(line.peer, PEER_SILENT);
	push(&line, 3);
	start(&line);
	RUN_UNTIL(&line, line.peer->calls == 2);
	uplink_destroy(line.uplink);
	line.uplink = NULL;
	for (int i = 0; i < 3; i++) {
		batch = batch_take(line.queue);
		ck_assert_ptr_nonnull(batch);
		ck_assert_int_eq(batch->sent_before, i < 2);
		ledger_move(SPANS_QUEUED, SPANS_DROPPED_SHUTDOWN, batch->spans);
		batch_release(line.queue, batch);
	}
	ck_assert_ptr_null(batch_take(line.queue));
	line_close(&line);
}
END_TEST

/* Addresses */

static bool can_listen(const char *address)
{
	struct sockaddr_storage storage;
	int size = sizeof(storage), fd;
	bool can = false;

	if (evutil_parse_sockaddr_port(address, (struct sockaddr *)&storage, &size) < 0)
		return false;
	fd = socket(storage.ss_family, SOCK_STREAM, 0);
	can = fd >= 0 && bind(fd, (struct sockaddr *)&storage, (socklen_t)size) == 0;
	if (fd >= 0)
		close(fd);
	return can;
}

/* By IPv6, and by a name whose other address nobody listens on. */
START_TEST(server_by_name_and_ipv6)
{
	static const struct {
		const char *listen, *format;
	} cases[] = {{"::1", "[::1]:%u"}, {"127.0.0.1", "localhost:%u"}, {"::1", "localhost:%u"}};
	bool ipv6 = cases[_i].listen[0] == ':';
	struct line line;

	/* A machine without IPv6, or whose /etc/hosts does not know localhost by it, cannot tell. */
	if (ipv6 && !can_listen("[::1]"))
		return;
	if (ipv6 && _i == 2 && system("getent -s files ahostsv6 localhost | grep -q '^::1 '") != 0)
		return;
	line_open(&line);
	peer_destroy(line.peer);
	line.peer = peer_create(line.base, cases[_i].listen);
	snprintf(line.server, sizeof(line.server), cases[_i].format, line.peer->port);
	push(&line, 2);
	start(&line);
	RUN_UNTIL(&line, row(&line, SPANS_SENT) == line.pushed);
	ck_assert_int_eq(errors(&line), 0);
	assert_in_order(&line);
	line_close(&line);
}
END_TEST

/* A port whose backlog is full takes no connection, and does not refuse it either. */
START_TEST(connecting_times_out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fillers[4];
	struct line line;

	line_open(&line);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(listener, 0), 0);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (size_t i = 0; i < LENGTH(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&address, size);
	}
	snprintf(line.server, sizeof(line.server), "127.0.0.1:%u", ntohs(address.sin_port));
	push(&line, 1);
	start(&line);
	RUN_UNTIL(&line, row(&line, OUTPUT_ERRORS_CONNECT) == 2);
	ck_assert_str_eq(state_of(&line).error, "connection timed out");
	ASSERT_ROW(&line, SPANS_QUEUED, SPANS);
	for (size_t i = 0; i < LENGTH(fillers); i++)
		close(fillers[i]);
	close(listener);
	line_close(&line);
}
END_TEST

START_TEST(server_is_host_and_port)
{
	static const struct {
		const char *server, *host; /* NULL: refused */
		uint16_t port;
	} cases[] = {
		{"127.0.0.1:9410", "127.0.0.1", 9410},
		{"collector.example:1", "collector.example", 1},
		{"a-b_c:65535", "a-b_c", 65535},
		{"[::1]:9410", "::1", 9410},
		{"[fe80::1%eth0]:9410", "fe80::1%eth0", 9410},
		{"", NULL, 0},
		{"localhost", NULL, 0},
		{":9410", NULL, 0},
		{"localhost:", NULL, 0},
		{"localhost:0", NULL, 0},
		{"localhost:65536", NULL, 0},
		{"localhost:123456", NULL, 0},
		{"localhost:-1", NULL, 0},
		{"localhost:+1", NULL, 0},
		{"localhost: 1", NULL, 0},
		{"localhost:94x", NULL, 0},
		{"localhost:9410 ", NULL, 0},
		{"local host:9410", NULL, 0},
		{"http://localhost:9410", NULL, 0},
		{"::1:9410", NULL, 0},
		{"[::1]", NULL, 0},
		{"[::1]9410", NULL, 0},
		{"[::1:9410", NULL, 0},
		{"[]:9410", NULL, 0},
		{"[localhost]:9410", NULL, 0},
		{"[fe80::1%e/0]:9410", NULL, 0},
	};
	char host[256], longest[300];
	uint16_t port;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		bool good = uplink_parse_server(cases[i].server, host, &port);

		ck_assert_msg(good == !!cases[i].host, "%s", cases[i].server);
		if (good) {
			ck_assert_str_eq(host, cases[i].host);
			ck_assert_uint_eq(port, cases[i].port);
		}
	}
	for (int size = 255; size <= 256; size++) {
		snprintf(longest, sizeof(longest), "%0*d:9410", size, 0);
		ck_assert_int_eq(uplink_parse_server(longest, host, &port), size == 255);
	}
}
END_TEST

START_TEST(create_refuses_what_is_no_server)
{
	struct line line;

	line_open(&line);
	snprintf(line.server, sizeof(line.server), "nowhere");
	ck_assert_ptr_null(uplink_create(line.base, line.queue, &line.options));
	line_close(&line);
}
END_TEST

/* Fed by a thread into a queue that is too small, while the server comes and goes: dropped or sent, and
 * counted. */

static atomic_bool feeding;

static void *feed(void *data)
{
	struct line *line = data;

	for (int i = 0; i < 400; i++) {
		push(line, 1);
		usleep(1000);
	}
	atomic_store(&feeding, false);
	return NULL;
}

START_TEST(fed_by_a_thread)
{
	struct line line;
	pthread_t thread;

	line_open(&line);
	batch_queue_destroy(line.queue);
	line.limits.queue_bytes = 8 * 1024;
	line.queue = batch_queue_create(&line.limits, wake, &line);
	line.peer->delay_ms = 1;
	start(&line);
	atomic_store(&feeding, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, feed, &line), 0);
	while (atomic_load(&feeding)) {
		run_ms(&line, 30);
		peer_stop(line.peer);
		run_ms(&line, 30);
		peer_start(line.peer);
	}
	pthread_join(thread, NULL);
	RUN_UNTIL(&line, row(&line, SPANS_QUEUED) == 0);
	ck_assert_uint_eq(line.pushed, 400 * SPANS);
	ck_assert_int_eq(row(&line, SPANS_SENT) + row(&line, SPANS_DROPPED_QUEUE_FULL), line.pushed);
	ck_assert_int_gt(row(&line, SPANS_SENT), 0);
	ck_assert_int_gt(row(&line, SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_ge(line.peer->taken->len, row(&line, SPANS_SENT));
	line_close(&line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uplink");
	TCase *answers = tcase_create("answers"), *connections = tcase_create("connections");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(answers, good_server_gets_each_once, 0, 2);
	tcase_add_test(answers, deaf_server_times_out);
	tcase_add_test(answers, slow_server_keeps_its_connection);
	tcase_add_test(answers, window_is_kept);
	tcase_add_test(answers, server_closes_within_a_call);
	tcase_add_test(answers, answer_before_the_call_is_sent);
	tcase_add_loop_test(answers, bad_answer_costs_the_connection, 0, (int)LENGTH(bad_answers));
	tcase_add_test(answers, second_answer_to_a_call_is_wrong);
	tcase_add_test(answers, try_later_is_honoured);
	tcase_add_test(answers, try_later_in_a_full_window);
	tcase_add_test(answers, lost_while_put_off);
	tcase_add_test(answers, refused_call_is_dropped_and_counted);
	tcase_add_test(answers, server_refusing_all_is_not_up);
	tcase_set_timeout(answers, 30);
	suite_add_tcase(suite, answers);
	tcase_add_test(connections, server_down_then_up);
	tcase_add_test(connections, restarts_under_load);
	tcase_add_test(connections, backoff_is_bounded_and_random);
	tcase_add_test(connections, backoff_begins_again_after_a_good_answer);
	tcase_add_test(connections, idle_connection_may_close);
	tcase_add_test(connections, idle_connection_is_made_again);
	tcase_add_test(connections, drained_when_all_is_answered);
	tcase_add_test(connections, drained_from_the_start);
	tcase_add_test(connections, drain_cuts_a_long_wait);
	tcase_add_test(connections, destroy_gives_back);
	tcase_add_loop_test(connections, server_by_name_and_ipv6, 0, 3);
	tcase_add_test(connections, connecting_times_out);
	tcase_add_test(connections, server_is_host_and_port);
	tcase_add_test(connections, create_refuses_what_is_no_server);
	tcase_add_test(connections, fed_by_a_thread);
	tcase_set_timeout(connections, 30);
	suite_add_tcase(suite, connections);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
