/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LTTng events of libblkin-provider: provider `blkin`, events span (and span_LEVEL), annotation and tag.
 *
 * All text is in `string` fields: babeltrace decodes arrays and sequences one element at a time, 40 ns a
 * byte.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints.h"

#if !defined(TRACEPOINTS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACEPOINTS_H_

#include <lttng/tracepoint.h>

#include <blkin/record.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	blkin,
	span_class,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id_high, r->trace_id_high)
		lttng_ust_field_integer_hex(uint64_t, trace_id, r->trace_id)
		lttng_ust_field_integer_hex(uint64_t, span_id, r->span_id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, r->parent_id)
		lttng_ust_field_integer(uint64_t, start, r->start)
		lttng_ust_field_integer(uint64_t, finish, r->finish)
		lttng_ust_field_integer_hex(uint16_t, flags, r->flags)
		lttng_ust_field_integer(uint16_t, pieces, r->pieces)
		lttng_ust_field_integer(uint16_t, port, r->port)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(service, r->service)
		lttng_ust_field_string(ip, r->ip)
		lttng_ust_field_string(data, r->data)
	)
)
/* One event a severity level, so that a session chooses by LTTng's log levels. */
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_emerg,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_emerg, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_alert,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_alert, LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_crit,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_crit, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_err,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_err, LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_warning,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_warning, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_notice,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_notice, LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_debug,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_debug, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)

/* Pieces come with spans of any level, so they are of the highest. */
LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	annotation,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r, uint64_t, when, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id_high, r->trace_id_high)
		lttng_ust_field_integer_hex(uint64_t, trace_id, r->trace_id)
		lttng_ust_field_integer_hex(uint64_t, span_id, r->span_id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, r->parent_id)
		lttng_ust_field_integer_hex(uint16_t, flags, r->flags)
		lttng_ust_field_integer(uint64_t, time, when)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(service, r->service)
		lttng_ust_field_string(value, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, annotation, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	tag,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r, const char *, tag_key, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id_high, r->trace_id_high)
		lttng_ust_field_integer_hex(uint64_t, trace_id, r->trace_id)
		lttng_ust_field_integer_hex(uint64_t, span_id, r->span_id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, r->parent_id)
		lttng_ust_field_integer_hex(uint16_t, flags, r->flags)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(service, r->service)
		lttng_ust_field_string(key, tag_key)
		lttng_ust_field_string(value, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, tag, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
