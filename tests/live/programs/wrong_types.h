/* SPDX-License-Identifier: BSD-2-Clause */
/* Events named as ours with other fields. WRONG_PROVIDER is blkin or zipkin, WRONG_EVENT one of its events.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER WRONG_PROVIDER

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "wrong_types.h"

#if !defined(WRONG_TYPES_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WRONG_TYPES_H_

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	WRONG_PROVIDER,
	WRONG_EVENT,
	LTTNG_UST_TP_ARGS(int, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_id, text)
		lttng_ust_field_float(double, span_id, 1.5)
		lttng_ust_field_integer(int, name, number)
		lttng_ust_field_array(char, data, text, 4)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
