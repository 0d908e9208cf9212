/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LTTng events of libblkin-provider: provider `blkin`, events span2 (and span2_LEVEL), annotation and
 * tag; and timestamp, keyval_string and keyval_integer, the classic ones.
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
/*
 * How a span is written. LTTng includes this file once for each stage of its code generation. In the stage
 * that writes to the ring buffer, a string is copied byte by byte. There it is written in one call, and as its
 * size is known, it is not searched for its end. The stage and its function for the size are recognised by
 * internal names of LTTng: if a name does not exist, that is done in LTTng's usual way.
 *
 * There is one field, as each costs its reader 350 instructions, whatever is in it. It is a string where
 * babeltrace2 is of 2.0, which takes 300 instructions a byte for a sequence of characters, and a sequence where
 * it is of 2.1, which takes 33 a byte for a string. Each reads both, and shows the same text.
 */
#undef BLKIN_TEXT
#ifdef lttng_ust__get_dynamic_len
#define lttng_ust__event_get_size__blkin___span_class blkin_span_size
#ifdef BLKIN_SEQUENCE
#define BLKIN_TEXT                                                                                           \
	__chan->ops->event_write(                                                                            \
		&__ctx, piece, BLKIN_FRONT_ + lttng_ust__get_dynamic_len(text), lttng_ust_rb_alignof(uint32_t));
#else
#define BLKIN_TEXT                                                                                           \
	__chan->ops->event_write(&__ctx, piece + BLKIN_FRONT_, lttng_ust__get_dynamic_len(text), 1);
#endif
#elif defined(BLKIN_SEQUENCE)
#define BLKIN_TEXT lttng_ust_field_sequence_text(char, text, piece + BLKIN_FRONT_, uint32_t, bytes - 1)
#else
#define BLKIN_TEXT lttng_ust_field_string(text, piece + BLKIN_FRONT_)
#endif

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	blkin,
	span_class,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes),
	LTTNG_UST_TP_FIELDS(BLKIN_TEXT)
)
#undef lttng_ust__event_get_size__blkin___span_class
/* One event for each severity level, so that a session can select by LTTng's log levels. */
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_emerg,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_emerg, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_alert,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_alert, LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_crit,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_crit, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_err,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_err, LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_warning,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_warning, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_notice,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_notice, LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span2_debug,
	LTTNG_UST_TP_ARGS(const char *, piece, size_t, bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span2_debug, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)

/*
 * Pieces belong to spans of any level, so they have the highest one. Their head is the first line of the
 * span's data.
 */
LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	annotation,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r, uint64_t, when, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id, r->trace_id)
		lttng_ust_field_integer_hex(uint64_t, span_id, r->span_id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, r->parent_id)
		lttng_ust_field_integer(uint64_t, time, when)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(head, r->data)
		lttng_ust_field_string(value, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, annotation, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	tag,
	LTTNG_UST_TP_ARGS(const struct blkin_span_record *, r, const char *, tag_key, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, trace_id, r->trace_id)
		lttng_ust_field_integer_hex(uint64_t, span_id, r->span_id)
		lttng_ust_field_integer_hex(uint64_t, parent_id, r->parent_id)
		lttng_ust_field_string(name, r->name)
		lttng_ust_field_string(head, r->data)
		lttng_ust_field_string(key, tag_key)
		lttng_ust_field_string(value, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, tag, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

/*
 * The classic calls. Their fields are those of ceph/blkin's events, but not their provider, `zipkin`: of two
 * definitions of one event in a process, LTTng refuses one or records both. They are always recorded. Their
 * fields are written in one piece, if they have been put together; see fields.h.
 */
#undef BLKIN_FIELDS
#ifdef lttng_ust__get_dynamic_len
#define lttng_ust__event_get_size__blkin___keyval_string blkin_fields_size
#define lttng_ust__event_get_size__blkin___keyval_integer blkin_fields_size
#define lttng_ust__event_get_size__blkin___timestamp blkin_fields_size
#define BLKIN_FIELDS(...)                                                                                    \
	if (fields->together) {                                                                              \
		__chan->ops->event_write(                                                                    \
			&__ctx, fields->piece, fields->size, lttng_ust_rb_alignof(int64_t));                 \
	} else {                                                                                             \
		BLKIN_CLASSIC_HEAD __VA_ARGS__                                                               \
	}
#else
#define BLKIN_FIELDS(...) BLKIN_CLASSIC_HEAD __VA_ARGS__
#endif
#undef BLKIN_CLASSIC_HEAD
#define BLKIN_CLASSIC_HEAD                                                                                   \
	lttng_ust_field_string(trace_name, fields->trace_name)                                               \
	lttng_ust_field_string(service_name, fields->service)                                                \
	lttng_ust_field_integer(int, port_no, fields->port)                                                  \
	lttng_ust_field_string(ip, fields->ip)                                                               \
	lttng_ust_field_integer(int64_t, trace_id, fields->ids[0])                                           \
	lttng_ust_field_integer(int64_t, span_id, fields->ids[1])                                            \
	lttng_ust_field_integer(int64_t, parent_span_id, fields->ids[2])

LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	keyval_string,
	LTTNG_UST_TP_ARGS(const struct fields *, fields),
	LTTNG_UST_TP_FIELDS(BLKIN_FIELDS(
		lttng_ust_field_string(key, fields->key)
		lttng_ust_field_string(val, fields->text)
	))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, keyval_string, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	keyval_integer,
	LTTNG_UST_TP_ARGS(const struct fields *, fields),
	LTTNG_UST_TP_FIELDS(BLKIN_FIELDS(
		lttng_ust_field_string(key, fields->key)
		lttng_ust_field_integer(int64_t, val, fields->number)
	))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, keyval_integer, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT(
	blkin,
	timestamp,
	LTTNG_UST_TP_ARGS(const struct fields *, fields),
	LTTNG_UST_TP_FIELDS(BLKIN_FIELDS(
		lttng_ust_field_string(event, fields->text)
	))
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, timestamp, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)
#undef lttng_ust__event_get_size__blkin___keyval_string
#undef lttng_ust__event_get_size__blkin___keyval_integer
#undef lttng_ust__event_get_size__blkin___timestamp
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
