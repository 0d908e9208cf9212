/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding: a span as a JSON object of Zipkin's version 2 (the schema of its POST /api/v2/spans), written by
 * hand.
 *
 * The core annotations of classic spans become what version 2 has for them: a kind, and the times that it has
 * by itself. Keys are written once: of tags with the same key the last one counts, as in Zipkin. What
 * Zipkin has no word for is as in zipkinplain.h. Invalid UTF-8 becomes U+FFFD.
 */
#ifndef ENCODE_ZIPKINJSON_H
#define ENCODE_ZIPKINJSON_H

#include "base/buffer.h"
#include "core/span.h"

/* A span that could become larger than this is not encoded. */
#define ZIPKINJSON_SPAN_MAX (16 * 1024 * 1024)

/* Appends @span to @out; returns how many of its texts were repaired, or -1 if it is too large. */
int zipkinjson_encode(struct buffer *out, const struct span *span);

#endif
