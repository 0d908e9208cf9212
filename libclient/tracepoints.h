/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LTTng events of libblkin-provider: provider `blkin`, events span (and span_LEVEL), annotation and tag;
 * and timestamp, keyval_string and keyval_integer, the classic ones.
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
 * How a span's fields are written. LTTng includes this file once for each stage of its code generation. In
 * the stage that writes to the ring buffer, each field is a call, and a string is copied byte by byte. There
 * the numbers and texts that are adjacent are written in one call. And the texts' sizes are known, so they are
 * not searched for their ends. This makes 0.7 instead of 1.5 bare tracepoints. The stage and its function for
 * the size are recognised by internal names of LTTng: if a name does not exist, that is done in LTTng's usual
 * way.
 */
#undef BLKIN_NUMBERS
#undef BLKIN_TEXTS
#ifdef lttng_ust__get_dynamic_len
#define lttng_ust__event_get_size__blkin___span_class blkin_span_size
#define BLKIN_NUMBERS                                                                                        \
	{                                                                                                    \
		size_t name_size = lttng_ust__get_dynamic_len(name);                                         \
		size_t data_size = lttng_ust__get_dynamic_len(data);                                         \
		size_t size = BLKIN_NUMBERS_SIZE;                                                            \
                                                                                                             \
		if (name_text == (const char *)numbers + size && name_text + name_size == data_text)         \
			size += name_size + data_size;                                                       \
		__chan->ops->event_write(&__ctx, numbers, size, lttng_ust_rb_alignof(uint64_t));             \
		if (size == BLKIN_NUMBERS_SIZE && name_text + name_size == data_text) {                      \
			__chan->ops->event_write(&__ctx, name_text, name_size + data_size, 1);               \
		} else if (size == BLKIN_NUMBERS_SIZE) {                                                     \
			__chan->ops->event_strcpy(&__ctx, name_text, name_size);                             \
			__chan->ops->event_strcpy(&__ctx, data_text, data_size);                             \
		}                                                                                            \
	}
#define BLKIN_TEXTS
#else
#define BLKIN_NUMBERS                                                                                        \
	lttng_ust_field_integer_hex(uint64_t, trace_id, numbers[0])                                          \
	lttng_ust_field_integer_hex(uint64_t, span_id, numbers[1])                                           \
	lttng_ust_field_integer_hex(uint64_t, parent_id, numbers[2])                                         \
	lttng_ust_field_integer(uint64_t, start, numbers[3])
#define BLKIN_TEXTS lttng_ust_field_string(name, name_text) lttng_ust_field_string(data, data_text)
#endif

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	blkin,
	span_class,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes),
	LTTNG_UST_TP_FIELDS(BLKIN_NUMBERS BLKIN_TEXTS)
)
#undef lttng_ust__event_get_size__blkin___span_class
/* One event for each severity level, so that a session can select by LTTng's log levels. */
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_emerg,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_emerg, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_alert,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_alert, LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_crit,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_crit, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_err,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_err, LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_warning,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_warning, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_notice,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_notice, LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, span_class, blkin, span_debug,
	LTTNG_UST_TP_ARGS(const uint64_t *, numbers, const char *, name_text, size_t, name_bytes, const char *,
		data_text, size_t, data_bytes))
LTTNG_UST_TRACEPOINT_LOGLEVEL(blkin, span_debug, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)

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
