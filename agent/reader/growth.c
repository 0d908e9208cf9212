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

#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "session/channelsize.h"
#include "session/measure.h"
#include "session/sharedmemory.h"

/* So few lost events in so long do not tell that buffers are too small: an event that is too large for any is
 * one. */
#define DISCARDED_MIN 100
#define FEW_NS (60 * NS_PER_SECOND)
/* The shortest time between two steps, and the longest until one that failed is tried again. */
#define PAUSE_NS (2 * NS_PER_SECOND)
#define PAUSE_MAX_NS (300 * NS_PER_SECOND)
/* Buffers of all users together grow to no more than one part in so many of /dev/shm. */
#define ROOM_PART 4

static bool are_settings(const struct keeper *keeper)
{
	return session_has_settings(keeper->config, progress_session(keeper->progress));
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

static void forget_seen(struct keeper *keeper)
{
	keeper->discarded = keeper->seen;
	keeper->few_until = 0;
}

void keeper_forget_discarded(struct keeper *keeper)
{
	keeper->seen = pipeline_discarded(keeper->pipeline);
	forget_seen(keeper);
}

/* Whether so many were lost that it matters. */
static bool loses_many(struct keeper *keeper, int64_t now)
{
	const uint64_t discarded = pipeline_discarded(keeper->pipeline);

	if (keeper->few_until && now >= keeper->few_until)
		forget_seen(keeper);
	if (!keeper->few_until && discarded != keeper->discarded)
		keeper->few_until = now + FEW_NS;
	keeper->seen = discarded;
	return discarded - keeper->discarded >= DISCARDED_MIN;
}

bool keeper_outgrows(struct keeper *keeper)
{
	const int64_t now = clock_monotonic();
	uint64_t size;

	if (!loses_many(keeper, now) || now < keeper->grow_next)
		return false;
	size = next_size(keeper->config, channelsize_memory(keeper->config));
	if (size && have_room(keeper, size))
		return true;
	forget_seen(keeper);
	keeper->grow_next = now + PAUSE_NS;
	return false;
}

void keeper_grow(struct keeper *keeper, struct reader **attached, bool *at_once)
{
	const uint64_t is = channelsize_memory(keeper->config), size = next_size(keeper->config, is);
	char from[HUMAN_MAX], to[HUMAN_MAX];
	bool done;

	log_warning("ring buffers of programs were full, and %" PRIu64
		    " events are lost: each user's grow from %s to %s (`memory-max` in [session])",
		keeper->seen - keeper->discarded, human_size(from, is), human_size(to, size));
	channelsize_grow(size);
	done = keeper_hand_over(keeper, attached, at_once);
	if (!done)
		channelsize_grow(is);
	keeper->grow_failed = done ? 0 : keeper->grow_failed + 1;
	keeper_forget_discarded(keeper);
	keeper->grow_next = clock_monotonic() + clock_backoff(PAUSE_NS, keeper->grow_failed, PAUSE_MAX_NS);
}
