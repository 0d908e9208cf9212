/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin import --around`: which thread each span of a trace ran on, and when, and so whose each other
 * event is. A span's thread is the one that recorded it. Where a trace does not tell threads, the process is
 * enough, which spans tell themselves.
 */
#ifndef IMPORT_AROUNDSPANS_H
#define IMPORT_AROUNDSPANS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/event.h"
#include "import/numbers.h"

/* What is not known. */
#define AROUND_UNKNOWN NUMBER_UNKNOWN

/* Bounds: a trace may have millions. */
#define AROUND_SPANS_MAX 10000
#define AROUND_EVENTS_MAX 1000 /* of one span */
#define AROUND_EVENTS_ALL 100000

/* A span, or one program's half of it. */
struct around_span {
	uint64_t id;
	int64_t pid, tid;
	int64_t start, end; /* ns since the epoch */
	int64_t seen;       /* when its thread recorded its last event */
	GPtrArray *events;  /* what is put there, owned as around_spans_create says */
	uint64_t more;      /* events that were too many */
};

/* What happened. */
struct around_moment {
	int64_t time;     /* ns since the epoch */
	int64_t pid, tid; /* as the program sees them, in a container; whoever it happened to */
	int64_t other;    /* the kernel's number of another thread that it is about: the next one, or that is
			     woken */
	int64_t kernel;   /* and of the thread itself */
};

struct around_spans;

/* Of the trace with these lower 64 bits of its id. */
struct around_spans *around_spans_create(uint64_t trace_id, GDestroyNotify free_event);
void around_spans_destroy(struct around_spans *spans);

/* Takes an event of any span, and its thread. */
void around_spans_take(struct around_spans *spans, const struct event *event, int64_t tid);

/* In the order of their starts; of struct around_span, borrowed. At most AROUND_SPANS_MAX; so many more there
 * are. */
const GPtrArray *around_spans_list(struct around_spans *spans);
uint64_t around_spans_more(const struct around_spans *spans);

/* Whether anything at this time may be a span's. */
bool around_spans_reach(const struct around_spans *spans, int64_t time);

/* The span that it happened in: of several the innermost. NULL if it is none of theirs. */
struct around_span *around_spans_find(struct around_spans *spans, const struct around_moment *moment);

/* Puts an event there, which it takes over, or counts it if there are too many. */
void around_spans_put(struct around_spans *spans, struct around_span *span, void *event);

#endif
