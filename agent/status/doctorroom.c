/* SPDX-License-Identifier: BSD-2-Clause */
/* What all users of the node share, and one of them may use up: the names of the statistics. */
#include <inttypes.h>

#include <glib.h>

#include "status/finding.h"

static void examine_names(struct findings *findings, const struct status *status)
{
	uint32_t user = UINT32_MAX, names = 0;
	uint64_t spans = status->monitor ? monitor_summed(status->monitor, &user, &names) : 0;
	g_autofree char *who = user == UINT32_MAX
				       ? g_strdup("senders and programs of unknown users have")
				       : g_strdup_printf("programs of user %" PRIu32 " have", user);

	if (spans)
		finding_add(findings, "names-full",
			"let these programs use fewer names: what differs from span to span, as an id or a "
			"path, belongs into a tag (`blkin top --once` lists the names); a name that is not "
			"used any more makes room after an hour",
			"%" PRIu64
			" spans of the last seconds have names for which there was no room: `blkin "
			"top`, the page and /metrics sum them up as `other`; %s %" PRIu32 " of %d names",
			spans, who, names, STATISTICS_SERIES_MAX);
}

void findings_add_room(struct findings *findings, const struct status *status)
{
	examine_names(findings, status);
}
