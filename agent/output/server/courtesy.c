/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/courtesy.h"

#include <glib.h>

#include "base/clock.h"

/* A server that took something so shortly ago is only too busy for what is replayed. */
#define SERVES_NS (1 * NS_PER_SECOND)
/* So long after it was busy it gets more than one call at a time again. */
#define WIDEN_NS (1 * NS_PER_SECOND)
/* So long after it was busy, calls may be large again. */
#define SMALL_NS (5 * NS_PER_SECOND)
/* Until then a call has such a part of the items of one that was put off, and grows by such a part with each
 * that is taken; */
#define PUT_OFF_PART 0.5
#define GROW_PART 0.25
/* but at least such a part of what comes in a second, so that it costs little to ask, however long the server
 * is busy. */
#define LEAST_PART 0.05
/* A server that fails so often on one batch does not do so because it is busy. */
#define FAILURES 3
/* How much one batch changes the part that is taken; a batch is suspected only if it is the exception. */
#define TAKEN_WEIGHT (1.0 / 16)
#define TAKEN_MOST 0.5

void courtesy_init(struct courtesy *courtesy, uint32_t window)
{
	*courtesy = (struct courtesy){.window = window, .window_max = window, .most = UINT32_MAX, .taken = 1};
}

static void note(struct courtesy *courtesy, bool taken)
{
	courtesy->taken += ((taken ? 1 : 0) - courtesy->taken) * TAKEN_WEIGHT;
}

static uint32_t least(const struct courtesy *courtesy)
{
	return (uint32_t)CLAMP(courtesy->pace.usual * LEAST_PART, 1, 1e6);
}

void courtesy_good(struct courtesy *courtesy, int64_t now)
{
	note(courtesy, true);
	courtesy->good_at = now;
	courtesy->busy = false;
	if (now - courtesy->pace.busy_at > SMALL_NS)
		courtesy->most = UINT32_MAX;
	else if (courtesy->most < UINT32_MAX / 2)
		courtesy->most += MAX((uint32_t)(courtesy->most * GROW_PART), least(courtesy));
	if (courtesy->window < courtesy->window_max && now - courtesy->pace.busy_at > WIDEN_NS)
		courtesy->window++;
}

int64_t courtesy_wait(struct courtesy *courtesy, uint64_t waiting, int64_t now)
{
	return evenpace_wait(&courtesy->all, courtesy->pace.usual + courtesy->pace.rate, waiting, now);
}

uint32_t courtesy_most(const struct courtesy *courtesy)
{
	return MIN(courtesy->most, evenpace_most(&courtesy->all));
}

void courtesy_spend(struct courtesy *courtesy, uint32_t items, bool replayed)
{
	if (replayed)
		sendpace_spend(&courtesy->pace, items);
	evenpace_spend(&courtesy->all, items);
}

void courtesy_hurry(struct courtesy *courtesy)
{
	evenpace_end(&courtesy->all);
}

void courtesy_put_off(struct courtesy *courtesy, uint32_t items)
{
	courtesy->most = MAX((uint32_t)(MIN(courtesy->most, items) * PUT_OFF_PART), least(courtesy));
}

void courtesy_too_fast(struct courtesy *courtesy, int64_t now)
{
	courtesy->window = 1;
	sendpace_busy(&courtesy->pace, now);
}

void courtesy_failed(struct courtesy *courtesy, enum fault fault, unsigned failures, int64_t now)
{
	courtesy->good_at = 0;
	courtesy->window = 1;
	courtesy->busy = fault == FAULT_TRY_LATER || fault == FAULT_CLOSED;
	if (failures >= FAILURES)
		sendpace_forgive(&courtesy->pace);
	else if (fault_is_answer(fault))
		sendpace_busy(&courtesy->pace, now);
	else
		sendpace_restart(&courtesy->pace, now);
	if (courtesy->busy &&
		courtesy->pace.usual > 0) /* an agent that has just begun knows no rate to keep */
		evenpace_busy(&courtesy->all, now);
}

void courtesy_not_taken(struct courtesy *courtesy)
{
	note(courtesy, false);
}

bool courtesy_takes_most(const struct courtesy *courtesy)
{
	return courtesy->taken > TAKEN_MOST;
}

bool courtesy_serves(const struct courtesy *courtesy, int64_t now)
{
	return courtesy->good_at && now - courtesy->good_at < SERVES_NS;
}
