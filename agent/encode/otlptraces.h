/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a request of OTLP, an ExportTraceServiceRequest (opentelemetry/proto/collector/trace/v1), from any
 * SDK: each of its spans with all that was said of it, as struct span with `more`. One request at a time.
 */
#ifndef ENCODE_OTLPTRACES_H
#define ENCODE_OTLPTRACES_H

#include "core/spanmemory.h"
#include "encode/otlpcheck.h"

/* Zero it first. What it grows to follows from the largest span, not from the request. */
struct otlptraces_memory {
	struct span_memory process, scope, span;
	struct buffer request, texts; /* of one in JSON */
};

static inline void otlptraces_memory_free(struct otlptraces_memory *memory)
{
	span_memory_free(&memory->process);
	span_memory_free(&memory->scope);
	span_memory_free(&memory->span);
	buffer_free(&memory->request);
	buffer_free(&memory->texts);
}

struct otlptraces_sink {
	/* A span, which borrows from the request and the memory, and is valid during the call. */
	void (*take)(void *data, const struct span *span);
	/* One that is none; @why goes on where a sentence has begun with the span. */
	void (*refuse)(void *data, const char *why);
	void *data;
};

/* What otlpcheck.h has of a request; false if it is damaged, or a text in it is not UTF-8. */
bool otlptraces_check(const uint8_t *request, size_t size, struct otlpcheck_found *found);

/* Gives each span of a request that otlptraces_check has found good to the sink. */
void otlptraces_read_checked(const uint8_t *request, size_t size, const struct otlpcheck_found *found,
	struct otlptraces_memory *memory, const struct otlptraces_sink *sink);

/* Gives each span to the sink. False, and none was given, if the request is damaged, or a text in it is not
 * UTF-8. */
bool otlptraces_read(const uint8_t *request, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink);

/* The same of one ResourceSpans of a request. */
bool otlptraces_read_process(const uint8_t *resource_spans, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink);

/* The same of a request that is JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
bool otlptraces_read_json(const char *request, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink);

#endif
