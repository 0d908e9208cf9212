/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans for any event: what its fields are, made once for each event class that a trace brings, so that names
 * are repaired, escaped and made to differ once, and each event is walked along its plan.
 */
#ifndef READ_EVENTPLAN_H
#define READ_EVENTPLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "core/text.h"

/* What is nested deeper is left out, and said to be so: those who read JSON have such limits, too. */
#define EVENT_DEPTH_MAX 32

enum field_kind {
	FIELD_BOOL,
	FIELD_BITS,
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_UNSIGNED_ENUM,
	FIELD_SIGNED_ENUM,
	FIELD_SINGLE,
	FIELD_DOUBLE,
	FIELD_STRING,
	FIELD_STRUCTURE, /* its parts are the members, */
	FIELD_ARRAY,     /* what each element is, */
	FIELD_OPTION,    /* what it may have, */
	FIELD_VARIANT,   /* or the choices */
	FIELD_CUT        /* too deep, or of a class that only a newer babeltrace2 knows */
};

struct field_plan {
	enum field_kind kind;
	struct text name; /* UTF-8; no other part of the same whole has it */
	struct text json; /* `"name":` */
	uint32_t count;
	struct field_plan *parts;
};

/* The scopes of an event, in the order in which they are written. */
enum event_scope { SCOPE_PACKET, SCOPE_COMMON, SCOPE_SPECIFIC, SCOPE_PAYLOAD, EVENT_SCOPES };

/* Where a fact about the event is: a number, or the name. */
struct fact_source {
	bool known;
	enum event_scope scope;
	uint32_t index;
	const struct field_plan *plan;
};

struct event_level {
	const char *name;  /* NULL: the event has none */
	unsigned severity; /* OTLP's */
};

struct event_plan {
	const bt_event_class *event_class; /* owned: so that no other class gets its address */
	bool wanted;
	struct text name; /* UTF-8; data is NULL: it has none */
	struct event_level level;
	bool has_clock;
	bool from_epoch; /* and the clock counts from 1970 */
	struct {
		bool exists;
		struct field_plan plan; /* a structure */
	} scope[EVENT_SCOPES];
	struct fact_source cpu, pid, tid, user, program;
	struct text json; /* `"event":…,"level":…,` */
	GStringChunk *texts;
};

/* @patterns: of the names of the events that are wanted, for glob(7), ended by NULL; NULL: all. */
struct event_plan *event_plan_create(const bt_event_class *event_class, char *const *patterns);
void event_plan_destroy(struct event_plan *plan);

/* The event's scope as a field, a structure; NULL: it has none. */
const bt_field *event_scope_field(const bt_event *event, enum event_scope scope);

#endif
