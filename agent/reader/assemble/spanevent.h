/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks and converts a blkin:span event, into which a program can write anything. */
#ifndef READER_ASSEMBLE_SPANEVENT_H
#define READER_ASSEMBLE_SPANEVENT_H

#include "core/event.h"
#include "core/ledger.h"
#include "core/misuse.h"
#include "core/span.h"
#include "reader/assemble/spandata.h"

/*
 * Converts @event to a span, with its annotations and tags in @lines. Both borrow from the event. Returns the
 * event's row: EVENTS_IN_SPANS, or why it is rejected.
 */
enum ledger_row span_event_read(struct span_data *lines, const struct event *event, struct span *span);

/*
 * The same of an event that has been read like that, with lines that came before it: its head, these, and its
 * own lines are @joined, which the span borrows from too.
 */
enum ledger_row span_event_read_joined(
	struct span_data *lines, const struct event *event, struct text joined, struct span *span);

/* Whether a time on the tracing clock is possible: neither after the event nor before the epoch. */
static inline bool span_event_clock_in_range(const struct event *event, uint64_t clock)
{
	return clock > 0 && clock <= event->clock && event->clock - clock < (uint64_t)event->time;
}

/* By how many seconds a time on the tracing clock is later than the event. */
static inline double span_event_lead(const struct event *event, uint64_t clock)
{
	return (double)(int64_t)(clock - event->clock) / 1e9;
}

/* Notes why span_event_read has rejected @event, as @row. */
void span_event_explain(
	struct span_data *lines, const struct event *event, enum ledger_row row, struct misuses *misuses);

/* Converts a valid time on the tracing clock to ns since the epoch; the event has both clocks. */
static inline int64_t span_event_since_epoch(const struct event *event, uint64_t clock)
{
	return event->time - (int64_t)(event->clock - clock);
}

/* Whether a classic event ends its span: a client has received the answer, or a server has sent it. */
bool span_event_ends(const struct event *event);

#endif
