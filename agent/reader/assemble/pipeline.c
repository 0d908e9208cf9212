/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/record.h"
#include "stats/names.h"

/* Invalid text is logged at most this often; the ledger counts each. */
#define REPAIR_LOG_NS (60 * NS_PER_SECOND)

/* Spans are handed over when there are so many bytes of them, or the first is so old. */
#define HAND_BYTES (64 * 1024)
#define HAND_NS (10 * NS_PER_MS)

struct pipeline {
	struct pipeline_sink sink;
	bool soon; /* it gets what is there */
	struct assembler *assembler;
	struct pairs *pairs;
	struct pairing *pairing;      /* NULL: none are made */
	int64_t tid;                  /* that recorded the event at hand; -1: not known */
	struct ledger change;         /* not posted yet */
	struct batch *spans, *events; /* not handed over yet */
	struct names *names;          /* the spans': */
	struct buffer named, words;
	bool wants_events;
	int64_t born;  /* the first of both, by the clock below */
	bool in_event; /* which is taken in part */
	int64_t clock; /* the caller's, at its last call, from which a span's age is measured */
	int64_t repair_logged;
	struct pipeline_far far;                          /* of all events */
	uint64_t discarded;                               /* events of programs, by LTTng */
	uint64_t kernel_events_lost, kernel_packets_lost; /* not handed over yet, */
	bool kernel_gap;                                  /* nor is that */
	int64_t kernel_gap_until;
	atomic_bool changed;  /* the limits below are new */
	pthread_mutex_t lock; /* guards them */
	struct assembler_limits limits;
	bool wants_events_next;
};

static void hand(struct pipeline *pipeline, bool at_once)
{
	bool named = !pipeline->sink.nameless;
	const struct pipeline_output made = {
		.spans = {.batch = pipeline->spans,
			.lasting = pipeline->spans,
			.named = named ? pipeline->named.data : NULL,
			.words = named ? pipeline->words.data : NULL,
			.words_size = pipeline->words.size},
		.events = {.batch = pipeline->events, .lasting = pipeline->events},
		.kernel_events_lost = pipeline->kernel_events_lost,
		.kernel_packets_lost = pipeline->kernel_packets_lost,
		.kernel_gap = pipeline->kernel_gap,
		.kernel_gap_until = pipeline->kernel_gap_until,
	};

	pipeline->sink.hand(pipeline->sink.data, &pipeline->change, &made, pipeline->clock, at_once);
	pipeline->spans = batch_renew(pipeline->spans);
	pipeline->events = batch_renew(pipeline->events);
	pipeline->named.size = pipeline->words.size = 0;
	pipeline->kernel_events_lost = pipeline->kernel_packets_lost = 0;
	pipeline->kernel_gap = false;
}

void pipeline_post(struct pipeline *pipeline)
{
	hand(pipeline, true);
}

static bool is_begun(const struct pipeline *pipeline)
{
	return pipeline->spans->count || pipeline->events->count;
}

static bool is_much(const struct pipeline *pipeline)
{
	const struct pipeline_sink *sink = &pipeline->sink;

	return pipeline->spans->spans.size + pipeline->events->spans.size >= sink->bytes ||
	       pipeline->spans->count + pipeline->events->count >= sink->spans;
}

static bool is_due(const struct pipeline *pipeline)
{
	return is_much(pipeline) ||
	       (pipeline->soon && is_begun(pipeline) && pipeline->clock - pipeline->born >= HAND_NS);
}

/* One message a minute: a program that writes invalid text usually writes a lot of it. */
static void report_repair(struct pipeline *pipeline, const struct span *span)
{
	int64_t now = clock_monotonic();

	if (pipeline->repair_logged && now - pipeline->repair_logged < REPAIR_LOG_NS)
		return;
	pipeline->repair_logged = now;
	log_warning("service `%.*s` writes text that is not UTF-8 (span `%.*s`): invalid bytes are sent as "
		    "U+FFFD, and such texts counted in blkin_agent_strings_repaired_total",
		(int)MIN(span->local.service.size, 64), span->local.service.data,
		(int)MIN(span->name.size, 64), span->name.data);
}

