/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/leftover.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "spool/spoollist.h"
#include "spool/spoolname.h"

/* What to change for an output to have it. */
static char *advice(const struct output_config *is, const char *name)
{
	if (!is)
		return strcmp(name, SPOOLNAME_DEFAULT) ? g_strdup_printf("add [output %s]", name)
						       : g_strdup("add [output]");
	return g_strdup_printf(
		is->type == CONFIG_OUTPUT_NONE ? "set another `type` in [%s]" : "set a `spool-size` in [%s]",
		is->section);
}

static void tell(const struct spool_found *found, const struct output_config *is)
{
	g_autofree char *change = advice(is, found->output);

	if (found->counted)
		log_warning("%" PRId64
			    " spans are in %s, and no output delivers them: %s and reload the agent "
			    "to have them sent",
			found->spans, found->path, change);
	else
		log_warning(
			"there may be spans in %s, and no output delivers them: %s and reload the agent to "
			"have them sent",
			found->path, change);
}

void leftover_tell(GHashTable *told, const struct config *config)
{
	g_autoptr(GPtrArray) list = spoollist_read(config->state_directory);

	for (guint i = 0; list && i < list->len; i++) {
		const struct spool_found *found = g_ptr_array_index(list, i);
		const struct output_config *is = config_output(config, found->output);

		if (is && is->type != CONFIG_OUTPUT_NONE && is->spool_size) {
			g_hash_table_remove(told, found->output);
			continue;
		}
		if ((found->counted && !found->spans) || !g_hash_table_add(told, g_strdup(found->output)))
			continue;
		tell(found, is);
	}
}
