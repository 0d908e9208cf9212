/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/drain.h"

#include "base/clock.h"

/* Shorter than this says little: a replay begins with a pause, and batches come in groups. */
#define SHORTEST_NS (2 * NS_PER_SECOND)
/* Ten years: more would only be a large number. */
#define SECONDS_MAX (10 * INT64_C(365) * 86400)

void drain_restart(struct drain *drain)
{
	drain->count = drain->next = 0;
}

void drain_note(struct drain *drain, bool delivering, int64_t left, int64_t now)
{
	unsigned last = (drain->next + DRAIN_SAMPLES - 1) % DRAIN_SAMPLES;

	if (!delivering && left > drain->left)
		drain_restart(drain);
	drain->left = left;
	if (drain->count && now - drain->sample[last].at < NS_PER_SECOND)
		return;
	drain->sample[drain->next].at = now;
	drain->sample[drain->next].left = left;
	drain->next = (drain->next + 1) % DRAIN_SAMPLES;
	drain->count += drain->count < DRAIN_SAMPLES;
}

enum drain_state drain_look(
	const struct drain *drain, int64_t left, int64_t now, bool paced, int64_t *seconds)
{
	unsigned first = (drain->next + DRAIN_SAMPLES - drain->count) % DRAIN_SAMPLES;
	double gone, needed;

	if (left <= 0)
		return DRAIN_EMPTY;
	if (!drain->count || now - drain->sample[first].at < SHORTEST_NS)
		return DRAIN_BEGINS;
	gone = (double)(drain->sample[first].left - left);
	if (gone <= 0)
		return gone < 0 || !paced ? DRAIN_STOPPED : DRAIN_BEGINS;
	needed = (double)left / gone * (double)(now - drain->sample[first].at) / NS_PER_SECOND;
	*seconds = needed < (double)SECONDS_MAX ? (int64_t)needed + 1 : SECONDS_MAX;
	return DRAIN_KNOWN;
}