/* Packs it where it stays; one that is too large is empty. Returns how many texts were repaired. */
static int pack(const struct pipeline_sink *sink, struct batch *batch, const struct span *span)
{
	size_t before = batch->spans.size;
	int repaired =
		sink->pack ? sink->pack(batch->format, &batch->spans, span) : record_put(&batch->spans, span);

	batch_added(batch, batch->spans.size - before, span->last_event);
	return repaired;
}

static void name(struct pipeline *pipeline, const struct span *span)
{
	struct name_keys keys = names_keys(pipeline->names, span);
	struct named named = names_of(pipeline->names, span, &keys, pipeline->spans->count, &pipeline->words);

	buffer_put(&pipeline->named, &named, sizeof(named));
}

static void emit(void *data, const struct span *span)
{
	struct pipeline *pipeline = data;
	int repaired;

	if (!is_begun(pipeline))
		pipeline->born = pipeline->clock;
	if (!pipeline->sink.nameless)
		name(pipeline, span);
	repaired = pack(&pipeline->sink, pipeline->spans, span);
	if (repaired > 0) {
		pipeline->change.row[STRINGS_REPAIRED] += repaired;
		report_repair(pipeline, span);
	}
	if (pipeline->tid >= 0)
		pairs_adopt(pipeline->pairs, span, pipeline->tid, pipeline->clock);
	if (!pipeline->in_event && is_much(pipeline))
		hand(pipeline, false);
}

/* Of a pair, which is no program's own span: nothing is its child. */
static void emit_pair(void *data, const struct span *span)
{
	struct pipeline *pipeline = data;
	int64_t tid = pipeline->tid;

	pipeline->tid = -1;
	emit(pipeline, span);
	pipeline->tid = tid;
}

static struct pairs_limits limits_of_pairs(const struct assembler_limits *limits)
{
	return (struct pairs_limits){.hold_ns = limits->linger_ns, .max_bytes = limits->max_bytes / 4};
}

struct assembler_limits pipeline_limits(const struct config *config)
{
	return (struct assembler_limits){
		.linger_ns = config->linger, .grace_ns = config->grace, .max_bytes = config->max_pending};
}

struct pipeline *pipeline_create(
	const struct assembler_limits *limits, bool events, struct pipeline_sink sink)
{
	struct pipeline *pipeline = g_new0(struct pipeline, 1);
	const struct pairs_limits of_pairs = limits_of_pairs(limits);

	pthread_mutex_init(&pipeline->lock, NULL);
	pipeline->sink = sink;
	pipeline->soon = !sink.spans;
	if (pipeline->soon) {
		pipeline->sink.spans = UINT32_MAX;
		pipeline->sink.bytes = HAND_BYTES;
	}
	pipeline->wants_events = events;
	pipeline->names = names_create();
	pipeline->spans = batch_create(sink.pack ? sink.format : BATCH_SPAN_RECORDS, 0, 0);
	pipeline->events = batch_create(BATCH_EVENT_RECORDS, 0, 0);
	pipeline->assembler = assembler_create(limits, &pipeline->change, emit, pipeline);
	pipeline->pairs = pairs_create(&of_pairs, &pipeline->change, emit_pair, pipeline);
	pipeline->tid = -1;
	return pipeline;
}

void pipeline_destroy(struct pipeline *pipeline)
{
	assembler_destroy(pipeline->assembler);
	pairs_destroy(pipeline->pairs);
	if (pipeline->pairing)
		g_strfreev(pipeline->pairing->names);
	g_free(pipeline->pairing);
	buffer_free(&pipeline->named);
	buffer_free(&pipeline->words);
	names_destroy(pipeline->names);
	batch_unref(pipeline->spans);
	batch_unref(pipeline->events);
	pthread_mutex_destroy(&pipeline->lock);
	g_free(pipeline);
}

