/* SPDX-License-Identifier: BSD-2-Clause */
/* LTTng events with the names, and the very arguments, of those of ceph/blkin's library. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ceph_events.h"

#if !defined(CEPH_EVENTS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CEPH_EVENTS_H_

#include <lttng/tracepoint.h>

/* clang-format off */
#define CEPH_FIELDS                                                                                          \
	lttng_ust_field_string(trace_name, trace_name)                                                       \
	lttng_ust_field_string(service_name, service)                                                        \
	lttng_ust_field_integer(int, port_no, port)                                                          \
	lttng_ust_field_string(ip, ip)                                                                       \
	lttng_ust_field_integer(long, trace_id, trace)                                                       \
	lttng_ust_field_integer(long, span_id, span)                                                         \
	lttng_ust_field_integer(long, parent_span_id, parent_span)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval_string,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip,
		long, trace, long, span, long, parent_span, const char *, key, const char *, val),
	LTTNG_UST_TP_FIELDS(CEPH_FIELDS lttng_ust_field_string(key, key) lttng_ust_field_string(val, val))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_string, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval_integer,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip,
		long, trace, long, span, long, parent_span, const char *, key, int64_t, val),
	LTTNG_UST_TP_FIELDS(
		CEPH_FIELDS lttng_ust_field_string(key, key) lttng_ust_field_integer(int64_t, val, val))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_integer, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	timestamp,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip,
		long, trace, long, span, long, parent_span, const char *, event),
	LTTNG_UST_TP_FIELDS(CEPH_FIELDS lttng_ust_field_string(event, event))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, timestamp, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
