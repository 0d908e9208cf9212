/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/encoding.h"

#include <glib.h>

#include "config/tags.h"
#include "encode/eventjson.h"
#include "encode/eventotlp.h"
#include "encode/messagelog.h"
#include "queue/format.h"
#include "queue/item.h"
#include "queue/retag.h"

/* What the items of one batch share. */
struct encoding {
	enum batch_format format;
	struct tags tags;
	struct span_memory memory;
	struct eventjson json;
	struct eventotlp otlp;
};

static void begin(struct encoding *is, enum batch_format format, const char *tags)
{
	char error[200];

	*is = (struct encoding){.format = format, .otlp = {.host = g_get_host_name()}};
	if (tags)
		tags_parse(&is->tags, tags, error, sizeof(error));
}

static void end(struct encoding *is)
{
	span_memory_free(&is->memory);
	eventjson_free(&is->json);
	eventotlp_free(&is->otlp);
}

/* What comes from another agent in Scribe's format has no tags of this output yet; what an older version has
 * stored has them. */
static bool is_ready(const struct encoding *is, uint8_t format)
{
	return format == (uint8_t)is->format && !(format == BATCH_ZIPKIN_SPANS && is->tags.count);
}

/* An event that an older version has stored as JSON is a log record whose body is that. */
static bool put_stored_event(struct buffer *out, const uint8_t *item, size_t size, int64_t event)
{
	static const char category[] = "LTTng";
	const struct message message = {.time = event,
		.category = (const uint8_t *)category,
		.category_size = sizeof(category) - 1,
		.payload = item,
		.payload_size = (uint32_t)size};

	messagelog_put(out, &message);
	return true;
}

static bool put_event(struct encoding *is, struct buffer *out, uint8_t format, const uint8_t *item,
	size_t size, int64_t event)
{
	if (format == BATCH_EVENT_RECORDS && is->format == BATCH_EVENT_JSON)
		return eventjson_put(&is->json, out, item, size);
	if (format == BATCH_EVENT_RECORDS && is->format == BATCH_EVENT_OTLP)
		return eventotlp_put(&is->otlp, out, item, size);
	if (format == BATCH_EVENT_JSON && is->format == BATCH_EVENT_OTLP)
		return put_stored_event(out, item, size, event);
	return false;
}

static bool put_span(
	struct encoding *is, struct buffer *out, uint8_t format, const uint8_t *item, size_t size)
{
	struct span span;

	if (!item_read(&span, format, item, size, &is->memory))
		return false;
	span.added = is->tags.of;
	span.added_count = is->tags.count;
	/* version 1 says it by leaving times out, which any span may do */
	if (format == BATCH_ZIPKIN_SPANS && is->format != BATCH_ZIPKIN_SPANS)
		span.shared = span.shared && span.kind == SPAN_SERVER;
	if (format == (uint8_t)is->format)
		return format_again(format, out, &span, item, size);
	return format_encode((uint8_t)is->format, out, &span) >= 0;
}

/* Appends an item; one of size 0 could not be encoded. */
static void add(
	struct encoding *is, struct batch *to, const struct batch *from, uint32_t index, const uint8_t *item)
{
	size_t before = to->spans.size, size = batch_sizes(from)[index];
	int64_t event = batch_events(from)[index];
	bool good;

	if (!size)
		good = false;
	else if (batch_kind(from->format) != batch_kind((uint8_t)is->format))
		good = false;
	else if (batch_kind(from->format) == KIND_SPANS)
		good = put_span(is, &to->spans, from->format, item, size);
	else
		good = put_event(is, &to->spans, from->format, item, size, event);
	if (!good)
		to->spans.size = before;
	batch_added(to, to->spans.size - before, event);
}

static struct batch *encode_all(struct encoding *is, const struct batch *batch)
{
	/* most formats take more than a record does */
	struct batch *to = batch_create(is->format, batch->count, batch->spans.size * 2);
	const uint8_t *at = batch->spans.data;

	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++])
		add(is, to, batch, i, at);
	return to;
}

struct batch *encode_batch(const struct batch *batch, enum batch_format format, const char *tags)
{
	struct encoding is;
	struct batch *to;

	begin(&is, format, tags);
	to = encode_all(&is, batch);
	end(&is);
	return to;
}

static const char *why_bad(const struct entry *entry, enum batch_format format)
{
	return batch_kind(entry->batch->format) == batch_kind((uint8_t)format) &&
			       entry->batch->format < BATCH_FORMATS
		       ? "cannot be read, to be sent in the format of this output"
		       : "stored in a format that this output does not send";
}

/* Notes in @gone which items are not sent, as they cannot be, or are too large; returns how many. */
static uint32_t sort_out(
	struct queue *queue, const struct entry *entry, const struct batch *to, size_t most, uint8_t *gone)
{
	struct account *account = queue_account(queue);
	uint32_t count = 0;

	for (uint32_t i = 0; i < to->count; i++) {
		uint32_t size = batch_sizes(to)[i];

		gone[i] = !size || size > most;
		count += gone[i];
		if (!size)
			queue_refuse(queue, entry, i, why_bad(entry, (enum batch_format)to->format));
		else if (size > most)
			account_move(account, entry_row(entry), SPANS_DROPPED_OVERSIZE, 1);
	}
	return count;
}

/* The entry has @to, taken over, without what cannot be sent. */
static bool take_encoded(struct queue *queue, struct entry *entry, struct batch *to, size_t most)
{
	g_autofree uint8_t *gone = g_malloc(to->count);
	struct batch *rest;

	if (sort_out(queue, entry, to, most, gone)) {
		rest = batch_without(to, gone);
		batch_unref(to);
		to = rest;
		if (!queue_exchange(queue, entry, batch_without(entry->batch, gone))) {
			batch_unref(to);
			return false;
		}
	}
	entry_set_wire(entry, to);
	return true;
}

bool encode_entry(struct queue *queue, struct entry *entry, enum batch_format format)
{
	struct queue_treatment with;
	struct encoding is;
	struct batch *to;

	if (!retag_entry(queue, entry))
		return false;
	with = queue_treatment(queue);
	begin(&is, format, with.tags);
	to = is_ready(&is, entry->batch->format) ? NULL : encode_all(&is, entry->batch);
	end(&is);
	return !to || take_encoded(queue, entry, to, with.batch_bytes);
}
