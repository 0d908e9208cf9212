/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding: a span as Zipkin's version 1 Span in TBinary (proto/zipkinCore.thrift), packed by hand.
 *
 * A kind becomes the core annotations at both ends: cs and cr, sr and ss, ms, mr. They carry the local
 * endpoint. A span without them has it in its last tag, or in an empty tag `lc`. Nothing else carries it, as
 * an endpoint tends to be longer than what it belongs to. The server's half of a shared span goes without
 * timestamp and duration: that is how version 1 says shared. Invalid UTF-8 becomes U+FFFD, as collectors
 * other than Zipkin refuse it.
 */
#ifndef ENCODE_ZIPKIN_H
#define ENCODE_ZIPKIN_H

#include "base/buffer.h"
#include "core/span.h"

/* A span that could become larger than this is not encoded. */
#define ZIPKIN_SPAN_MAX (16 * 1024 * 1024)

/* Appends @span to @out; returns how many of its texts had to be repaired, or -1 if it is too large. */
int zipkin_encode(struct buffer *out, const struct span *span);

#endif
