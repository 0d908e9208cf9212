/* SPDX-License-Identifier: BSD-2-Clause */
/* An event as it is packed. */
#ifndef READER_DECODE_EVENTSEEN_H
#define READER_DECODE_EVENTSEEN_H

#include "reader/decode/eventfacts.h"

/* An event, with what is known about it; all borrowed. */
struct event_seen {
	const struct event_plan *plan;
	const struct trace_facts *trace;
	const bt_field *scopes[EVENT_SCOPES]; /* NULL: it has none */
	struct event_facts facts;
	struct moment moment;
};

#endif
