/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of an event as tags of a span. */
#ifndef READER_PAIR_PAIRFIELDS_H
#define READER_PAIR_PAIRFIELDS_H

#include "base/buffer.h"
#include "core/eventrecord.h"

/*
 * Appends the payload of an event's record as a map (core/value.h), whose members are the tags; nothing, if
 * it has none. False, having appended nothing, if the record is damaged.
 */
bool pair_fields_put(struct buffer *out, const struct event_record *record);

/* A number of the event's contexts: the first of that name. */
struct known_number pair_fields_context(const struct event_record *record, const char *name);

#endif
