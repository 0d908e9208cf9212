/* SPDX-License-Identifier: BSD-2-Clause */
/* An event as its encoders get it. */
#ifndef READ_EVENTSEEN_H
#define READ_EVENTSEEN_H

#include "read/eventfacts.h"

/* No event becomes larger than this; one that would is not encoded. */
#define EVENT_SIZE_MAX (1024 * 1024)

/* An event, with what is known about it; all borrowed. */
struct event_seen {
	const struct event_plan *plan;
	const struct trace_facts *trace;
	const bt_field *scopes[EVENT_SCOPES]; /* NULL: it has none */
	struct event_facts facts;
	struct moment moment;
};

#endif
