/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span in terms that Zipkin's formats have: what is not among these becomes tags, as OpenTelemetry's own
 * exporter to Zipkin makes them (specification/trace/sdk_exporters/zipkin.md). For the encoders.
 */
#ifndef ENCODE_ZIPKINPLAIN_H
#define ENCODE_ZIPKINPLAIN_H

#include "base/buffer.h"
#include "core/span.h"

/* Whether it has anything else. */
static inline bool zipkinplain_is(const struct span *span)
{
	return !span->more && !span->added_count;
}

/* What encodes a span that has nothing else. */
typedef int zipkinplain_encoder(struct buffer *out, const struct span *span);

/* Returns what @encode does for the span as plain as that: its tags are those added, and then its own. */
int zipkinplain_encode(struct buffer *out, const struct span *span, zipkinplain_encoder *encode);

#endif
