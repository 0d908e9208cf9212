/* SPDX-License-Identifier: BSD-2-Clause */
/* The LTTng events of spans as providers of before 0.2 write them: blkin:span and blkin:span_err. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "sixfields.h"

#if !defined(SIXFIELDS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SIXFIELDS_H_

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	blkin,
	six_fields,
	LTTNG_UST_TP_ARGS(uint64_t, id, uint64_t, begin, const char *, name_text, const char *, data_text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id, id)
		lttng_ust_field_integer_hex(uint64_t, span_id, id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, 0)
		lttng_ust_field_integer(uint64_t, start, begin)
		lttng_ust_field_string(name, name_text)
		lttng_ust_field_string(data, data_text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, six_fields, blkin, span,
	LTTNG_UST_TP_ARGS(uint64_t, id, uint64_t, begin, const char *, name_text, const char *, data_text))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, six_fields, blkin, span_err,
	LTTNG_UST_TP_ARGS(uint64_t, id, uint64_t, begin, const char *, name_text, const char *, data_text))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
