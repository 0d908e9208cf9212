/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The version 1 spans on the wire become version 2 spans, by the rules of Zipkin's own collector: what `blkin
 * collect` shows is what Zipkin would. A version 1 span may hold the annotations of several hosts; it becomes
 * one span for each service.
 */
#ifndef SPANS_V1_TO_V2_H
#define SPANS_V1_TO_V2_H

#include <glib.h>

#include "zipkin_zipkin_core_types.h"

/*
 * Appends to @spans (of struct span2) what @v1 makes. Returns NULL, or what is wrong with it: then @spans is
 * as it was.
 */
const char *v1_to_v2(const ZipkinSpan *v1, GPtrArray *spans);

#endif
