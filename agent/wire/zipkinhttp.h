/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zipkin's HTTP on the wire: POST of a list of spans in Thrift's TBinary, as Zipkin, the OpenTelemetry
 * Collector, Jaeger and Tempo take it.
 *
 * libevent's own HTTP client is not used: it keeps the socket to itself, so look-ups, addresses, TLS and what
 * was written of a call would all be done twice, and it sends one request at a time.
 */
#ifndef WIRE_ZIPKINHTTP_H
#define WIRE_ZIPKINHTTP_H

#include "base/address.h"
#include "wire/squeeze.h"
#include "wire/wire.h"

struct zipkinhttp_options {
	const struct address *server; /* for the Host header */
	const char *path;             /* as /api/v1/spans */
	bool json;                    /* spans are JSON objects, rather than Thrift's structs */
	enum squeeze_kind compression;
};

/* What @options refers to is copied. */
struct wire *zipkinhttp_create(const struct zipkinhttp_options *options);

#endif
