/* SPDX-License-Identifier: BSD-2-Clause */
#include "spanevent.h"

#include <string.h>

#include <glib.h>

int64_t span_event_since_epoch(const struct event *event, uint64_t clock)
{
	return event->time - (int64_t)(event->clock - clock);
}

bool span_event_clock_in_range(const struct event *event, uint64_t clock)
{
	return clock > 0 && clock <= event->clock && event->clock - clock < (uint64_t)event->time;
}

/* The span that the event and its head line tell of, but for what the other lines do. */
static void describe(const struct event *event, const struct span_head *head, struct span *span)
{
	memset(span, 0, sizeof(*span));
	span->trace_id_high = head->trace_id_high;
	span->trace_id = event->trace_id;
	span->id = event->span_id;
	span->parent_id = event->parent_id;
	span->kind = head->kind;
	span->shared = head->shared;
	span->debug = head->debug;
	span->timestamp = span_event_since_epoch(event, event->start) / 1000;
	span->name = event->name;
	span->local = head->local;
	span->last_event = event->time;
}

/* A level other than info is told by a tag: Zipkin has no place for it. */
static void tag_level(struct span_data *lines, unsigned level)
{
	const char *name = event_level_names[level];

	if (level != EVENT_LEVEL_INFO)
		lines->tags[lines->tag_count++] = (struct tag){{"level", 5}, {name, (uint32_t)strlen(name)}};
}

/* Lets the span borrow the lines. */
static void add_lines(struct span *span, const struct span_data *lines)
{
	span->has_remote = lines->has_remote;
	span->remote = lines->remote;
	span->annotations = lines->annotations;
	span->annotation_count = lines->annotation_count;
	span->tags = lines->tags;
	span->tag_count = lines->tag_count;
}

enum ledger_row span_event_read(struct span_data *lines, const struct event *event, struct span *span)
{
	uint64_t finish = event->clock;

	if (!span_event_clock_in_range(event, event->start))
		return EVENTS_REJECTED_TIME;
	if (!span_data_read(lines, event->value, span_event_since_epoch(event, event->start)))
		return EVENTS_REJECTED_MALFORMED;
	if (lines->has_finish) {
		finish = event->start + (uint64_t)lines->finish;
		if (lines->finish < 0 || !span_event_clock_in_range(event, finish))
			return EVENTS_REJECTED_TIME;
	}
	tag_level(lines, event->level);
	describe(event, &lines->head, span);
	/* from microsecond to microsecond, so that a child that finished first does not stick out of its
	 * parent */
	span->duration = MAX(1, span_event_since_epoch(event, finish) / 1000 - span->timestamp);
	add_lines(span, lines);
	return EVENTS_IN_SPANS;
}
