/* SPDX-License-Identifier: BSD-2-Clause */
/* Any event as one JSON object, on one line. doc/events.md says how each field looks. */
#ifndef READ_EVENTJSON_H
#define READ_EVENTJSON_H

#include "base/buffer.h"
#include "encode/jsonvalue.h"
#include "read/eventseen.h"

/* What the encoder keeps from one event to the next; zeroed at first. */
struct event_json {
	struct iso_time time;
	struct buffer bytes, cut, place; /* members that come last, and a pointer */
};

void event_json_free(struct event_json *json);

/* Appends the event to @out; false, having appended nothing, if it is too large. */
bool event_json_put(struct event_json *json, struct buffer *out, const struct event_seen *event);

#endif
