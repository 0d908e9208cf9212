/* SPDX-License-Identifier: BSD-2-Clause */
/* A Scribe message of Zipkin's category: base64 of one version 1 span in TBinary. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/*
 * Appends the spans (struct span2) that @message, of @size bytes, makes to @spans. Returns false, @spans as
 * it was, having written to @error what is wrong with it. Line breaks in the base64 and padding that is
 * missing are fine.
 */
bool message_decode(const char *message, size_t size, GPtrArray *spans, char *error, size_t error_size);

/* The same for the span's own bytes, without base64. */
bool message_decode_span(const void *bytes, size_t size, GPtrArray *spans, char *error, size_t error_size);

#endif
