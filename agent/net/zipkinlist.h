/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of spans as Zipkin's collectors take it over HTTP and from Kafka, and as the OpenTelemetry
 * Collector, Jaeger and Tempo do: in Thrift's TBinary, or as JSON objects of version 2.
 */
#ifndef NET_ZIPKINLIST_H
#define NET_ZIPKINLIST_H

#include "net/payload.h"

enum zipkinlist_kind {
	ZIPKINLIST_THRIFT,
	ZIPKINLIST_JSON,
	ZIPKINLIST_ASCII_JSON, /* asciijson.h */
};

struct payload *zipkinlist_create(enum zipkinlist_kind kind);

#endif
