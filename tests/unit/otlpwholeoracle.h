/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as SDKs send them, by the code that protoc-c generates. */
#ifndef OTLPWHOLEORACLE_H
#define OTLPWHOLEORACLE_H

#include <glib.h>

#include "core/span.h"

/* Spans with `more` as an ExportTraceServiceRequest: those of one process together, and of those the ones of
 * one scope, in the order of their first spans. */
GByteArray *otlpwholeoracle_request(const struct span *const *spans, size_t count);

/* A request as the generated code packs what it unpacks; NULL: it is none. */
GByteArray *otlpwholeoracle_again(const uint8_t *request, size_t size);

#endif
