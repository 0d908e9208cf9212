/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/eventplace.h"

#include <inttypes.h>

/* Of the characters in a name, two have a meaning. */
static void put_name(struct buffer *out, const struct text *name)
{
	for (uint32_t i = 0; i < name->size; i++) {
		if (name->data[i] == '~')
			buffer_put(out, "~0", 2);
		else if (name->data[i] == '/')
			buffer_put(out, "~1", 2);
		else
			buffer_put(out, name->data + i, 1);
	}
}

void event_place_put(struct buffer *out, const struct event_place *place)
{
	if (place->up)
		event_place_put(out, place->up);
	buffer_put(out, "/", 1);
	if (place->name)
		put_name(out, place->name);
	else
		buffer_printf(out, "%" PRIu64, place->index);
}
