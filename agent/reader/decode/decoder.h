/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding: from babeltrace2's event messages to the events that spans are made of.
 *
 * A plan is made once for each event class that a trace brings; it checks that the fields are there and of
 * the right types, because any program may define an event of any of these names.
 */
#ifndef READER_DECODE_DECODER_H
#define READER_DECODE_DECODER_H

#include <babeltrace2/babeltrace.h>

#include "core/event.h"

struct event_decoder;

struct event_decoder *event_decoder_create(void);
void event_decoder_destroy(struct event_decoder *decoder);

/*
 * Decodes an event message. The event is the decoder's, and valid until the next call; of EVENT_FOREIGN and
 * EVENT_MALFORMED only the type is set.
 */
struct event *event_decode(struct event_decoder *decoder, const bt_message *message);

#endif
