/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ExportTraceServiceRequest of OTLP in Protocol Buffers
 * (opentelemetry/proto/collector/trace/v1/trace_service.proto), as the OpenTelemetry Collector, Jaeger, Tempo
 * and most vendors take it.
 */
#ifndef NET_OTLPREQUEST_H
#define NET_OTLPREQUEST_H

#include "net/payload.h"

/* @host, the node's name, is copied: the attributes host.name and service.instance.id are made of it. */
struct payload *otlprequest_create(const char *host);

#endif
