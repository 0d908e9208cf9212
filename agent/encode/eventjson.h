/* SPDX-License-Identifier: BSD-2-Clause */
/* Any event as one JSON object, on one line. doc/events.md says how each field looks. */
#ifndef ENCODE_EVENTJSON_H
#define ENCODE_EVENTJSON_H

#include "base/buffer.h"
#include "core/eventrecord.h"
#include "encode/jsonvalue.h"

/* What the encoder keeps from one event to the next; zeroed at first. */
struct eventjson {
	struct iso_time time;
	struct buffer bytes, cut, place; /* members that come last, and a pointer */
};

void eventjson_free(struct eventjson *memory);

/* Appends the event of a record; false, having appended nothing, if it is damaged, or becomes too large. */
bool eventjson_put(struct eventjson *memory, struct buffer *out, const uint8_t *record, size_t size);

#endif
