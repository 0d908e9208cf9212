/* SPDX-License-Identifier: BSD-2-Clause */
/* The first line of a blkin:span2 event's text (blkin/span.h), in which are what older events have in fields.
 */
#ifndef READER_ASSEMBLE_SPANFIRST_H
#define READER_ASSEMBLE_SPANFIRST_H

#include "core/event.h"

/*
 * Takes "TRACE SPAN PARENT START SIZE NAME" and its line break from the text, which is the event's value:
 * then the event has ids, start and name, and its value is the rest. False if it is malformed; then the event
 * is as it was, or has some of that.
 */
bool span_first_read(struct event *event);

#endif
