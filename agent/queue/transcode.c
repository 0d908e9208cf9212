/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/transcode.h"

#include <glib.h>

#include "encode/messagelog.h"
#include "queue/format.h"
#include "queue/retag.h"

bool transcode_read(
	struct span *span, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	switch (format) {
	case BATCH_ZIPKIN_SPANS:
		return spanread_thrift(span, item, size, memory);
	case BATCH_ZIPKIN_JSON:
		return spanread_json(span, item, size, memory);
	case BATCH_OTLP_SPANS:
		return spanread_otlp(span, item, size, memory);
	default:
		return false;
	}
}

/* An event that waited for another type of output is a log record whose body is its JSON. */
static void put_event(struct buffer *out, const uint8_t *item, size_t size, int64_t event)
{
	static const char category[] = "LTTng";
	const struct message message = {.time = event,
		.category = (const uint8_t *)category,
		.category_size = sizeof(category) - 1,
		.payload = item,
		.payload_size = (uint32_t)size};

	messagelog_put(out, &message);
}

/* False if it is none, or cannot be had in that format. */
static bool add_event(struct batch *to, const uint8_t *item, size_t size, uint8_t format, int64_t event)
{
	struct buffer encoded = {0};

	if (format != BATCH_EVENT_JSON || to->format != BATCH_EVENT_OTLP)
		return false;
	if (size)
		put_event(&encoded, item, size, event);
	batch_add(to, encoded.data, encoded.size, event);
	buffer_free(&encoded);
	return true;
}

/* Adds the item to @to; one that was too large before still is. */
static bool add_item(struct batch *to, const uint8_t *item, size_t size, uint8_t format, int64_t event,
	struct span_memory *memory)
{
	struct buffer encoded = {0};
	struct span span;
	bool good;

	if (batch_kind(to->format) != KIND_SPANS)
		return add_event(to, item, size, format, event);
	good = !size || transcode_read(&span, format, item, size, memory);

	if (size && good)
		good = format_encode(to->format, &encoded, &span) >= 0;
	if (good)
		batch_add(to, encoded.data, encoded.size, event);
	buffer_free(&encoded);
	return good;
}

/* Its items in @format; the places of those that cannot be read, which are not there, are added to @bad. */
static struct batch *convert(const struct batch *batch, enum batch_format format, GArray *bad)
{
	struct batch *to = batch_create(format, batch->count, batch->spans.size);
	const uint8_t *at = batch->spans.data;
	struct span_memory memory = {0};

	for (uint32_t i = 0; i < batch->count; i++) {
		size_t size = batch_sizes(batch)[i];

		if (!add_item(to, at, size, batch->format, batch_events(batch)[i], &memory))
			g_array_append_val(bad, i);
		at += size;
	}
	span_memory_free(&memory);
	return to;
}

struct batch *transcode(const struct batch *batch, enum batch_format format)
{
	g_autoptr(GArray) bad = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct batch *to = convert(batch, format, bad);

	if (!bad->len)
		return to;
	batch_unref(to);
	return NULL;
}

static bool convert_entry(struct queue *queue, struct entry *entry, enum batch_format format)
{
	g_autoptr(GArray) bad = NULL;
	struct batch *to;

	if (entry->batch->format == format)
		return true;
	bad = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	to = convert(entry->batch, format, bad);
	for (guint i = 0; i < bad->len; i++)
		queue_refuse(queue, entry, g_array_index(bad, uint32_t, i),
			to->count ? "cannot be read, to be sent in the format of this output"
				  : "stored in a format that this output does not send");
	return queue_exchange(queue, entry, to);
}

bool transcode_entry(struct queue *queue, struct entry *entry, enum batch_format format)
{
	return convert_entry(queue, entry, format) && retag_entry(queue, entry);
}

const struct batch *transcode_any(const struct batches *items)
{
	for (int i = 0; i < BATCH_FORMATS; i++)
		if (items->of[i])
			return items->of[i];
	return NULL;
}

struct batch *transcode_missing(const struct batches *items, enum batch_format format)
{
	const struct batch *from = transcode_any(items);
	struct batch *made = from ? transcode(from, format) : NULL;

	if (made)
		return made;
	made = batch_create(format, items->count, 0);
	for (uint32_t i = 0; i < items->count; i++)
		batch_add(made, NULL, 0, 0);
	return made;
}
