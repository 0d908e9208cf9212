/* SPDX-License-Identifier: BSD-2-Clause */
#include "spanevent.h"

#include <string.h>

#include <glib.h>

#include "endpoint.h"

#include <blkin/record.h>

/* syslog's number, which spans have unless their program says otherwise */
#define LEVEL_INFO 6

int64_t span_event_since_epoch(const struct event *event, uint64_t clock)
{
	return event->time - (int64_t)(event->clock - clock);
}

bool span_event_clock_in_range(const struct event *event, uint64_t clock)
{
	return clock > 0 && clock <= event->clock && event->clock - clock < (uint64_t)event->time;
}

/* The span that the event tells of, but for its annotations and tags. */
static void describe(const struct event *event, struct span *span)
{
	uint64_t finish = event->finish ? event->finish : event->clock;

	memset(span, 0, sizeof(*span));
	span->trace_id_high = event->trace_id_high;
	span->trace_id = event->trace_id;
	span->id = event->span_id;
	span->parent_id = event->parent_id;
	span->kind = (enum span_kind)(event->flags & BLKIN_FLAG_KIND);
	span->shared = event->flags & BLKIN_FLAG_SHARED;
	span->debug = event->flags & BLKIN_FLAG_DEBUG;
	span->timestamp = span_event_since_epoch(event, event->start) / 1000;
	span->duration = MAX(1, (int64_t)(finish - event->start) / 1000);
	span->name = event->name;
	span->local.service = event->service;
	span->local.port = (uint16_t)event->port;
	endpoint_set_address(&span->local, event->ip);
	span->last_event = event->time;
}

/* A level other than info is told by a tag: Zipkin has no place for it. */
static void tag_level(struct span_data *lines, uint64_t flags)
{
	static const char *const names[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
	unsigned level = (unsigned)((flags & BLKIN_FLAG_LEVEL) >> BLKIN_FLAG_LEVEL_SHIFT) ^ LEVEL_INFO;

	if (level != LEVEL_INFO)
		lines->tags[lines->tag_count++] =
			(struct tag){{"level", 5}, {names[level], (uint32_t)strlen(names[level])}};
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
	if ((event->flags & BLKIN_FLAG_KIND) > SPAN_CONSUMER || event->port < 0 || event->port > UINT16_MAX)
		return EVENTS_REJECTED_MALFORMED;
	if (!span_event_clock_in_range(event, event->start))
		return EVENTS_REJECTED_TIME;
	if (event->finish &&
		(event->finish < event->start || !span_event_clock_in_range(event, event->finish)))
		return EVENTS_REJECTED_TIME;
	if (!span_data_read(lines, event->value, span_event_since_epoch(event, event->start)))
		return EVENTS_REJECTED_MALFORMED;
	tag_level(lines, event->flags);
	describe(event, span);
	add_lines(span, lines);
	return EVENTS_IN_SPANS;
}
