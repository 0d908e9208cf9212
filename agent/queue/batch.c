/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/batch.h"

#include <stdlib.h>

#include "base/memory.h"

const char *batch_format_name(uint8_t format)
{
	static const char *const names[BATCH_FORMATS] = {[BATCH_ZIPKIN_SPANS] = "zipkin-spans",
		[BATCH_ZIPKIN_JSON] = "zipkin-json",
		[BATCH_OTLP_SPANS] = "otlp-spans",
		[BATCH_EVENT_JSON] = "event-json",
		[BATCH_EVENT_OTLP] = "event-otlp",
		[BATCH_MESSAGES] = "messages",
		[BATCH_SPAN_RECORDS] = "spans",
		[BATCH_EVENT_RECORDS] = "events"};

	return format < BATCH_FORMATS ? names[format] : "unknown";
}

enum kind batch_kind(uint8_t format)
{
	switch (format) {
	case BATCH_EVENT_JSON:
	case BATCH_EVENT_OTLP:
	case BATCH_EVENT_RECORDS:
		return KIND_EVENTS;
	case BATCH_MESSAGES:
		return KIND_MESSAGES;
	default:
		return KIND_SPANS;
	}
}

struct batch *batch_create(enum batch_format format, uint32_t count, size_t bytes)
{
	struct batch *batch = memory_get(sizeof(*batch));

	atomic_init(&batch->owners, 1);
	batch->format = (uint8_t)format;
	buffer_reserve(&batch->spans, bytes);
	buffer_reserve(&batch->sizes, count * sizeof(uint32_t));
	buffer_reserve(&batch->events, count * sizeof(int64_t));
	return batch;
}

void batch_add(struct batch *batch, const uint8_t *item, size_t size, int64_t event_time)
{
	buffer_put(&batch->spans, item, size);
	batch_added(batch, size, event_time);
}

void batch_add_run(struct batch *batch, const uint8_t *items, const uint32_t *sizes,
	const int64_t *event_times, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		bytes += sizes[i];
	buffer_put(&batch->spans, items, bytes);
	buffer_put(&batch->sizes, sizes, count * sizeof(*sizes));
	buffer_put(&batch->events, event_times, count * sizeof(*event_times));
	batch->count += count;
}

void batch_clear(struct batch *batch)
{
	batch->spans.size = batch->sizes.size = batch->events.size = 0;
	batch->count = 0;
}

struct batch *batch_renew(struct batch *batch)
{
	struct batch *next;

	if (atomic_load_explicit(&batch->owners, memory_order_acquire) == 1) {
		batch_clear(batch);
		return batch;
	}
	next = batch_create(batch->format, batch->count, batch->spans.size);
	batch_unref(batch);
	return next;
}

struct batch *batch_ref(struct batch *batch)
{
	atomic_fetch_add_explicit(&batch->owners, 1, memory_order_relaxed);
	return batch;
}

void batch_unref(struct batch *batch)
{
	if (!batch || atomic_fetch_sub_explicit(&batch->owners, 1, memory_order_acq_rel) > 1)
		return;
	buffer_free(&batch->spans);
	buffer_free(&batch->sizes);
	buffer_free(&batch->events);
	receipt_unref(batch->receipt);
	free(batch);
}

struct batch *batch_without(const struct batch *batch, const uint8_t *left_out)
{
	const uint8_t *item = batch->spans.data;
	struct batch *rest;
	uint32_t count = 0;
	size_t bytes = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		count += !left_out[i];
		bytes += left_out[i] ? 0 : batch_sizes(batch)[i];
	}
	rest = batch_create(batch->format, count, bytes);
	rest->born = batch->born;
	rest->rules = batch->rules;
	rest->otlp_names = batch->otlp_names;
	for (uint32_t i = 0; i < batch->count; i++) {
		if (!left_out[i])
			batch_add(rest, item, batch_sizes(batch)[i], batch_events(batch)[i]);
		item += batch_sizes(batch)[i];
	}
	return rest;
}

size_t batch_bytes(const struct batch *batch)
{
	return sizeof(*batch) + batch->spans.room + batch->sizes.room + batch->events.room;
}
