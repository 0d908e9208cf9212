/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a request that brings spans: unpacked, and read in the formats that this project's outputs send
 * over HTTP. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

enum body_kind {
	BODY_OTLP,        /* ExportTraceServiceRequest in Protocol Buffers */
	BODY_OTLP_JSON,   /* the same as JSON */
	BODY_ZIPKIN_LIST, /* Zipkin's spans of version 1, a list in TBinary */
	BODY_ZIPKIN_JSON  /* of version 2, a list in JSON */
};

/* The most that a body may become. */
#define BODY_UNPACKED_MAX (64 * 1024 * 1024)

/* Appends to @out what is packed in @data: @encoding is gzip or zstd. False if it is damaged, or becomes too
 * large. */
bool body_unpack(const char *encoding, const uint8_t *data, size_t size, struct buffer *out);

/*
 * Appends the spans in it (of struct span2), as Zipkin would show them; false, with @spans as it was, if it
 * is not what it should be.
 */
bool body_read(enum body_kind kind, const uint8_t *data, size_t size, GPtrArray *spans);

#endif
