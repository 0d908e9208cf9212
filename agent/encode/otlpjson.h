/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP's request as JSON, in one line, as the OpenTelemetry Collector's file exporter writes it: names in
 * camelCase, ids in hex, numbers of 64 bits as texts.
 */
#ifndef ENCODE_OTLPJSON_H
#define ENCODE_OTLPJSON_H

#include <stdbool.h>

#include "base/buffer.h"
#include "encode/spanread.h"

/* Appends an ExportTraceServiceRequest, without an end of line; false, having appended nothing, if it is
 * damaged. */
bool otlpjson_put(struct buffer *out, const uint8_t *request, size_t size);

/* Whether it looks like a line of this, and not like a span of Zipkin. */
bool otlpjson_is(const char *line, size_t size);

struct otlpjson_sink {
	void (*take)(void *data, const struct span *span); /* valid during the call */
	void *data;
};

/* Reads a line, and gives each of its spans; false if it is none, or one of its spans is none. What this
 * agent has made up is read as it was before it was encoded; of others, a span has all that they say. */
bool otlpjson_read(
	const char *line, size_t size, struct span_memory *memory, const struct otlpjson_sink *sink);

#endif
