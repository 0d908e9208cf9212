/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/send.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "import/guard.h"
#include "import/print.h"
#include "import/printevents.h"
#include "output/outputs.h"
#include "output/uplink/uplink.h"
#include "queue/fanout.h"
#include "queue/format.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/reader.h"

/* The most that is read before it is handed to the outputs. */
#define BATCH_SPANS 1000
#define BATCH_BYTES (1024 * 1024)

/* What is shared with the child. */
struct sending {
	struct guard guard;
	struct send_to to;
	const GPtrArray *traces; /* NULL: none, but */
	const GPtrArray *files;  /* of lines */
	unsigned long limit;
	bool unable; /* to use the outputs, which is logged */
	bool failed; /* the reader, and says why */
	char error[SEND_ERROR_SIZE];
	struct import_result result;
};

struct sender {
	struct sending *sending;
	struct event_base *base;
	struct event *ended, *interrupted, *ticking;
	struct outputs *outputs;
	struct fanout *fanout;
	struct pipeline *pipeline;
	struct reader *reader;
	struct print *print; /* of spans; NULL: to the outputs, */
	struct event_printer events;
	pthread_t thread;
	atomic_bool stop;
	bool interrupting;
	int64_t started;
};

/* The reader's thread */

static bool prints_events(const struct sender *sender)
{
	return sender->sending->to.print && sender->sending->to.events;
}

/* What the reader's thread makes, whatever it reads. */
static void hand_on(
	struct sender *sender, struct ledger *change, const struct items *spans, int64_t now, bool at_once)
{
	if (sender->print && items_count(spans))
		sender->stop = !print_batch(sender->print, spans->batch) || sender->stop;
	fanout_hand(sender->fanout, change, spans, now, at_once);
}

static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct sender *sender = data;

	hand_on(sender, change, &made->spans, now, at_once);
	if (!items_count(&made->events))
		return;
	if (prints_events(sender))
		sender->stop = !event_printer_put(&sender->events, made->events.batch) || sender->stop;
	else
		fanout_hand(sender->fanout, &(struct ledger){0}, &made->events, now, at_once);
}

static void *read_traces(void *data)
{
	struct sender *sender = data;
	struct sending *sending = sender->sending;
	enum reader_status status = READER_MORE;
	unsigned long limit = sending->limit;

	guard_watch(&sending->guard);
	while ((status == READER_MORE || status == READER_IDLE) && !sender->stop) {
		if (limit && sending->guard.steps >= limit)
			break;
		status = reader_step(sender->reader);
		if (status == READER_MORE || status == READER_IDLE)
			atomic_fetch_add(&sending->guard.steps, 1);
	}
	sending->failed = status == READER_ERROR;
	if (sending->failed)
		snprintf(sending->error, sizeof(sending->error), "%s", reader_error(sender->reader));
	pipeline_flush(sender->pipeline);
	fanout_end(sender->fanout);
	event_active(sender->ended, 0, 0);
	return NULL;
}

static void hand_lines(void *data, struct ledger *change, const struct items *spans, bool at_once)
{
	hand_on(data, change, spans, clock_monotonic(), at_once);
}

static void *read_lines(void *data)
{
	struct sender *sender = data;
	struct sending *sending = sender->sending;
	const struct lines_sink sink = {
		.hand = hand_lines,
		.data = sender,
		.stop = &sender->stop,
		.steps = &sending->guard.steps,
	};

	guard_watch(&sending->guard);
	sending->failed = !lines_read(sending->files, &sink, &sending->result.lines);
	fanout_end(sender->fanout);
	event_active(sender->ended, 0, 0);
	return NULL;
}

/* The loop */

static void on_drained(void *data)
{
	struct sender *sender = data;

	event_base_loopbreak(sender->base);
}

static void on_ended(evutil_socket_t fd, short what, void *data)
{
	struct sender *sender = data;

	(void)fd;
	(void)what;
	outputs_drain(sender->outputs, on_drained, sender);
}

static void on_interrupted(evutil_socket_t signal, short what, void *data)
{
	struct sender *sender = data;

	(void)signal;
	(void)what;
	sender->interrupting = true;
	event_base_loopbreak(sender->base);
}

static void show_progress(const struct sender *sender)
{
	double seconds = (double)(clock_monotonic() - sender->started) / NS_PER_SECOND;
	struct ledger rows;

	ledger_read(&rows);
	fprintf(stderr, "\r%" PRId64 " events read, %" PRId64 " spans made, %.0f s ", rows.row[EVENTS_READ],
		rows.row[SPANS_MADE], seconds);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	show_progress(data);
}

static int open_traces(struct sender *sender)
{
	struct sending *sending = sender->sending;
	struct intake_options into = {
		.pipeline = sender->pipeline, .by_event_time = true, .events = sending->to.names};

	sender->reader = reader_open_files((char *const *)sending->traces->pdata, sending->traces->len, &into,
		sending->error, sizeof(sending->error));
	sending->failed = !sender->reader;
	return sender->reader ? 0 : -1;
}

static bool wants_events(const struct sender *sender)
{
	return prints_events(sender) || config_wants_events(sender->sending->to.config);
}

/* What fills a batch of each output. Spans that go to one only, as they are, are encoded at once. */
static struct pipeline_sink sink_of(struct sender *sender)
{
	const GPtrArray *outputs = sender->sending->to.config->outputs;
	struct pipeline_sink sink = {
		hand, sender, .spans = BATCH_SPANS, .bytes = BATCH_BYTES, .nameless = true};

	if (!sender->print && outputs_sole_format(sender->sending->to.config, &sink.format))
		sink.pack = format_encode;

