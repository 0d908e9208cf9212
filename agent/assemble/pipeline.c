/* SPDX-License-Identifier: BSD-2-Clause */
#include "assemble/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "queue/format.h"
#include "queue/keep.h"
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
	struct ledger change;               /* not posted yet */
	struct batch *items[BATCH_FORMATS]; /* not handed over yet; in each format, wanted or not */
	struct buffer traits;               /* of the same spans */
	struct names *names;                /* theirs: */
	struct buffer named, words;
	unsigned formats; /* a bit for each that is wanted */
	uint32_t count;   /* of those spans, */
	uint32_t events;  /* and of events */
	size_t bytes;     /* of all of them */
	int64_t born;     /* the first one, by the clock below */
	bool in_event;    /* which is taken in part */
	int64_t clock;    /* the caller's, at its last call, from which a span's age is measured */
	int64_t repair_logged;
	struct pipeline_far far; /* of all events */
	atomic_bool changed;     /* the limits below are new */
	pthread_mutex_t lock;    /* guards them */
	struct assembler_limits limits;
	unsigned formats_next;
};

static bool is_wanted(const struct pipeline *pipeline, int format)
{
	return pipeline->formats >> format & 1;
}

/* Their batches in the formats that are wanted. */
static void pick(struct pipeline *pipeline, enum kind kind, struct batches *batches)
{
	for (int i = 0; i < BATCH_FORMATS; i++)
		if (is_wanted(pipeline, i) && batch_kind((uint8_t)i) == kind)
			batches->of[i] = pipeline->items[i];
	batches->lasting = pipeline->items;
}

static void hand(struct pipeline *pipeline, bool at_once)
{
	struct pipeline_goods goods = {
		.spans = {.count = pipeline->count,
			.traits = pipeline->traits.data,
			.named = pipeline->named.data,
			.words = pipeline->words.data,
			.words_size = pipeline->words.size},
		.events = {.count = pipeline->events},
	};

	pick(pipeline, KIND_SPANS, &goods.spans);
	pick(pipeline, KIND_EVENTS, &goods.events);
	pipeline->sink.hand(pipeline->sink.data, &pipeline->change, &goods, pipeline->clock, at_once);
	for (int i = 0; i < BATCH_FORMATS; i++)
		pipeline->items[i] = batch_renew(pipeline->items[i]);
	pipeline->traits.size = pipeline->named.size = pipeline->words.size = 0;
	pipeline->count = pipeline->events = 0;
	pipeline->bytes = 0;
}

void pipeline_post(struct pipeline *pipeline)
{
	hand(pipeline, true);
}

static bool is_begun(const struct pipeline *pipeline)
{
	return pipeline->count || pipeline->events;
}

