/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading attributes of OTLP: of any type. Their texts borrow from the bytes; numbers, lists and maps are
 * written as texts into the memory, which must have room for them, so that nothing moves.
 */
#ifndef ENCODE_OTLPATTRIBUTES_H
#define ENCODE_OTLPATTRIBUTES_H

#include "core/spanmemory.h"
#include "core/text.h"
#include "net/protobuf.h"

/* The most that attributes within so many bytes need of `texts`. */
#define OTLPATTRIBUTES_TEXTS(size) (4 * (size_t)(size) + 128)

/* A field that is one. */
static inline struct text otlpattributes_text(const struct protobuf_field *field)
{
	return (struct text){(const char *)field->bytes, (uint32_t)field->size};
}

/* A KeyValue; what is nested too deep is none, as core/value.h has it. False if it is damaged. */
bool otlpattributes_read(struct tag *tag, const struct protobuf_field *attribute, struct buffer *texts);

/* Appends those in a message, which is good, to the memory's tags: the fields of a number. */
struct attributes otlpattributes_take(const struct protobuf_field *message, uint32_t field,
	uint32_t dropped_field, struct span_memory *memory);

#endif
