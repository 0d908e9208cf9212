/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans for any event: what its fields are, made once for each event class that a trace brings, so that names
 * are repaired, packed and made to differ once, and each event is walked along its plan.
 */
#ifndef READER_DECODE_EVENTPLAN_H
#define READER_DECODE_EVENTPLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "reader/assemble/pipeline.h"
#include "reader/decode/fieldplan.h"

/* Where a fact about the event is: a number, or the name. */
struct fact_source {
	bool known;
	enum event_scope scope;
	uint32_t index;
	const struct field_plan *plan;
};

struct event_plan {
	const bt_event_class *event_class; /* owned: so that no other class gets its address */
	bool wanted;                       /* as it is, */
	GPtrArray *halves;                 /* or as half of a pair, of struct pair_half; NULL: of none */
	struct text name;                  /* UTF-8; data is NULL: it has none */
	uint64_t id;                       /* the class's number */
	struct event_level level;
	bool has_clock;
	bool from_epoch; /* and the clock counts from 1970 */
	uint64_t clock;  /* a number of its uuid; 0: it has none */
	struct {
		bool exists;
		struct field_plan plan; /* a structure */
	} scope[EVENT_SCOPES];
	struct fact_source cpu, pid, tid, user, program;
	GStringChunk *texts;
};

/*
 * @patterns: of the names of the events that are wanted, for glob(7), ended by NULL; NULL: all. @pairing:
 * what is made of two of them; NULL: nothing. @kernel: they are the kernel's.
 */
struct event_plan *event_plan_create(
	const bt_event_class *event_class, char *const *patterns, const struct pairing *pairing, bool kernel);
void event_plan_destroy(struct event_plan *plan);

/* The event's scope as a field, a structure; NULL: it has none. */
const bt_field *event_scope_field(const bt_event *event, enum event_scope scope);

#endif
