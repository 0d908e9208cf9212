/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The version 1 spans on the wire become version 2 spans, by the rules of Zipkin's own collector: what `blkin
 * collect` shows is what Zipkin would. A version 1 span may hold the annotations of several hosts; it becomes
 * one span for each service. (The agent's own reader, encode/spanread.h, makes one span of each, as what it
 * reads is delivered, and counted, one for one.)
 */
#ifndef SPANS_V1_TO_V2_H
#define SPANS_V1_TO_V2_H

#include <glib.h>

#include "spans/v1_annotations.h"

/*
 * Appends to @spans (of struct span2) what @v1 makes. Returns NULL, or what is wrong with it: then @spans is
 * as it was.
 */
const char *v1_to_v2(const struct v1_span *v1, GPtrArray *spans);

/* What is wrong with its ids; NULL: nothing. */
const char *v1_wrong_ids(uint64_t trace_id_high, uint64_t trace_id, uint64_t id);

#endif
