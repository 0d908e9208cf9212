/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding: a span as Zipkin's version 1 Span in TBinary (proto/zipkinCore.thrift), packed by hand.
 *
 * A kind becomes core annotations: cs and cr, sr and ss, ms, or mr. They carry the local endpoint. A span
 * without them has it in its last tag, or in an empty tag `lc`. Nothing else carries it, because an endpoint
 * is often longer than what it belongs to. The server's half of a shared span has no timestamp and duration:
 * this is how version 1 marks it as shared. What the tag `error` says is also in a tag
 * `otel.status_description`, as OpenTelemetry's translator takes it from there alone. What Zipkin has no
 * word for is as in zipkinplain.h. Invalid UTF-8 becomes U+FFFD, because collectors other than Zipkin refuse
 * it.
 */
#ifndef ENCODE_ZIPKIN_H
#define ENCODE_ZIPKIN_H

#include "base/buffer.h"
#include "core/span.h"

/* The key of that tag. */
#define ZIPKIN_STATUS_DESCRIPTION "otel.status_description"

/* A span that could become larger than this is not encoded. */
#define ZIPKIN_SPAN_MAX (16 * 1024 * 1024)

/* Appends @span to @out; returns how many of its texts were repaired, or -1 if it is too large. */
int zipkin_encode(struct buffer *out, const struct span *span);

#endif
