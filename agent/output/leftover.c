/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/leftover.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "output/spool/spoollist.h"
#include "output/spool/spoolname.h"

/* What to change for an output to have it. */
static char *advice(const struct output_config *is, const char *name)
{
	size_t size;
	const enum kind kind = lane_kind(name, &size);

	if (!is)
		return strcmp(name, SPOOLNAME_DEFAULT) ? g_strdup_printf("add [output %.*s]", (int)size, name)
						       : g_strdup("add [output]");
	if (config_output_delivers(is) && !config_lane_is_on(is, kind))
		return g_strdup_printf("add `%s` to `takes` in [%s]", kind_name(kind), is->section);
	return g_strdup_printf(
		config_output_delivers(is) ? "set a `spool-size` in [%s]" : "set another `type` in [%s]",
		is->section);
}

static void tell(const struct spool_found *found, const struct output_config *is)
{
	g_autofree char *change = advice(is, found->output);
	const char *items = kind_name(lane_kind(found->output, NULL));

	if (found->counted)
		log_warning("%" PRId64 " %s are in %s, and no output delivers them: %s and reload the agent "
			    "to have them sent",
			found->spans, items, found->path, change);
	else
		log_warning("there may be %s in %s, and no output delivers them: %s and reload the agent to "
			    "have them sent",
			items, found->path, change);
}

void leftover_tell(GHashTable *told, const struct config *config)
{
	g_autoptr(GPtrArray) list = spoollist_read(config->state_directory);

	for (guint i = 0; list && i < list->len; i++) {
		const struct spool_found *found = g_ptr_array_index(list, i);
		const struct output_config *is = config_output(config, found->output);

		if (is && config_lane_is_on(is, lane_kind(found->output, NULL)) && is->spool_size) {
			g_hash_table_remove(told, found->output);
			continue;
		}
		if ((found->counted && !found->spans) || !g_hash_table_add(told, g_strdup(found->output)))
			continue;
		tell(found, is);
	}
}
