/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/windows.h"

#include "base/clock.h"
#include "stats/inner.h"

/* What came about in some time. */
struct slot {
	int64_t until; /* CLOCK_MONOTONIC ns */
	struct buffer change;
};

/* A window: it has `most` slots of the same length, and others wait until they make such a one together. */
struct level {
	struct plane *base;
	GQueue slots, waiting; /* of struct slot *, the oldest first */
	guint most, together;
};

struct windows {
	const struct statistics *statistics;
	struct plane *before, *last; /* as of the last two ticks */
	struct level levels[WINDOWS];
	size_t used, memory;
};

/* Slots of 10 s, 1 min and 5 min; each window begins where the one before it ends. */
static const struct {
	guint most, together;
} shapes[WINDOWS] = {[WINDOW_1] = {6, 1}, [WINDOW_10] = {9, 6}, [WINDOW_60] = {10, 5}};

struct windows *windows_create(const struct statistics *statistics, size_t memory)
{
	struct windows *windows = g_new0(struct windows, 1);

	windows->statistics = statistics;
	windows->memory = memory;
	windows->before = plane_create(statistics->since);
	windows->last = plane_create(statistics->since);
	for (int i = 0; i < WINDOWS; i++) {
		struct level *level = &windows->levels[i];

		level->base = plane_create(statistics->since);
		level->most = shapes[i].most;
		level->together = shapes[i].together;
		g_queue_init(&level->slots);
		g_queue_init(&level->waiting);
	}
	return windows;
}

/* Slots */

static struct slot *slot_create(
	struct windows *windows, int64_t until, const struct plane *now, const struct plane *before)
{
	struct slot *slot = g_new0(struct slot, 1);

	slot->until = until;
	plane_pack_change(&slot->change, now, before);
	windows->used += slot->change.room;
	return slot;
}

static void slot_destroy(struct windows *windows, struct slot *slot)
{
	windows->used -= slot->change.room;
	buffer_free(&slot->change);
	g_free(slot);
}

static void follow(struct plane *base, const struct slot *slot)
{
	plane_add(base, &slot->change);
	base->at = slot->until;
}

/* One slot of those that wait. */
static struct slot *join(struct windows *windows, GQueue *waiting)
{
	struct plane *sum = plane_create(0);
	struct slot *slot, *joined;

	while ((slot = g_queue_pop_head(waiting))) {
		follow(sum, slot);
		slot_destroy(windows, slot);
	}
	joined = slot_create(windows, sum->at, sum, NULL);
	plane_destroy(sum);
	return joined;
}

/* Time */

/* What falls out of a window goes to the next one; takes over @slot. */
static void advance(struct windows *windows, enum window window, struct slot *slot)
{
	struct level *level = &windows->levels[window];

	g_queue_push_tail(&level->waiting, slot);
	if (level->waiting.length < level->together)
		return;
	g_queue_push_tail(&level->slots,
		level->together == 1 ? g_queue_pop_head(&level->waiting) : join(windows, &level->waiting));
	if (level->slots.length <= level->most)
		return;
	slot = g_queue_pop_head(&level->slots);
	follow(level->base, slot);
	if (window + 1 < WINDOWS)
		advance(windows, window + 1, slot);
	else
		slot_destroy(windows, slot);
}

/* Makes the longest window shorter by its oldest slot, and with it those that begin with the same one. */
static void forget_oldest(struct windows *windows)
{
	for (int i = WINDOWS; i-- > 0;) {
		struct level *level = &windows->levels[i];
		struct slot *slot = g_queue_pop_head(level->slots.length ? &level->slots : &level->waiting);

		if (!slot)
			continue;
		for (int k = i; k < WINDOWS; k++)
			follow(windows->levels[k].base, slot);
		slot_destroy(windows, slot);
		return;
	}
}

void windows_tick(struct windows *windows)
{
	struct plane *now = windows->before, *last = windows->last;

	plane_read(now, windows->statistics); /* over what was older still */
	advance(windows, WINDOW_1, slot_create(windows, now->at, now, last));
	windows->last = now;
	windows->before = last;
	while (windows->used > windows->memory)
		forget_oldest(windows);
}

/* Looking */

const struct plane *windows_base(const struct windows *windows, enum window window)
{
	return windows->levels[window].base;
}

const struct plane *windows_before(const struct windows *windows)
{
	return windows->before;
}

size_t windows_memory(const struct windows *windows)
{
	return windows->used;
}

void windows_destroy(struct windows *windows)
{
	for (int i = 0; i < WINDOWS; i++) {
		struct level *level = &windows->levels[i];
		struct slot *slot;

		while ((slot = g_queue_pop_head(&level->slots)) || (slot = g_queue_pop_head(&level->waiting)))
			slot_destroy(windows, slot);
		plane_destroy(level->base);
	}
	plane_destroy(windows->before);
	plane_destroy(windows->last);
	g_free(windows);
}
