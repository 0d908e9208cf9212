/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP over HTTP on the wire: POST of an ExportTraceServiceRequest in Protocol Buffers
 * (opentelemetry/proto/collector/trace/v1/trace_service.proto; the rules are those of the OTLP
 * specification), as the OpenTelemetry Collector, Jaeger, Tempo and most vendors take it.
 */
#ifndef WIRE_OTLPHTTP_H
#define WIRE_OTLPHTTP_H

#include "wire/httppost.h"
#include "wire/wire.h"

/*
 * What @options refers to is copied; the content type is ours. @host is the node's name, of which the
 * attributes host.name and service.instance.id are made.
 */
struct wire *otlphttp_create(const struct httppost_options *options, const char *host);

#endif
