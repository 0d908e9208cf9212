/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dev/shm, where LTTng has the ring buffers of all users, and which anybody may fill. A program whose user
 * has no buffers yet records nothing then, for as long as it runs.
 */
#ifndef SESSION_SHAREDMEMORY_H
#define SESSION_SHAREDMEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

#define SHAREDMEMORY_FOLDER "/dev/shm"

struct sharedmemory {
	uint64_t size, free; /* bytes; a size of 0: it is not known, or has no bound */
	uint64_t need;       /* of a user's buffers */
	uint64_t event_max;  /* which no event of a span reaches: a sub-buffer of theirs */
};

/* What the buffers of a user may take, in bytes. */
uint64_t sharedmemory_need(const struct config *config);

void sharedmemory_look(const struct config *config, struct sharedmemory *memory);

/* The same but for what a user needs, which stays. */
void sharedmemory_refresh(struct sharedmemory *memory);

/* Less than a tenth is free, or less than another user's buffers need. */
static inline bool sharedmemory_is_short(const struct sharedmemory *memory)
{
	return memory->size && (memory->free < memory->size / 10 || memory->free < memory->need);
}

#endif
