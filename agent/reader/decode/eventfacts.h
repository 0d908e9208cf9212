/* SPDX-License-Identifier: BSD-2-Clause */
/* When, where and by whom an event was logged: from its clock, its contexts, and its trace's environment. */
#ifndef READER_DECODE_EVENTFACTS_H
#define READER_DECODE_EVENTFACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/decode/eventplan.h"

struct moment moment_of(const struct event_plan *plan, const bt_message *message);

/* What a trace says of all its events. */
struct trace_facts {
	const bt_trace *trace;    /* owned: so that no other gets its address */
	struct text host;         /* UTF-8; size 0: not said */
	struct text domain;       /* "ust" or "kernel", of LTTng's */
	struct text program;      /* of traces of one process, and so */
	struct known_number pid;  /* this; */
	struct known_number user; /* of traces of one user */
	GStringChunk *texts;
};

struct trace_facts *trace_facts_create(const bt_trace *trace);
void trace_facts_destroy(struct trace_facts *facts);

/* What an event says, or its trace. */
struct event_facts event_facts_of(const struct event_plan *plan, const struct trace_facts *trace,
	const bt_field *const scopes[EVENT_SCOPES]);

#endif
