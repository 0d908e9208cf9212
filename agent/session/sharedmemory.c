/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sharedmemory.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <glib.h>

#include "session/tracing.h"

static uint64_t channel_need(const struct config *config, const char *name)
{
	struct lttng_channel_attr attr = {0};

	tracing_size_channel(config, name, &attr);
	return (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * attr.subbuf_size * attr.num_subbuf;
}

void sharedmemory_look(const struct config *config, struct sharedmemory *memory)
{
	struct statvfs room;

	*memory = (struct sharedmemory){0};
	if (statvfs(SHAREDMEMORY_FOLDER, &room) != 0 || !room.f_blocks)
		return;
	memory->size = (uint64_t)room.f_blocks * room.f_frsize;
	memory->free = (uint64_t)room.f_bavail * room.f_frsize;
	memory->need = channel_need(config, CHANNEL);
	if (*config->event_names)
		memory->need += channel_need(config, EVENTS_CHANNEL);
}
