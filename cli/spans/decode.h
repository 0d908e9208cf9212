/* SPDX-License-Identifier: BSD-2-Clause */
/* From the bytes of a version 1 span, in TBinary and perhaps in base64, to the spans that Zipkin shows. */
#ifndef SPANS_DECODE_H
#define SPANS_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/*
 * Decodes a Scribe message: base64, in which line breaks and missing padding are fine. Appends the spans (of
 * struct span2) that it makes to @spans. Returns false, with @spans as it was, having written to @error what
 * is wrong.
 */
bool decode_message(const char *message, size_t size, GPtrArray *spans, char *error, size_t error_size);

/* The same for the span's own bytes, without base64. */
bool decode_span(const void *bytes, size_t size, GPtrArray *spans, char *error, size_t error_size);

#endif