/* An event more. */
static void go_on(struct pipeline *pipeline, int64_t time)
{
	pipeline->far.events++;
	pipeline->far.last = time;
}

void pipeline_event(struct pipeline *pipeline, const struct event *event, int64_t now)
{
	pipeline->change.row[EVENTS_READ]++;
	pipeline->clock = now;
	if (event->type == EVENT_FOREIGN) {
		pipeline->change.row[EVENTS_IGNORED]++;
	} else if (event->type == EVENT_MALFORMED) {
		pipeline->change.row[EVENTS_REJECTED_MALFORMED]++;
		misuse_note(assembler_misuses(pipeline->assembler), MISUSE_MALFORMED, event, (struct text){0},
			(struct text){0},
			"an event of blkin's or zipkin's name has other fields than theirs, a first line "
			"that "
			"cannot be parsed, or a time that overflows");
	} else {
		pipeline->in_event = true;
		assembler_take(pipeline->assembler, event, now);
		pipeline->in_event = false;
		go_on(pipeline, event->time);
		if (!pipeline->soon && is_much(pipeline))
			hand(pipeline, false);
	}
}

struct pipeline_far pipeline_far(const struct pipeline *pipeline)
{
	return pipeline->far;
}

bool pipeline_wants_events(const struct pipeline *pipeline)
{
	return pipeline->wants_events;
}

void pipeline_foreign(struct pipeline *pipeline, const struct buffer *record, int64_t time, int64_t now)
{
	pipeline->change.row[EVENTS_READ]++;
	pipeline->change.row[EVENTS_AS_JSON]++;
	pipeline->clock = now;
	if (!is_begun(pipeline))
		pipeline->born = now;
	go_on(pipeline, time);
	batch_add(pipeline->events, record->data, record->size, time);
	if (is_much(pipeline))
		hand(pipeline, false);
}

void pipeline_make_pairs(struct pipeline *pipeline, const struct config *config, bool live)
{
	struct pairing pairing = {.by_event_time = !live};
	char error[512];

	pair_rules_parse(&pairing.rules, config->event_spans, error, sizeof(error));
	if (!pairing.rules.count)
		return;
	if (live)
		pairing.names = globs_split(config->event_names);
	pipeline->pairing = g_memdup2(&pairing, sizeof(pairing));
}

void pipeline_thread(struct pipeline *pipeline, int64_t tid)
{
	pipeline->tid = tid;
}

const struct pairing *pipeline_pairing(const struct pipeline *pipeline)
{
	return pipeline->pairing;
}

enum ledger_row pipeline_pair(struct pipeline *pipeline, const struct pair_event *event, int64_t now)
{
	const struct event whose = {.has_user = event->has_user, .user = event->user};
	enum ledger_row row;

	pipeline->clock = now;
	pipeline->in_event = true;
	row = pairs_take(pipeline->pairs, event, pipeline->pairing->by_event_time ? event->time : now);
	pipeline->in_event = false;
	if (row == EVENTS_REJECTED_MALFORMED)
		misuse_note(pipeline_misuses(pipeline), MISUSE_MALFORMED, &whose, event->program, event->name,
			"an event that `spans` in [events] names does not say of what thread it is");
	return row;
}

void pipeline_paired(struct pipeline *pipeline, enum ledger_row row, int64_t time, int64_t now)
{
	pipeline->change.row[EVENTS_READ]++;
	pipeline->change.row[row]++;
	pipeline->clock = now;
	go_on(pipeline, time);
	if (is_much(pipeline))
		hand(pipeline, false);
}

void pipeline_event_again(struct pipeline *pipeline)
{
	pipeline->change.row[EVENTS_READ_AGAIN]++;
}

void pipeline_canary(struct pipeline *pipeline)
{
	pipeline->change.row[EVENTS_CANARY]++;
}

