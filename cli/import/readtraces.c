/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/readtraces.h"

#include "import/aroundspans.h"
#include "reader/decode/reader.h"
#include "spans/shown.h"
#include "status/trace/span2.h"

static bool read_all(struct reader *reader, struct guard *guard)
{
	enum reader_status status;

	do {
		status = reader_step(reader);
		atomic_fetch_add(&guard->steps, 1);
	} while (status == READER_MORE || status == READER_IDLE);
	return status != READER_ERROR;
}

bool traces_read(const struct config *config, const GPtrArray *traces, const struct traces_wanted *wanted,
	struct guard *guard, char *error, size_t error_size)
{
	struct assembler_limits limits = pipeline_limits(config);
	struct pipeline *pipeline = pipeline_create(&limits, wanted->events, wanted->sink);
	const struct intake_options into = {.pipeline = pipeline,
		.by_event_time = true,
		.one_offset = true,
		.seen = wanted->seen,
		.data = wanted->data};
	struct reader *reader =
		reader_open_files((char *const *)traces->pdata, traces->len, &into, error, error_size);
	bool whole = reader && read_all(reader, guard);

	if (reader && !whole)
		g_strlcpy(error, reader_error(reader), error_size);
	pipeline_flush(pipeline);
	/* babeltrace2 leaks what it failed with */
	if (whole)
		reader_close(reader);
	pipeline_destroy(pipeline);
	return whole;
}

/* Takes those of @spans that are wanted over, and empties it; returns how many found no room. */
static uint64_t keep_spans(GPtrArray *whole, GPtrArray *spans, uint64_t id, bool by_span)
{
	uint64_t refused = 0;

	while (spans->len) {
		struct span2 *span = g_ptr_array_steal_index(spans, spans->len - 1);
		bool wanted = span->trace_id == id || (by_span && span->id == id);

		if (wanted && whole->len < AROUND_SPANS_MAX) {
			g_ptr_array_add(whole, span);
			continue;
		}
		refused += wanted;
		span2_free(span);
	}
	return refused;
}

uint64_t traces_keep_spans(GPtrArray *whole, const struct items *made, uint64_t id, bool by_span)
{
	g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(span2_free);
	const struct batch *batch = made->batch;
	const uint8_t *at = batch->spans.data;
	struct span_memory memory = {0};
	uint64_t refused = 0;
	char error[256];

	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++])
		if (shown_item(
			    batch->format, at, batch_sizes(batch)[i], &memory, spans, error, sizeof(error)))
			refused += keep_spans(whole, spans, id, by_span);
	span_memory_free(&memory);
	return refused;
}
