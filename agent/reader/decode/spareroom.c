/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/spareroom.h"

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* Our events need one. Those of others have one for each sequence and variant of all events of their user. It
 * is memory that is touched only when it is used. */
#define ROOM 4096

static _Thread_local bool lends;

void spareroom_lend(void)
{
	lends = true;
}

GArray *g_array_new(gboolean zero_terminated, gboolean clear, guint element_size)
{
	bool looks_like_it = !zero_terminated && clear && element_size == sizeof(uint64_t);

	return g_array_sized_new(zero_terminated, clear, element_size, lends && looks_like_it ? ROOM : 0);
}
