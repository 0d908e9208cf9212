/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/callname.h"

#include <string.h>

#include <glib.h>

struct text call_keep(struct text name)
{
	static GHashTable *kept;
	g_autofree char *copy = g_strndup(name.data, name.size);
	char *known;

	if (!kept)
		kept = g_hash_table_new(g_str_hash, g_str_equal);
	known = g_hash_table_lookup(kept, copy);
	if (!known && g_hash_table_size(kept) >= CALLS_MAX)
		return (struct text){"", 0};
	if (!known) {
		known = g_steal_pointer(&copy);
		g_hash_table_add(kept, known);
	}
	return (struct text){known, (uint32_t)strlen(known)};
}
