/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding: an encoded span is read back: one that comes by Scribe, and one that is to be encoded in another
 * format, as it waited while an output's format was changed, or is in a spool that an older version wrote.
 *
 * The texts borrow from the bytes, or from the memory.
 */
#ifndef ENCODE_SPANREAD_H
#define ENCODE_SPANREAD_H

#include "core/spanmemory.h"

void spanread_annotation(struct span_memory *memory, int64_t time, struct text value);
void spanread_tag(struct span_memory *memory, const struct tag *tag);

/* A time, and one of Zipkin's us, as ns; what cannot be is brought in range. */
int64_t spanread_time(int64_t ns);
int64_t spanread_ns(int64_t us);

/* The span has what was put so far. */
void spanread_lines(struct span_memory *memory, struct span *span);

/* Reads one Span in TBinary, as encode/zipkin.h makes it; false if it is none. */
bool spanread_thrift(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory);

/* Reads one span of Zipkin's version 2, whoever wrote it, as an object of JSON; false if it is none. */
bool spanread_json(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory);

/* Reads one item as encode/otlp.h makes it; false if it is none. */
bool spanread_otlp(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory);

#endif
