/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floor: the event of BlkKin's classic timestamp (4 strings and 4 integers) under a provider of its own,
 * linked as any program links its LTTng events, with nothing of BlkKin's in between.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "floor.h"

#if !defined(FLOOR_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FLOOR_H_

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	bench,
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
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
