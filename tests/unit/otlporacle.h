/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans in OTLP, by the code that protoc-c generates from proto/otlp.proto: what the agent's encoder is
 * compared with. */
#ifndef OTLPORACLE_H
#define OTLPORACLE_H

#include <glib.h>

#include "core/span.h"

/* One span as a Span. */
GByteArray *otlporacle_span(const struct span *span);

/* Spans as an ExportTraceServiceRequest: those of one process below one resource, in the order of their first
 * spans. */
GByteArray *otlporacle_request(const struct span *spans, size_t count, const char *host, const char *version);

#endif
