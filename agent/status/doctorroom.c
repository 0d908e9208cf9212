/* SPDX-License-Identifier: BSD-2-Clause */
/* What all users of the node share, and one of them may use up: the statistics' names, and /dev/shm. */
#include <inttypes.h>

#include <glib.h>

#include "base/human.h"
#include "status/doctor.h"

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

static void examine_memory(struct findings *findings, const struct status *status)
{
	const struct sharedmemory *memory = &status->activity.memory;
	char some[HUMAN_MAX], all[HUMAN_MAX], need[HUMAN_MAX];

	if (sharedmemory_is_short(memory))
		finding_add(findings, "shm-full",
			"make room there (`du -a /dev/shm` and `ls -l /dev/shm` show whose files they are), "
			"make it larger (mount -o remount,size=... /dev/shm), or lower `memory` in "
			"[session]; then "
			"restart the programs that were started meanwhile",
			"%s of %s are free in " SHAREDMEMORY_FOLDER
			", where LTTng's buffers are, and a user's need %s: "
			"programs of users who have none yet record nothing, for as long as they run",
			human_size(some, memory->free), human_size(all, memory->size),
			human_size(need, memory->need));
}

void findings_add_room(struct findings *findings, const struct status *status)
{
	examine_memory(findings, status);
	examine_names(findings, status);
}
