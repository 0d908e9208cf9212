/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ring buffers that grow by need: keeperparts.h.
 *
 * They begin small, as each user who runs traced programs has their own, and LTTng before 2.15 takes all of
 * their memory at once. When they were full, and events were lost, a session with twice as large ones takes
 * the place of the one at hand, without a moment in which none records. They do not shrink again. Whoever
 * fills them on purpose makes all users' grow: so there are limits, of a user's and of the sum.
 */
#include "reader/keeperparts.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "session/channelsize.h"
#include "session/measure.h"
#include "session/sharedmemory.h"

/* So few lost events do not tell that buffers are too small: an event that is too large for any is one. */
#define DISCARDED_MIN 100
/* The shortest time between two steps. */
#define PAUSE_NS (2 * NS_PER_SECOND)
/* Buffers of all users together grow to no more than one part in so many of /dev/shm. */
#define ROOM_PART 4

static bool are_settings(const struct keeper *keeper)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	char settings[sizeof(identity->settings)];

	session_settings(keeper->config, settings, sizeof(settings));
	return !strcmp(settings, identity->settings);
}

static uint64_t most(const struct config *config)
{
	return MIN(config->memory_max, config->disk);
}

/* The size after this one that makes a difference, as rings have a least size; 0: there is none. */
static uint64_t next_size(const struct config *config, uint64_t size)
{
	uint64_t next = 2 * size;

	while (next <= most(config) && channelsize_sum(config, next) == channelsize_sum(config, size))
		next *= 2;
	return next <= most(config) ? next : 0;
}

bool keeper_has_our_settings(struct keeper *keeper)
{
	const uint64_t is = channelsize_memory(keeper->config);
	uint64_t size = keeper->config->memory;

	if (are_settings(keeper))
		return true;
	for (channelsize_grow(0); size && !are_settings(keeper); channelsize_grow(size))
		size = next_size(keeper->config, size);
	if (!size)
		channelsize_grow(is);
	return size != 0;
}

/* Whether the buffers of all users that there are have room with this size. */
static bool have_room(const struct keeper *keeper, uint64_t size)
{
	const struct config *config = keeper->config;
	struct sharedmemory memory;
	struct user_buffers buffers;
	uint64_t each = channelsize_sum(config, channelsize_memory(config)), need;

	sharedmemory_refresh(&memory);
	measure_buffers(config, progress_session(keeper->progress), &buffers);
	need = userbuffers_sum(&buffers) / each * channelsize_sum(config, size);
	return buffers.known && need <= memory.size / ROOM_PART && need <= memory.free;
}

bool keeper_outgrows(struct keeper *keeper)
{
	const uint64_t discarded = pipeline_discarded(keeper->pipeline);
	uint64_t size;

	if (discarded - keeper->discarded < DISCARDED_MIN || clock_monotonic() < keeper->grow_next)
		return false;
	size = next_size(keeper->config, channelsize_memory(keeper->config));
	if (size && have_room(keeper, size))
		return true;
	keeper->discarded = discarded;
	keeper->grow_next = clock_monotonic() + PAUSE_NS;
	return false;
}

void keeper_grow(struct keeper *keeper, struct reader **attached, bool *at_once)
{
	const uint64_t is = channelsize_memory(keeper->config), size = next_size(keeper->config, is),
		       discarded = pipeline_discarded(keeper->pipeline);
	char from[HUMAN_MAX], to[HUMAN_MAX];

	log_warning("ring buffers of programs were full, and %" PRIu64
		    " events are lost: each user's grow from %s to %s (`memory-max` in [session])",
		discarded - keeper->discarded, human_size(from, is), human_size(to, size));
	channelsize_grow(size);
	if (!keeper_hand_over(keeper, attached, at_once))
		channelsize_grow(is);
	keeper->discarded = discarded;
	keeper->grow_next = clock_monotonic() + PAUSE_NS;
}
