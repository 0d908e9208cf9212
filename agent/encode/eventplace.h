/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in an event a field is, as a JSON Pointer (RFC 6901) into its JSON: "/payload/list/3". */
#ifndef ENCODE_EVENTPLACE_H
#define ENCODE_EVENTPLACE_H

#include <stdint.h>

#include "base/buffer.h"
#include "core/text.h"

struct event_place {
	const struct event_place *up; /* what it is in; NULL: nothing */
	const struct text *name;      /* NULL: an element of an array */
	uint64_t index;               /* which one */
};

/* Appends it. */
void event_place_put(struct buffer *out, const struct event_place *place);

#endif
