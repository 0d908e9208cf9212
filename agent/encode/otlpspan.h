/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a span of OTLP as its SDK sent it: as struct span with `more`. What is read was checked before, by
 * otlpcheck.h, and is read into memory that has the room which that found.
 */
#ifndef ENCODE_OTLPSPAN_H
#define ENCODE_OTLPSPAN_H

#include "encode/otlpattributes.h"
#include "encode/otlpcheck.h"

/* What spans have of their process and their scope. Zero it first. */
struct otlpspan_context {
	struct span span;
	struct span_more more;
};

/* Makes room behind what is in the memory, whose buffers may move, for what is read of one message. */
void otlpspan_reserve(struct span_memory *memory, const struct otlpcheck_found *most);

/* Sets the context as a ResourceSpans, or a ScopeSpans, has it. */
void otlpspan_process(struct otlpspan_context *context, const struct protobuf_field *resource_spans,
	struct span_memory *memory);
void otlpspan_scope(struct otlpspan_context *context, const struct protobuf_field *scope_spans,
	struct span_memory *memory);

/*
 * Reads a Span. Returns NULL, or why it cannot be taken, as the rest of a sentence that begins with the span.
 * It borrows from the bytes, the memory, and what the context borrows from.
 */
const char *otlpspan_read(struct span *span, const struct otlpspan_context *context,
	const struct protobuf_field *bytes, struct span_memory *memory);

/* Reads just the events and links of a Span, which has so many: into the span and its `more`, and what is
 * behind that. */
void otlpspan_nested(struct span *span, struct span_more *more, const struct otlpcheck_found *most,
	const struct protobuf_field *bytes, struct span_memory *memory);

#endif
