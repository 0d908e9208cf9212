/* SPDX-License-Identifier: BSD-2-Clause */
/* libblkin-provider.so.1: the tracepoints, and the table through which programs reach them. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define _LGPL_SOURCE
#include "reader.h"

#include "clock.h"
#include "fields.h"
#include "process.h"
#include "report.h"
#include "sampling.h"

#define BLKIN_NUMBERS_SIZE (4 * sizeof(uint64_t))

/* What LTTng would compute of a span's fields, from their sizes. */
static inline size_t blkin_span_size(size_t *sizes, void *data, const uint64_t *numbers, const char *name,
	size_t name_size, const char *text, size_t text_size)
{
	(void)data;
	(void)numbers;
	(void)name;
	(void)text;
	sizes[0] = name_size;
	sizes[1] = text_size;
	return BLKIN_NUMBERS_SIZE + name_size + text_size;
}

/* The same of a classic event's. */
static inline size_t blkin_fields_size(size_t *sizes, void *data, const struct fields *fields)
{
	(void)data;
	for (unsigned i = 0; !fields->together && i < fields->texts; i++)
		sizes[i] = fields->sizes[i];
	return fields->size;
}

#include "tracepoints.h"

/* The tracepoint writes the four numbers in one piece. */
static_assert(offsetof(struct blkin_span_record, trace_id) == 0 &&
		      offsetof(struct blkin_span_record, span_id) == 8 &&
		      offsetof(struct blkin_span_record, parent_id) == 16 &&
		      offsetof(struct blkin_span_record, start) == 24,
	"the fields of blkin:span are not where the record has them");

/* A span in a record, of older programs and with long names; and one in one piece. */
#define DEFINE_SPAN(level)                                                                                   \
	static void level(const struct blkin_span_record *record)                                            \
	{                                                                                                    \
		lttng_ust_do_tracepoint(blkin, level, &record->trace_id, record->name,                       \
			strlen(record->name) + 1, record->data, strlen(record->data) + 1);                   \
	}                                                                                                    \
	static void packed_##level(const uint64_t *numbers, size_t name_size, size_t data_size)              \
	{                                                                                                    \
		const char *name = (const char *)(numbers + 4);                                              \
                                                                                                             \
		lttng_ust_do_tracepoint(                                                                     \
			blkin, level, numbers, name, name_size, name + name_size, data_size);                \
	}

DEFINE_SPAN(span_emerg)
DEFINE_SPAN(span_alert)
DEFINE_SPAN(span_crit)
DEFINE_SPAN(span_err)
DEFINE_SPAN(span_warning)
DEFINE_SPAN(span_notice)
DEFINE_SPAN(span)
DEFINE_SPAN(span_debug)

static void annotation(const struct blkin_span_record *record, uint64_t time, const char *value)
{
	lttng_ust_tracepoint(blkin, annotation, record, time, value);
}

static void tag(const struct blkin_span_record *record, const char *key, const char *value)
{
	lttng_ust_tracepoint(blkin, tag, record, key, value);
}

/* Aligned as LTTng aligns. */
static inline BLKIN_INLINE_ void put_together(struct fields *fields, enum fields_kind kind)
{
	fields_prepare(fields, kind, lttng_ust_rb_alignof(int), lttng_ust_rb_alignof(int64_t));
}

static void keyval_string(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, const char *val)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.key = key;
	fields.text = val;
	put_together(&fields, FIELDS_KEY_TEXT);
	lttng_ust_do_tracepoint(blkin, keyval_string, &fields);
}

static void keyval_integer(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, int64_t val)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.key = key;
	fields.number = val;
	put_together(&fields, FIELDS_KEY_NUMBER);
	lttng_ust_do_tracepoint(blkin, keyval_integer, &fields);
}

static void timestamp(const char *trace_name, const char *service, int port, const char *ip, int64_t trace,
	int64_t span, int64_t parent_span, const char *event)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.text = event;
	put_together(&fields, FIELDS_TEXT);
	lttng_ust_do_tracepoint(blkin, timestamp, &fields);
}

__attribute__((visibility("default"))) extern const struct blkin_provider blkin_provider_1;

const struct blkin_provider blkin_provider_1 = {
	.size = sizeof(struct blkin_provider),
	.span_on = {&lttng_ust_tracepoint_blkin___span_emerg.state,
		&lttng_ust_tracepoint_blkin___span_alert.state, &lttng_ust_tracepoint_blkin___span_crit.state,
		&lttng_ust_tracepoint_blkin___span_err.state,
		&lttng_ust_tracepoint_blkin___span_warning.state,
		&lttng_ust_tracepoint_blkin___span_notice.state, &lttng_ust_tracepoint_blkin___span.state,
		&lttng_ust_tracepoint_blkin___span_debug.state},
	.keyval_string_on = &lttng_ust_tracepoint_blkin___keyval_string.state,
	.keyval_integer_on = &lttng_ust_tracepoint_blkin___keyval_integer.state,
	.timestamp_on = &lttng_ust_tracepoint_blkin___timestamp.state,
	.span = {span_emerg, span_alert, span_crit, span_err, span_warning, span_notice, span, span_debug},
	.annotation = annotation,
	.tag = tag,
	.keyval_string = keyval_string,
	.keyval_integer = keyval_integer,
	.timestamp = timestamp,
	.sample = sampling_decide,
	.set_sampling = sampling_set,
	.process = &process,
	.clock = &clock_shared,
	.packed = {packed_span_emerg, packed_span_alert, packed_span_crit, packed_span_err,
		packed_span_warning, packed_span_notice, packed_span, packed_span_debug},
};

__attribute__((visibility("default"))) extern const struct blkin_report blkin_report_1;

const struct blkin_report blkin_report_1 = {.print = report_print};
