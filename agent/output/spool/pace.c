/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/pace.h"

#include <glib.h>

#include "base/clock.h"

/* Nodes that lost the same collector begin their replay within this time, */
#define BEGIN_NS (1 * NS_PER_SECOND)
/* each at its own pace, within these bounds. */
#define JITTER_MIN 0.8
#define JITTER_MAX 1.2
/* The part of a second's spans that may be sent at once. */
#define BURST 0.25

void pace_init(struct pace *pace, uint64_t share, uint64_t floor)
{
	*pace = (struct pace){
		.ratio = share >= 100 ? -1 : (double)share / (double)(100 - share),
		.floor = (double)floor,
		.jitter = 1,
	};
}

void pace_restart(struct pace *pace, int64_t now, uint64_t fresh)
{
	pace->jitter = g_random_double_range(JITTER_MIN, JITTER_MAX);
	pace->begin = now + (int64_t)(g_random_double() * (double)BEGIN_NS);
	pace->now = now;
	pace->fresh = fresh;
	pace->fresh_rate = pace->credit = 0;
}

bool pace_step(struct pace *pace, int64_t now, uint64_t fresh)
{
	double seconds = (double)(now - pace->now) / NS_PER_SECOND, rate;

	if (seconds > 0) {
		double latest = (double)(fresh - pace->fresh) / seconds;

		pace->fresh_rate += (latest - pace->fresh_rate) * MIN(seconds, 1);
		pace->fresh = fresh;
		pace->now = now;
	}
	if (now < pace->begin)
		return false;
	if (pace->ratio < 0)
		return true;
	rate = MAX(pace->floor, pace->ratio * pace->fresh_rate) * pace->jitter;
	pace->credit = MIN(pace->credit + rate * MAX(seconds, 0), rate * BURST);
	return pace->credit > 0;
}

void pace_spend(struct pace *pace, uint32_t spans)
{
	pace->credit -= spans;
}
