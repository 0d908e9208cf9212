/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoded events, from which spans are made. Independent of the reader. */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

enum event_type {
	EVENT_FOREIGN,        /* not an event of a span */
	EVENT_MALFORMED,      /* has the name of a known event, but other fields, or no first line */
	EVENT_SPAN,           /* blkin:span2, blkin:span2_LEVEL, blkin:span of before 0.2: a whole span */
	EVENT_ANNOTATION,     /* blkin:annotation: a piece of a span that comes later */
	EVENT_TAG,            /* blkin:tag: the same */
	EVENT_TIMESTAMP,      /* blkin:timestamp; zipkin:timestamp of the old libraries */
	EVENT_KEYVAL,         /* the same: keyval_string; or zipkin:keyval, the layout of 2014 */
	EVENT_KEYVAL_INTEGER, /* the same: keyval_integer */
	EVENT_CANARY          /* blkin_canary:beat: the agent's own, no part of anything */
};

/*
 * A decoded event; its texts are valid until the message is released. Fields that its type does not have are
 * 0.
 */
struct event {
	enum event_type type;
	int64_t time;   /* ns since the epoch */
	uint64_t clock; /* the same moment on the tracing clock (CLOCK_MONOTONIC), ns */
	uint64_t trace_id, span_id, parent_id;
	uint64_t start;      /* of EVENT_SPAN, on the tracing clock, ns */
	unsigned level;      /* of EVENT_SPAN: syslog's number, from the event's name */
	bool has_user;       /* the reader knows */
	uint32_t user;       /* whose program it was */
	uint64_t piece_time; /* of EVENT_ANNOTATION, on the tracing clock */
	int64_t port;        /* of classic events */
	int64_t number;      /* the value of EVENT_KEYVAL_INTEGER; of EVENT_CANARY which one it is */
	struct text name;
	struct text service, ip; /* of classic events */
	struct text head;        /* of EVENT_ANNOTATION and EVENT_TAG: the head line of the span's `data` */
	struct text key,
		value; /* value: of an annotation its text; of EVENT_SPAN the lines from its head on */
};

/* syslog's severity levels by number, and the default level of spans */
#define EVENT_LEVELS 8
#define EVENT_LEVEL_INFO 6
extern const char *const event_level_names[EVENT_LEVELS];

#endif