	for (guint i = 0; i < outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(outputs, i);

		sink.spans = (uint32_t)MIN(sink.spans, output->batch_spans);
		sink.bytes = MIN(sink.bytes, output->batch_size);
	}
	return sink;
}

static int start_reading(struct sender *sender)
{
	int error = pthread_create(
		&sender->thread, NULL, sender->sending->traces ? read_traces : read_lines, sender);

	sender->sending->unable = error != 0;
	if (error)
		log_error("nothing can be read, as no thread can be made: %s", g_strerror(error));
	return error;
}

static int start(struct sender *sender)
{
	const struct send_to *to = &sender->sending->to;
	const struct config *config = to->config;
	struct assembler_limits limits = pipeline_limits(config);
	struct timeval often = {0, 200000};

	signal(SIGPIPE, SIG_IGN);
	memory_keep_batches();
	evthread_use_pthreads();
	sender->started = clock_monotonic();
	sender->base = event_base_new();
	sender->ended = event_new(sender->base, -1, EV_PERSIST, on_ended, sender);
	sender->interrupted = evsignal_new(sender->base, SIGINT, on_interrupted, sender);
	sender->ticking = event_new(sender->base, -1, EV_PERSIST, on_tick, sender);
	sender->outputs = outputs_create(sender->base, config, true);
	sender->sending->unable = !sender->outputs;
	if (!sender->outputs)
		return -1;
	if (to->print && !to->events)
		sender->print = print_create(&to->printing);
	sender->fanout = fanout_create(outputs_outlets(sender->outputs));
	sender->pipeline = pipeline_create(&limits, wants_events(sender), sink_of(sender));
	pipeline_make_pairs(sender->pipeline, config, false);
	if (sender->sending->traces && open_traces(sender) != 0)
		return -1;
	event_add(sender->interrupted, NULL);
	if (isatty(STDERR_FILENO))
		event_add(sender->ticking, &often);
	return start_reading(sender);
}

static void end_print(struct sender *sender)
{
	struct sending *sending = sender->sending;

	sending->result.events_printed = sender->events.printed;
	sending->result.events_too_large = sender->events.too_large;
	sending->unable |= sender->events.failed;
	if (!sender->print)
		return;
	print_end(sender->print);
	sending->result.printed = print_count(sender->print);
	sending->unable |= print_failed(sender->print);
}

static void end(struct sender *sender)
{
	event_printer_free(&sender->events);
	if (sender->print)
		print_destroy(sender->print);
	if (sender->outputs)
		outputs_end(sender->outputs);
	if (sender->reader)
		reader_close(sender->reader);
	if (sender->pipeline)
		pipeline_destroy(sender->pipeline);
	fanout_destroy(sender->fanout);
	outputs_destroy(sender->outputs);
	event_free(sender->ended);
	event_free(sender->interrupted);
	event_free(sender->ticking);
	event_base_free(sender->base);
	libevent_global_shutdown();
}

/* What became of everything. */
static void keep_result(const struct sender *sender)
{
	struct output_state outputs[CONFIG_LANES_MAX];
	struct import_result *result = &sender->sending->result;

	result->outputs = outputs_read(sender->outputs, &result->rows, outputs, CONFIG_LANES_MAX).on;
	for (size_t i = 0; i < result->outputs; i++) {
		g_strlcpy(result->output[i].name, outputs[i].name, sizeof(result->output[i].name));
		memcpy(result->output[i].row, outputs[i].account.row, sizeof(result->output[i].row));
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* Without what cannot be freed: files are finished all the same, as what is in them counts as sent. */
static void end_at_once(struct sender *sender)
{
	outputs_end(sender->outputs);
	sender->sending->guard.finished = true;
	_exit(EXIT_SUCCESS);
}

static void send_in_child(void *data)
{
	struct sender sender = {.sending = data};

	if (start(&sender) == 0) {
		event_base_dispatch(sender.base);
		if (sender.interrupting) {
			/* the reader's thread may wait for a collector that is away, so it is not joined */
			keep_result(&sender);
			end_at_once(&sender);
		}
		pthread_join(sender.thread, NULL);
		end_print(&sender);
		keep_result(&sender);
		if (sender.sending->failed) {
			/* babeltrace2 leaks what it failed with */
			end_at_once(&sender);
		}
	}
	end(&sender);
}

static enum send_end send_all(const struct sending *what, struct import_result *result, char *error)
{
	struct sending *sending = guard_share(sizeof(*sending));
	enum send_end end = SEND_DIED;
	const char *how = "no memory left";

	if (!sending) {
		snprintf(error, SEND_ERROR_SIZE, "%s", how);
		return SEND_DIED;
	}
	sending->to = what->to;
	sending->traces = what->traces;
	sending->files = what->files;
	sending->limit = what->limit;
	if (guard_run(&sending->guard, send_in_child, sending, false, &how))
		end = sending->unable ? SEND_UNABLE : sending->failed ? SEND_DAMAGED : SEND_DONE;
	snprintf(error, SEND_ERROR_SIZE, "%s", end == SEND_DIED ? how : sending->error);
	*result = sending->result;
	guard_unshare(sending, sizeof(*sending));
	return end;
}

enum send_end send_traces(const struct send_to *to, const GPtrArray *traces, unsigned long limit,
	struct import_result *result, char *error)
{
	const struct sending what = {.to = *to, .traces = traces, .limit = limit};

	return send_all(&what, result, error);
}

enum send_end send_lines(
	const struct send_to *to, const GPtrArray *files, struct import_result *result, char *error)
{
	const struct sending what = {.to = *to, .files = files};

	return send_all(&what, result, error);
}
