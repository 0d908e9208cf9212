/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span in terms that Zipkin's formats have: what is not among these becomes tags, as OpenTelemetry's own
 * exporter to Zipkin makes them (specification/trace/sdk_exporters/zipkin.md). For the encoders, and for who
 * shows it as Zipkin would.
 */
#ifndef ENCODE_ZIPKINPLAIN_H
#define ENCODE_ZIPKINPLAIN_H

#include <stdbool.h>

#include "core/span.h"

/* Whether it has anything else. */
static inline bool zipkinplain_is(const struct span *span)
{
	return !span->more && !span->added_count;
}

/* What takes a span that has nothing else: an encoder appends it to a buffer. */
typedef int zipkinplain_taker(void *to, const struct span *span);

/* Returns what @take does for the span as plain as that: its tags are those added, and then its own. */
int zipkinplain_take(void *to, const struct span *span, zipkinplain_taker *take);

#endif
