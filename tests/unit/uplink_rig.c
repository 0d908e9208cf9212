/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink_rig.h"

#include <signal.h>
#include <stdlib.h>

#include <event2/thread.h>

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void on_woken(evutil_socket_t fd, short what, void *arg)
{
	struct rig *rig = arg;

	(void)fd;
	(void)what;
	if (rig->uplink)
		uplink_wake(rig->uplink);
}

/* The queue's: wakes the uplink from any thread. */
static void wake(void *data)
{
	struct rig *rig = data;

	event_active(rig->woken, EV_READ, 1);
}

static void open_queue(struct rig *rig, size_t bytes)
{
	struct queue_limits limits = {.bytes = bytes};
	struct outlet outlet = {.limits = {.kind = KIND_SPANS, .spans = 100000, .bytes = 64 << 20}};

	rig->queue = outlet.queue = queue_create(&limits, rig->account, wake, rig);
	rig->fanout = fanout_create(outlets_create(&outlet, 1));
}

static void close_queue(struct rig *rig)
{
	fanout_destroy(rig->fanout);
	queue_unref(rig->queue);
}

void rig_resize(struct rig *rig, size_t bytes)
{
	close_queue(rig);
	open_queue(rig, bytes);
}

void rig_open(struct rig *rig)
{
	struct timeval soon = {0, 2000};

	memset(rig, 0, sizeof(*rig));
	signal(SIGPIPE, SIG_IGN);
	evthread_use_pthreads();
	rig->real_stderr = stderr;
	stderr = open_memstream(&rig->log, &rig->log_size);
	rig->base = event_base_new();
	rig->tick = event_new(rig->base, -1, EV_PERSIST, on_tick, NULL);
	rig->woken = event_new(rig->base, -1, 0, on_woken, rig);
	event_add(rig->tick, &soon);
	rig->peer = peer_create(rig->base, "127.0.0.1");
	rig->account = account_open("default");
	open_queue(rig, 256 << 20);
	rig->is = (struct output_config){
		.owners = 1,
		.section = "output",
		.server = rig->server,
		.category = "zipkin",
		.path = "/api/v1/spans",
		.headers_file = "",
		.proxy = "",
		.proxy_secret_file = "",
		.tls_ca = "",
		.tls_certificate = "",
		.tls_key = "",
		.keep = 1,
		.window = 4,
		.timeout = 20 * NS_PER_SECOND,
		.retry_min = 10 * NS_PER_MS,
		.retry_max = 40 * NS_PER_MS,
		.return_interval = 200 * NS_PER_MS,
	};
	rig->options = (struct uplink_options){.is = &rig->is, .name = "default"};
	snprintf(rig->server, sizeof(rig->server), "127.0.0.1:%u", rig->peer->port);
	ledger_read_with(&(struct ledger){0}, &rig->account, &rig->start, 1);
}

void rig_close(struct rig *rig)
{
	uplink_destroy(rig->uplink);
	close_queue(rig);
	peer_destroy(rig->peer);
	event_free(rig->tick);
	event_free(rig->woken);
	event_base_loop(rig->base, EVLOOP_NONBLOCK); /* what libevent frees in the next round */
	event_base_free(rig->base);
	fclose(stderr);
	stderr = rig->real_stderr;
	free(rig->log);
	libevent_global_shutdown();
}

void start(struct rig *rig)
{
	rig->uplink = uplink_create(rig->base, rig->queue, &rig->options);
	ck_assert_ptr_nonnull(rig->uplink);
}

/* The spans of the batch that is filled; NULL: none is. */
static struct batch *items;

static void push_item(struct rig *rig, enum batch_format format, const void *item, size_t size)
{
	if (!items)
		items = batch_create(format, 0, 0);
	ck_assert_uint_eq(items->format, format);
	batch_add(items, item, size, clock_wall());
	rig->pushed++;
}

void push_span(struct rig *rig, const void *span, size_t size)
{
	push_item(rig, BATCH_ZIPKIN_SPANS, span, size);
}

void push_record(struct rig *rig, const struct span *span)
{
	struct buffer record = {0};

	ck_assert_int_ge(record_put(&record, span), 0);
	push_item(rig, BATCH_SPAN_RECORDS, record.data, record.size);
	buffer_free(&record);
}

void push_batch(struct rig *rig)
{
	fanout_hand(rig->fanout, &(struct ledger){0}, &(struct items){.batch = items}, 0, true);
	batch_unref(items);
	items = NULL;
}

void push_many(struct rig *rig, int spans)
{
	char span[32];

	while (spans-- > 0) {
		snprintf(span, sizeof(span), "span %u", rig->pushed);
		push_span(rig, span, strlen(span));
	}
	push_batch(rig);
}

void push(struct rig *rig, int batches)
{
	while (batches-- > 0)
		push_many(rig, SPANS);
}

void run_ms(struct rig *rig, int ms)
{
	int64_t end = clock_monotonic() + ms * NS_PER_MS;

	while (clock_monotonic() < end)
		event_base_loop(rig->base, EVLOOP_ONCE);
}

int64_t row(struct rig *rig, enum account_row which)
{
	struct account_rows now;

	ledger_read_with(&(struct ledger){0}, &rig->account, &now, 1);
	return now.row[which] - rig->start.row[which];
}

uint64_t latencies(struct rig *rig)
{
	struct account_rows now;
	uint64_t spans = 0;

	ledger_read_with(&(struct ledger){0}, &rig->account, &now, 1);
	for (int i = 0; i <= LEDGER_BUCKETS; i++)
		spans += now.latency.bucket[i];
	return spans;
}

int64_t errors(struct rig *rig)
{
	return row(rig, OUTPUT_ERRORS_CONNECT) + row(rig, OUTPUT_ERRORS_TLS) +
	       row(rig, OUTPUT_ERRORS_TIMEOUT) + row(rig, OUTPUT_ERRORS_PROTOCOL) +
	       row(rig, OUTPUT_ERRORS_CLOSED) + row(rig, OUTPUT_ERRORS_TRY_LATER) +
	       row(rig, OUTPUT_ERRORS_REFUSED);
}

unsigned int in_log(struct rig *rig, const char *words)
{
	unsigned int count = 0;

	fflush(stderr);
	for (const char *found = rig->log; (found = strstr(found, words)); found++)
		count++;
	return count;
}

struct uplink_state state_of(struct rig *rig)
{
	struct uplink_state state;

	uplink_read_state(rig->uplink, &state);
	return state;
}

void assert_all_arrived(struct rig *rig)
{
	int64_t again = 0;

	ASSERT_ROW(rig, SPANS_QUEUED, 0);
	ASSERT_ROW(rig, SPANS_SENT, rig->pushed);
	for (unsigned int i = 0; i < rig->pushed; i++) {
		char span[32];
		unsigned int count;

		snprintf(span, sizeof(span), "span %u", i);
		count = peer_count(rig->peer, span);
		ck_assert_msg(count >= 1, "%s did not arrive", span);
		again += count - 1;
	}
	ck_assert_int_le(again, row(rig, SPANS_SENT_AGAIN));
}

void assert_in_order(struct rig *rig)
{
	ck_assert_uint_eq(rig->peer->taken->len, rig->pushed);
	for (unsigned int i = 0; i < rig->pushed; i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_str_eq(g_ptr_array_index(rig->peer->taken, i), span);
	}
}
