/* SPDX-License-Identifier: BSD-2-Clause */
#include "rows.h"

#include <stdio.h>
#include <unistd.h>

#include "floor.h"

/* The calls, all reached in the same way */

static void call_nothing(const struct subject *subject)
{
	__asm__ volatile("" : : "r"(subject) : "memory");
}

static void call_floor(const struct subject *subject)
{
	const struct blkin_trace *trace = &subject->trace;

	lttng_ust_tracepoint(bench, timestamp, trace->name, trace->endpoint->name, trace->endpoint->port,
		trace->endpoint->ip, trace->info.trace_id, trace->info.span_id, trace->info.parent_span_id,
		subject->event);
}

static void call_record(const struct subject *subject)
{
	BLKIN_TIMESTAMP(&subject->trace, NULL, subject->event);
}

/* What BlkKin has always done for a span such as the next. */
static void call_six_records(const struct subject *subject)
{
	BLKIN_TIMESTAMP(&subject->trace, NULL, "request decoded");
	BLKIN_KEYVAL_STRING(&subject->trace, NULL, "object", subject->object);
	BLKIN_KEYVAL_STRING(&subject->trace, NULL, "pool", subject->pool);
	BLKIN_TIMESTAMP(&subject->trace, NULL, "cache miss");
	BLKIN_KEYVAL_INTEGER(&subject->trace, NULL, "bytes", 4194304);
	BLKIN_TIMESTAMP(&subject->trace, NULL, "reply sent");
}

static inline void fill_span(struct blkin_span *span, const struct subject *subject)
{
	blkin_span_start(span, BLKIN_SERVER, "read", &subject->here, &subject->parent);
	blkin_span_annotate(span, "request decoded");
	blkin_span_tag(span, "object", subject->object);
	blkin_span_tag(span, "pool", subject->pool);
	blkin_span_annotate(span, "cache miss");
	blkin_span_tag_int(span, "bytes", 4194304);
	blkin_span_annotate(span, "reply sent");
}

static void call_span_of_six(const struct subject *subject)
{
	struct blkin_span span;

	fill_span(&span, subject);
	blkin_span_finish(&span);
}

static void call_bare_span(const struct subject *subject)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_SERVER, "read", &subject->here, &subject->parent);
	blkin_span_finish(&span);
}

static void call_unsampled_span(const struct subject *subject)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_SERVER, "read", &subject->here, &subject->unsampled);
	blkin_span_finish(&span);
}

/* A span of six, its text ready, is finished again and again: what is left is its event. */
static void call_ready_event(const struct subject *subject)
{
	static __thread struct blkin_span span;

	if (!span.used)
		fill_span(&span, subject);
	span.recording = 1;
	blkin_span_finish(&span);
}

const struct row rows_on[] = {
	{"tracepoint", call_floor, 1},
	{"record", call_record, 1},
	{"six-records", call_six_records, 6},
	{"span-six", call_span_of_six, 1},
	{"span-bare", call_bare_span, 1},
	{"span-event", call_ready_event, 1},
	{"nothing", call_nothing, 0},
	{"unsampled", call_unsampled_span, 0},
	{NULL, NULL, 0},
};

const struct row rows_off[] = {
	{"off-nothing", call_nothing, 0},
	{"off-tracepoint", call_floor, 0},
	{"off-span", call_bare_span, 0},
	{"off-span-six", call_span_of_six, 0},
	{"off-record", call_record, 0},
	{NULL, NULL, 0},
};

void fill_subject(struct subject *subject)
{
	subject->here = (struct blkin_endpoint){"192.168.17.4", 6800, "osd.4"};
	blkin_init_new_trace(&subject->trace, "read", &subject->here);
	subject->parent = (struct blkin_context){.trace_id = blkin_id(), .span_id = blkin_id()};
	subject->event = "request decoded";
	subject->object = "rbd_data.10226b8b4567.000000000000042a";
	subject->pool = "rbd";
}

/* Whether all that is measured is recorded, or none of it. */
static bool recording(bool on)
{
	bool floor = lttng_ust_tracepoint_enabled(bench, timestamp), classic = BLKIN_CLASSIC_ON_(timestamp);

	return on ? floor && classic && blkin_tracing() : floor || classic || blkin_tracing();
}

bool rows_ready(bool on)
{
	for (int i = 0; on && i < 200 && !recording(true); i++)
		usleep(50000);
	if (recording(on) == on)
		return true;
	fprintf(stderr, "%s\n", on ? "no session records blkin:* and bench:*" : "a session records");
	return false;
}
