/* SPDX-License-Identifier: BSD-2-Clause */
/* The LTTng events of BlkKin as of 2014: zipkin:timestamp and zipkin:keyval. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "layout2014.h"

#if !defined(LAYOUT2014_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LAYOUT2014_H_

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval,
	LTTNG_UST_TP_ARGS(const char *, span_name, const char *, service, int, port, const char *, address,
		long, trace, long, span, long, parent, const char *, tag, const char *, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, span_name)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, address)
		lttng_ust_field_integer(long, trace_id, trace)
		lttng_ust_field_integer(long, span_id, span)
		lttng_ust_field_integer(long, parent_span_id, parent)
		lttng_ust_field_string(key, tag)
		lttng_ust_field_string(val, value)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	timestamp,
	LTTNG_UST_TP_ARGS(const char *, span_name, const char *, service, int, port, const char *, address,
		long, trace, long, span, long, parent, const char *, what),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, span_name)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, address)
		lttng_ust_field_integer(long, trace_id, trace)
		lttng_ust_field_integer(long, span_id, span)
		lttng_ust_field_integer(long, parent_span_id, parent)
		lttng_ust_field_string(event, what)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
