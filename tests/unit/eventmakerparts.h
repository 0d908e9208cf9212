/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the maker of events: eventmaker.h. */
#ifndef EVENTMAKERPARTS_H
#define EVENTMAKERPARTS_H

#include <stdbool.h>

#include "eventmaker.h"

/* The next of the bytes that say what to make, 0 behind their end; and a number of up to eight of them. */
uint8_t event_maker_byte(struct event_maker *maker);
uint64_t event_maker_word(struct event_maker *maker);

/* A structure of @most members at most, of any classes. */
bt_field_class *event_maker_structure(struct event_maker *maker, bt_trace_class *trace, unsigned most);

/* Sets the field, and writes down what is expected of it; @place is its JSON Pointer. */
void event_maker_fill(struct event_maker *maker, bt_field *field, const char *place);

#endif
