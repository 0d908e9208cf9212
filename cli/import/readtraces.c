/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/readtraces.h"

#include "import/aroundspans.h"
#include "queue/encoding.h"
#include "reader/decode/reader.h"
#include "spans/decode.h"
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

static void keep_span(GPtrArray *whole, const uint8_t *bytes, size_t size, uint64_t id, bool by_span)
{
	g_autoptr(GPtrArray) spans = g_ptr_array_new_with_free_func(span2_free);
	char error[256];

	if (!decode_own_span(bytes, size, spans, error, sizeof(error)))
		return;
	while (spans->len) {
		struct span2 *span = g_ptr_array_steal_index(spans, spans->len - 1);
		bool wanted = span->trace_id == id || (by_span && span->id == id);

		if (wanted && whole->len < AROUND_SPANS_MAX)
			g_ptr_array_add(whole, span);
		else
			span2_free(span);
	}
}

void traces_keep_spans(GPtrArray *whole, const struct items *made, uint64_t id, bool by_span)
{
	struct batch *batch = encode_batch(made->batch, BATCH_ZIPKIN_SPANS, NULL);
	const uint8_t *at = batch->spans.data;

	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++])
		if (batch_sizes(batch)[i])
			keep_span(whole, at, batch_sizes(batch)[i], id, by_span);
	batch_unref(batch);
}
