/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sharedmemory.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <glib.h>

#include "session/channelsize.h"

/* Returns the size of a sub-buffer; adds what all rings of the channel need. */
static uint64_t add_channel(const struct config *config, const char *name, uint64_t *need)
{
	struct lttng_channel_attr attr = {0};

	channelsize_of(config, name, &attr);
	*need += channelsize_cpus() * attr.subbuf_size * attr.num_subbuf;
	return attr.subbuf_size;
}

uint64_t sharedmemory_need(const struct config *config)
{
	uint64_t need = 0;

	add_channel(config, CHANNEL, &need);
	if (config_records_events(config))
		add_channel(config, EVENTS_CHANNEL, &need);
	return need;
}

void sharedmemory_refresh(struct sharedmemory *memory)
{
	struct statvfs room;

	memory->size = memory->free = 0;
	if (statvfs(SHAREDMEMORY_FOLDER, &room) != 0)
		return;
	memory->size = (uint64_t)room.f_blocks * room.f_frsize;
	memory->free = (uint64_t)room.f_bavail * room.f_frsize;
}

void sharedmemory_look(const struct config *config, struct sharedmemory *memory)
{
	uint64_t need = 0;

	*memory = (struct sharedmemory){.event_max = add_channel(config, CHANNEL, &need)};
	sharedmemory_refresh(memory);
	memory->need = sharedmemory_need(config);
}