static bool is_much(const struct pipeline *pipeline)
{
	const struct pipeline_sink *sink = &pipeline->sink;

	return pipeline->bytes >= sink->bytes || pipeline->count + pipeline->events >= sink->spans;
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

/* Encodes it where it stays. Returns how many texts were repaired. */
static int encode(struct pipeline *pipeline, int format, const struct span *span)
{
	struct batch *batch = pipeline->items[format];
	size_t before = batch->spans.size, size;
	int repaired = format_encode((uint8_t)format, &batch->spans, span);

	if (repaired < 0)
		batch->spans.size = before;
	size = batch->spans.size - before;
	batch_added(batch, size, span->last_event);
	pipeline->bytes += size;
	return repaired;
}

static void emit(void *data, const struct span *span)
{
	struct pipeline *pipeline = data;
	struct name_keys keys = names_keys(pipeline->names, span);
	struct named named;
	int repaired = 0;

	if (!is_begun(pipeline))
		pipeline->born = pipeline->clock;
	trait_put(&pipeline->traits, span);
	for (int i = 0; i < BATCH_SPAN_FORMATS; i++) {
		int here = is_wanted(pipeline, i) ? encode(pipeline, i, span) : 0;

		repaired = MAX(repaired, here); /* the same texts in each */
	}
	named = names_of(pipeline->names, span, &keys, pipeline->count++, &pipeline->words);
	buffer_put(&pipeline->named, &named, sizeof(named));
	if (repaired > 0) {
		pipeline->change.row[STRINGS_REPAIRED] += repaired;
		report_repair(pipeline, span);
	}
	if (!pipeline->in_event && is_much(pipeline))
		hand(pipeline, false);
}

struct assembler_limits pipeline_limits(const struct config *config)
{
	return (struct assembler_limits){
		.linger_ns = config->linger, .grace_ns = config->grace, .max_bytes = config->max_pending};
}

struct pipeline *pipeline_create(
	const struct assembler_limits *limits, unsigned formats, struct pipeline_sink sink)
{
	struct pipeline *pipeline = g_new0(struct pipeline, 1);

	pthread_mutex_init(&pipeline->lock, NULL);
	pipeline->sink = sink;
	pipeline->soon = !sink.spans;
	if (pipeline->soon) {
		pipeline->sink.spans = UINT32_MAX;
		pipeline->sink.bytes = HAND_BYTES;
	}
	pipeline->formats = formats;
	pipeline->names = names_create();
	for (int i = 0; i < BATCH_FORMATS; i++)
		pipeline->items[i] = batch_create(i, 0, 0);
	pipeline->assembler = assembler_create(limits, &pipeline->change, emit, pipeline);
	return pipeline;
}

void pipeline_destroy(struct pipeline *pipeline)
{
	assembler_destroy(pipeline->assembler);
	buffer_free(&pipeline->traits);
	buffer_free(&pipeline->named);
	buffer_free(&pipeline->words);
	names_destroy(pipeline->names);
	for (int i = 0; i < BATCH_FORMATS; i++)
		batch_unref(pipeline->items[i]);
	pthread_mutex_destroy(&pipeline->lock);
	g_free(pipeline);
}

/* An event more. */
static void go_on(struct pipeline *pipeline, int64_t time)
{
	pipeline->far.events++;
	pipeline->far.newest = MAX(pipeline->far.newest, time);
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
			"an event of blkin's or zipkin's name has other fields than theirs, or a time that "
			"overflows");
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

unsigned pipeline_event_formats(const struct pipeline *pipeline)
{
	return pipeline->formats & (1u << BATCH_EVENT_JSON | 1u << BATCH_EVENT_OTLP);
}

void pipeline_foreign(struct pipeline *pipeline, const struct pipeline_item *item, int64_t now)
{
	pipeline->change.row[EVENTS_READ]++;
	pipeline->change.row[EVENTS_AS_JSON]++;
	pipeline->clock = now;
	if (!is_begun(pipeline))
		pipeline->born = now;
	pipeline->events++;
	go_on(pipeline, item->time);
	for (int i = 0; i < BATCH_FORMATS; i++) {
		if (!item->of[i])
			continue;
		batch_add(pipeline->items[i], item->of[i]->data, item->of[i]->size, item->time);
		pipeline->bytes += item->of[i]->size;
	}
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

void pipeline_lost_events(struct pipeline *pipeline, uint64_t events)
{
	pipeline->change.row[EVENTS_LOST_RING] += (int64_t)events;
}

void pipeline_lost_packets(struct pipeline *pipeline, uint64_t packets)
{
	pipeline->change.row[PACKETS_LOST] += (int64_t)packets;
}

void pipeline_unreadable_packets(struct pipeline *pipeline, uint64_t packets)
{
	pipeline->change.row[PACKETS_LOST_UNREADABLE] += (int64_t)packets;
}

void pipeline_odd_packets(struct pipeline *pipeline, uint64_t user)
{
	const struct event event = {.has_user = true, .user = (uint32_t)user};

	misuse_note(pipeline_misuses(pipeline), MISUSE_CLOCK, &event, (struct text){0}, (struct text){0},
		"lttng-relayd's index has packets that end before they begin");
}

struct misuses *pipeline_misuses(struct pipeline *pipeline)
{
	return assembler_misuses(pipeline->assembler);
}

void pipeline_configure(struct pipeline *pipeline, const struct assembler_limits *limits, unsigned formats)
{
	pthread_mutex_lock(&pipeline->lock);
	pipeline->limits = *limits;
	pipeline->formats_next = formats;
	atomic_store(&pipeline->changed, true);
	pthread_mutex_unlock(&pipeline->lock);
}

/* In the reader's thread: applies what pipeline_configure has set. */
static void take_changes(struct pipeline *pipeline)
{
	hand(pipeline, false); /* in the formats of before */
	pthread_mutex_lock(&pipeline->lock);
	pipeline->formats = pipeline->formats_next;
	atomic_store(&pipeline->changed, false);
	assembler_configure(pipeline->assembler, &pipeline->limits);
	pthread_mutex_unlock(&pipeline->lock);
}

void pipeline_tick(struct pipeline *pipeline, int64_t now, bool idle)
{
	if (atomic_load_explicit(&pipeline->changed, memory_order_relaxed))
		take_changes(pipeline);
	pipeline->clock = now;
	assembler_expire(pipeline->assembler, now);
	if (idle || is_due(pipeline))
		hand(pipeline, idle);
}

void pipeline_save(struct pipeline *pipeline, struct buffer *out)
{
	int64_t now = clock_monotonic();

	pipeline->clock = now;
	hand(pipeline, true);
	assembler_save(pipeline->assembler, now, out);
}

bool pipeline_load(struct pipeline *pipeline, struct unpacker from)
{
	bool good;

	pipeline->in_event = true; /* nothing is handed over before the reader has begun */
	good = assembler_load(pipeline->assembler, from, clock_monotonic());
	pipeline->in_event = false;
	return good;
}

void pipeline_flush(struct pipeline *pipeline)
{
	assembler_flush(pipeline->assembler);
	hand(pipeline, true);
}