void pipeline_lost_events(struct pipeline *pipeline, uint64_t events, bool kernel)
{
	pipeline->change.row[EVENTS_LOST_RING] += (int64_t)events;
	*(kernel ? &pipeline->kernel_events_lost : &pipeline->discarded) += events;
}

uint64_t pipeline_discarded(const struct pipeline *pipeline)
{
	return pipeline->discarded;
}

void pipeline_lost_packets(struct pipeline *pipeline, uint64_t packets, bool kernel)
{
	pipeline->change.row[PACKETS_LOST] += (int64_t)packets;
	pipeline->kernel_packets_lost += kernel ? packets : 0;
}

void pipeline_kernel_gap(struct pipeline *pipeline, int64_t until)
{
	pipeline->kernel_gap_until = pipeline->kernel_gap ? MAX(pipeline->kernel_gap_until, until) : until;
	pipeline->kernel_gap = true;
}

void pipeline_unreadable_packets(struct pipeline *pipeline, uint64_t packets)
{
	pipeline->change.row[PACKETS_LOST_UNREADABLE] += (int64_t)packets;
}

void pipeline_odd_packets(struct pipeline *pipeline, uint64_t user)
{
	const struct event event = {.has_user = true, .user = (uint32_t)user};

	misuse_note(pipeline_misuses(pipeline), MISUSE_CLOCK, &event, (struct text){0}, (struct text){0},
		"lttng-relayd's index has packets that end before they begin, begin with the one before, or "
		"are of another CPU than their file");
}

struct misuses *pipeline_misuses(struct pipeline *pipeline)
{
	return assembler_misuses(pipeline->assembler);
}

void pipeline_configure(struct pipeline *pipeline, const struct assembler_limits *limits, bool events)
{
	pthread_mutex_lock(&pipeline->lock);
	pipeline->limits = *limits;
	pipeline->wants_events_next = events;
	atomic_store(&pipeline->changed, true);
	pthread_mutex_unlock(&pipeline->lock);
}

/* In the reader's thread: applies what pipeline_configure has set. */
static void take_changes(struct pipeline *pipeline, int64_t now)
{
	struct pairs_limits of_pairs;

	hand(pipeline, false);
	pthread_mutex_lock(&pipeline->lock);
	pipeline->wants_events = pipeline->wants_events_next;
	atomic_store(&pipeline->changed, false);
	of_pairs = limits_of_pairs(&pipeline->limits);
	assembler_configure(pipeline->assembler, &pipeline->limits, now);
	pairs_configure(pipeline->pairs, &of_pairs, now);
	pthread_mutex_unlock(&pipeline->lock);
}

void pipeline_tick(struct pipeline *pipeline, int64_t now, bool idle)
{
	if (atomic_load_explicit(&pipeline->changed, memory_order_relaxed))
		take_changes(pipeline, now);
	pipeline->clock = now;
	pipeline->tid = -1;
	assembler_expire(pipeline->assembler, now);
	pairs_expire(pipeline->pairs, now);
	if (idle || is_due(pipeline))
		hand(pipeline, idle);
}

bool pipeline_save(struct pipeline *pipeline, struct buffer *out)
{
	int64_t now = clock_monotonic();
	size_t before = out->size, pending;

	pipeline->clock = now;
	hand(pipeline, true);
	assembler_save(pipeline->assembler, now, out);
	pending = out->size - before;
	pairs_save(pipeline->pairs, now, out);
	/* more than their number, 0 */
	return pending > sizeof(uint32_t) || pairs_hold(pipeline->pairs);
}

bool pipeline_load(struct pipeline *pipeline, struct unpacker from)
{
	bool good;

	pipeline->in_event = true; /* nothing is handed over before the reader has begun */
	good = assembler_load(pipeline->assembler, &from, clock_monotonic()) &&
	       pairs_load(pipeline->pairs, from, clock_monotonic());
	pipeline->in_event = false;
	return good;
}

void pipeline_flush(struct pipeline *pipeline)
{
	assembler_flush(pipeline->assembler);
	pairs_flush(pipeline->pairs);
	hand(pipeline, true);
}
