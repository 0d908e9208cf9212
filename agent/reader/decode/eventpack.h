/* SPDX-License-Identifier: BSD-2-Clause */
/* An event, walked along its plan, becomes a record (core/eventrecord.h). */
#ifndef READER_DECODE_EVENTPACK_H
#define READER_DECODE_EVENTPACK_H

#include "base/buffer.h"
#include "reader/decode/eventseen.h"

/* Appends the event, as read @now (ns since the epoch); false, having appended nothing, if it is too large.
 */
bool event_pack(struct buffer *out, const struct event_seen *event, int64_t now);

#endif
