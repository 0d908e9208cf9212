/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanevent.h"

#include <string.h>

#include <glib.h>

#include "core/attributeendpoint.h"
#include "reader/assemble/spannumber.h"

/* A level other than info becomes a tag: Zipkin has no field for it. */
static void tag_level(struct span_data *lines, unsigned level)
{
	const char *name = event_level_names[level];

	if (level != EVENT_LEVEL_INFO)
		lines->tags[lines->tag_count++] =
			(struct tag){{"level", 5}, {name, (uint32_t)strlen(name)}, TAG_TEXT};
}

/* The span borrows the lines. It is written in place: it is large, and a copy would cost as much again. */
static void make_span(struct span *restrict span, const struct event *restrict event,
	const struct span_data *restrict lines, uint64_t finish)
{
	int64_t timestamp = span_event_since_epoch(event, event->start);

	*span = (struct span){
		.trace_id_high = lines->head->trace_id_high,
		.trace_id = event->trace_id,
		.id = event->span_id,
		.parent_id = event->parent_id,
		.kind = lines->head->kind,
		.shared = lines->head->shared,
		.debug = lines->head->debug,
		.timestamp = timestamp,
		.duration = MAX(1, span_event_since_epoch(event, finish) - timestamp),
		.name = event->name,
		.pid = lines->pid,
		.program = lines->program,
		.has_user = event->has_user,
		.user = event->user,
		.local = lines->head->local,
		.has_remote = lines->has_remote,
		.remote = lines->remote,
		.annotations = lines->annotations,
		.annotation_count = lines->annotation_count,
		.tags = lines->tags,
		.tag_count = lines->tag_count,
		.last_event = event->time,
	};
}

/* What an SDK says of the process and the other end, in Zipkin's terms. */
static void take_endpoints(struct span *span)
{
	const struct attributes *resource = &span->more->resource;

	for (size_t i = 0; i < resource->count; i++)
		endpoint_take_process(span, &resource->tags[i]);
	for (size_t i = 0; i < span->tag_count; i++)
		endpoint_take_remote(span, &span->tags[i]);
}

/* The program has read the wall clock itself: then the span's times are from there on. */
static void shift(struct span *span, struct span_data *lines, uint64_t lasts)
{
	int64_t by = lines->marks.time - span->timestamp;

	for (size_t i = 0; i < lines->annotation_count; i++)
		lines->annotations[i].time += by;
	span->timestamp = lines->marks.time;
	span->duration = (int64_t)lasts;
}

/* Apart, as most spans have nothing of it. */
static __attribute__((noinline)) void take_marks(struct span *span, struct span_data *lines, uint64_t lasts)
{
	if (lines->marks.has_time)
		shift(span, lines, lasts);
	span->more = span_marks_lay_out(&lines->marks, 0, span->annotation_count);
	if (!span->more->ours)
		take_endpoints(span);
}

/* Converts the event, whose lines have been read. */
static enum ledger_row convert(struct span_data *lines, const struct event *event, struct span *span)
{
	uint64_t finish = event->clock;

	if (lines->has_finish) {
		finish = event->start + (uint64_t)lines->finish;
		if (lines->finish < 0 || lines->finish >= (int64_t)SPAN_OFFSET_MAX ||
			(!lines->marks.has_time && !span_event_clock_in_range(event, finish)))
			return EVENTS_REJECTED_TIME;
	}
	tag_level(lines, event->level);
	make_span(span, event, lines, finish);
	if (lines->marks.any)
		take_marks(span, lines, finish - event->start);
	return EVENTS_IN_SPANS;
}

enum ledger_row span_event_read(struct span_data *lines, const struct event *event, struct span *span)
{
	if (!span_event_clock_in_range(event, event->start))
		return EVENTS_REJECTED_TIME;
	if (!span_data_read(lines, event->value, span_event_since_epoch(event, event->start)))
		return EVENTS_REJECTED_MALFORMED;
	return convert(lines, event, span);
}

enum ledger_row span_event_read_joined(
	struct span_data *lines, const struct event *event, struct text joined, struct span *span)
{
	if (!span_data_read_joined(lines, joined, span_event_since_epoch(event, event->start)))
		return EVENTS_REJECTED_MALFORMED;
	return convert(lines, event, span);
}

/* The service of a span whose data may be of any kind. */
static struct text service_of(const struct event *event)
{
	const char *end = memchr(event->value.data, '\n', event->value.size);
	struct span_head head;

	if (end && span_head_read(&head,
			   (struct text){event->value.data, (uint32_t)(end - event->value.data)}, NULL))
		return head.local.service;
	return (struct text){0};
}

void span_event_explain(
	struct span_data *lines, const struct event *event, enum ledger_row row, struct misuses *misuses)
{
	enum misuse_kind kind = row == EVENTS_REJECTED_TIME ? MISUSE_TIME : MISUSE_MALFORMED;
	struct text service;

	if (!misuse_wanted(misuses, kind))
		return;
	service = service_of(event);
	if (kind == MISUSE_MALFORMED)
		misuse_note(misuses, kind, event, service, event->name, "its `data` cannot be parsed");
	else if (!span_event_clock_in_range(event, event->start))
		misuse_note(misuses, kind, event, service, event->name,
			"starts at a time %.3f s after it was recorded",
			span_event_lead(event, event->start));
	else if (lines->finish < 0)
		misuse_note(misuses, kind, event, service, event->name, "finishes %.3f s before it starts",
			(double)-lines->finish / 1e9);
	else
		misuse_note(misuses, kind, event, service, event->name,
			"finishes at a time %.3f s after it was recorded",
			span_event_lead(event, event->start + (uint64_t)lines->finish));
}

bool span_event_ends(const struct event *event)
{
	const struct text *what = &event->value;

	return event->type == EVENT_TIMESTAMP && what->size == 2 &&
	       (memcmp(what->data, "cr", 2) == 0 || memcmp(what->data, "ss", 2) == 0);
}
