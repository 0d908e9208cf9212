/* SPDX-License-Identifier: BSD-2-Clause */
/* libblkin-provider.so.1: the tracepoints, and the table through which programs reach them. */
#include <assert.h>
#include <stddef.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define _LGPL_SOURCE
#include "clock.h"
#include "process.h"
#include "sampling.h"
#include "tracepoints.h"

/* The tracepoint writes the four numbers in one piece. */
static_assert(offsetof(struct blkin_span_record, trace_id) == 0 &&
		      offsetof(struct blkin_span_record, span_id) == 8 &&
		      offsetof(struct blkin_span_record, parent_id) == 16 &&
		      offsetof(struct blkin_span_record, start) == 24,
	"the fields of blkin:span are not where the record has them");

#define DEFINE_SPAN(name)                                                                                    \
	static void name(const struct blkin_span_record *record)                                             \
	{                                                                                                    \
		lttng_ust_do_tracepoint(blkin, name, record);                                                \
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

static void keyval_string(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, const char *val)
{
	lttng_ust_do_tracepoint(
		blkin, keyval_string, trace_name, service, port, ip, trace, span, parent_span, key, val);
}

static void keyval_integer(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, int64_t val)
{
	lttng_ust_do_tracepoint(
		blkin, keyval_integer, trace_name, service, port, ip, trace, span, parent_span, key, val);
}

static void timestamp(const char *trace_name, const char *service, int port, const char *ip, int64_t trace,
	int64_t span, int64_t parent_span, const char *event)
{
	lttng_ust_do_tracepoint(
		blkin, timestamp, trace_name, service, port, ip, trace, span, parent_span, event);
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
};
