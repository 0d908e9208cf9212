/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans as Zipkin shows them, of those that this process has, or its agent: names in lower case, what Zipkin
 * has no word for as tags, and core annotations as a kind and times. The tag that an output in Thrift adds is
 * left out.
 */
#ifndef SPANS_SHOWN_H
#define SPANS_SHOWN_H

#include <glib.h>

#include "core/spanmemory.h"

/* Appends the span (of struct span2) to @spans. Returns NULL, or what is wrong with it: then @spans is as it
 * was. */
const char *shown_span(const struct span *span, GPtrArray *spans);

/*
 * The same of a batch's item of that format (queue/item.h), read into @memory. One in Thrift is as its sender
 * wrote it, and may be several. What is wrong is written to @error, of @error_size bytes, and false returned.
 */
bool shown_item(uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory,
	GPtrArray *spans, char *error, size_t error_size);

#endif
