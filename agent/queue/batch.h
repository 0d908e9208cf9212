/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches: items that are delivered together.
 *
 * A batch holds items of one format, one after the other: records, or what came from another agent and goes
 * on as it is. While it is filled, it has one owner. Once it is pushed into a queue it never changes, and has
 * a reference count, because the queues of all outputs that take its kind share it. An output encodes what it
 * takes out (encoding.h): then a batch holds items in the format that its wire sends.
 */
#ifndef QUEUE_BATCH_H
#define QUEUE_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "config/tagrules.h"
#include "core/kind.h"
#include "core/record.h"
#include "queue/receipt.h"

/* The format of the items. The numbers are stored in spools and must never change. */
enum batch_format {
	BATCH_ZIPKIN_SPANS =
		0, /* Span structs of zipkinCore.thrift in TBinary, as encode/zipkin.h makes them */
	BATCH_ZIPKIN_JSON =
		1, /* Zipkin's version 2 spans, a JSON object each, as encode/zipkinjson.h makes them */
	BATCH_OTLP_SPANS = 2,    /* Spans of OpenTelemetry with their process, as encode/otlp.h makes them */
	BATCH_EVENT_JSON = 3,    /* any event: a JSON object in UTF-8, on one line */
	BATCH_EVENT_OTLP = 4,    /* the same as a LogRecord of OpenTelemetry with its resource */
	BATCH_MESSAGES = 5,      /* Scribe's messages as they came: the category, and the payload */
	BATCH_SPAN_RECORDS = 6,  /* spans, as core/record.h packs them */
	BATCH_EVENT_RECORDS = 7, /* any events, as core/eventrecord.h packs them */
	BATCH_FORMATS
};

/* For people and JSON: "zipkin-spans"; "unknown" for a format that only a newer version knows. */
const char *batch_format_name(uint8_t format);

/* What items of the format are; a format that only a newer version knows counts as one of spans. */
enum kind batch_kind(uint8_t format);

struct batch {
	atomic_uint owners;
	uint8_t format;       /* an enum batch_format */
	struct buffer spans;  /* the items' bytes */
	struct buffer sizes;  /* uint32_t for each item: its size */
	struct buffer events; /* int64_t for each item: the time of its last event, ns since the epoch */
	uint32_t count;       /* of items */
	int64_t born;         /* when the first item was added, CLOCK_MONOTONIC ns */
	const struct tagrules *rules; /* all of its spans are as these have them; NULL: nobody has looked */
	bool otlp_names;              /* also in the tags that OTLP makes of a remote endpoint (retag.h) */
	struct receipt *receipt;      /* of items that cannot be read again, counted; NULL: they can */
};

/* Items that somebody has made, as they are handed on. */
struct items {
	const struct batch *batch; /* NULL: there are none */
	struct batch *lasting; /* the same, if it may be kept by reference, and its maker then goes on with
				  another (batch_renew); NULL: it stays its own */
	const struct trait *traits; /* of each (item.h); NULL: nobody has looked */
	const uint8_t
		*named; /* a struct named for each (stats/names.h), which is for the statistics; or NULL, */
	const uint8_t *words; /* and what they mean */
	size_t words_size;
};

static inline uint32_t items_count(const struct items *items)
{
	return items->batch ? items->batch->count : 0;
}

/* Creates an empty batch, with room for @count items of @bytes in total; batch_unref frees it. */
struct batch *batch_create(enum batch_format format, uint32_t count, size_t bytes);

/* Adds an item of @size bytes whose last event was at @event_time. */
void batch_add(struct batch *batch, const uint8_t *item, size_t size, int64_t event_time);

/* Counts an item whose @size bytes were appended to @batch->spans already. */
static inline void batch_added(struct batch *batch, size_t size, int64_t event_time)
{
	uint32_t bytes = (uint32_t)size;

	buffer_put(&batch->sizes, &bytes, sizeof(bytes));
	buffer_put(&batch->events, &event_time, sizeof(event_time));
	batch->count++;
}

/* Adds @count items, whose bytes stand one after the other. */
void batch_add_run(struct batch *batch, const uint8_t *items, const uint32_t *sizes,
	const int64_t *event_times, uint32_t count);

/* Empties a batch that was not pushed; it keeps its memory. */
void batch_clear(struct batch *batch);

/* The same of one that somebody may have kept: then it is another, as large. */
struct batch *batch_renew(struct batch *batch);

/* Adds a reference; returns @batch. */
struct batch *batch_ref(struct batch *batch);

/* Drops a reference; the last one frees the batch. @batch may be NULL. */
void batch_unref(struct batch *batch);

/* Creates a batch of the items for which @left_out is 0, in the same format. */
struct batch *batch_without(const struct batch *batch, const uint8_t *left_out);

/* Bytes of memory that it uses. */
size_t batch_bytes(const struct batch *batch);

/* The sizes and the event times of a batch's items. */
static inline const uint32_t *batch_sizes(const struct batch *batch)
{
	return (const uint32_t *)(const void *)batch->sizes.data;
}

static inline const int64_t *batch_events(const struct batch *batch)
{
	return (const int64_t *)(const void *)batch->events.data;
}

#endif
