/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sharedmemory.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <glib.h>

#include "session/channelsize.h"

uint64_t sharedmemory_need(const struct config *config)
{
	return channelsize_sum(config, channelsize_memory(config));
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
	struct lttng_channel_attr attr = {0};

	channelsize_of(config, CHANNEL, &attr);
	*memory = (struct sharedmemory){.event_max = attr.subbuf_size, .need = sharedmemory_need(config)};
	sharedmemory_refresh(memory);
}
