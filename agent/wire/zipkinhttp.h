/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zipkin's HTTP on the wire: POST of a list of spans, as Zipkin, the OpenTelemetry Collector, Jaeger and
 * Tempo take it: in Thrift's TBinary, or as JSON objects of version 2.
 */
#ifndef WIRE_ZIPKINHTTP_H
#define WIRE_ZIPKINHTTP_H

#include "wire/httppost.h"
#include "wire/wire.h"

/* What @options refers to is copied; the content type is ours. */
struct wire *zipkinhttp_create(const struct httppost_options *options, bool json);

#endif
