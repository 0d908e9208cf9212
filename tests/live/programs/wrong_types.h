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

#ifdef WRONG_MORE
/* All that a span has, and a field more: one of a real level, and one of a level that there is not. */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	WRONG_PROVIDER,
	more,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, trace_id, number)
		lttng_ust_field_integer(uint64_t, span_id, number)
		lttng_ust_field_integer(uint64_t, parent_id, number)
		lttng_ust_field_integer(uint64_t, start, number)
		lttng_ust_field_string(name, text)
		lttng_ust_field_string(data, text)
		lttng_ust_field_integer(uint64_t, finish, number)
	)
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(WRONG_PROVIDER, more, WRONG_PROVIDER, span_err,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(WRONG_PROVIDER, more, WRONG_PROVIDER, span_loud,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text))
/* What only the newer layout could be taken for: a number as its text, another field, and a text that is none. */
LTTNG_UST_TRACEPOINT_EVENT(
	WRONG_PROVIDER,
	span2,
	LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, text, number))
)
LTTNG_UST_TRACEPOINT_EVENT(
	WRONG_PROVIDER,
	span2_err,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, whole),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, whole)
		lttng_ust_field_integer(uint64_t, finish, number)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(
	WRONG_PROVIDER,
	span2_crit,
	LTTNG_UST_TP_ARGS(const char *, whole),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_string(text, whole))
)
#endif
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
