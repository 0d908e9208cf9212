/* SPDX-License-Identifier: BSD-2-Clause */
/* BlkKin's classic LTTng events, as ceph/blkin lays them out: provider `zipkin`. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "classic_tracepoints.h"

#if !defined(CLASSIC_TRACEPOINTS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CLASSIC_TRACEPOINTS_H_

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval_string,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip_text,
		int64_t, trace, int64_t, span, int64_t, parent_span, const char *, tag_key, const char *, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, trace_name)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip_text)
		lttng_ust_field_integer(int64_t, trace_id, trace)
		lttng_ust_field_integer(int64_t, span_id, span)
		lttng_ust_field_integer(int64_t, parent_span_id, parent_span)
		lttng_ust_field_string(key, tag_key)
		lttng_ust_field_string(val, value)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_string, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval_integer,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip_text,
		int64_t, trace, int64_t, span, int64_t, parent_span, const char *, tag_key, int64_t, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, trace_name)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip_text)
		lttng_ust_field_integer(int64_t, trace_id, trace)
		lttng_ust_field_integer(int64_t, span_id, span)
		lttng_ust_field_integer(int64_t, parent_span_id, parent_span)
		lttng_ust_field_string(key, tag_key)
		lttng_ust_field_integer(int64_t, val, value)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_integer, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	timestamp,
	LTTNG_UST_TP_ARGS(const char *, trace_name, const char *, service, int, port, const char *, ip_text,
		int64_t, trace, int64_t, span, int64_t, parent_span, const char *, event_text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, trace_name)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip_text)
		lttng_ust_field_integer(int64_t, trace_id, trace)
		lttng_ust_field_integer(int64_t, span_id, span)
		lttng_ust_field_integer(int64_t, parent_span_id, parent_span)
		lttng_ust_field_string(event, event_text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, timestamp, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
