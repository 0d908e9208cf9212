/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/evenpace.h"

#include <glib.h>

#include "base/clock.h"

/* These are tests/cluster/simulate's, for one node before a server that takes little more than that node has,
 * for many, and for a server that puts off a call now and then. So long after it was busy, */
#define ON_NS (10 * NS_PER_SECOND)
/* what waits goes within about so many seconds, beside what comes. */
#define EMPTY 2.0
/* What may be sent in so many seconds is the most that a call has, as one that is put off costs the server
 * something, too; */
#define CALL 0.15
/* and what may be sent at once. */
#define BURST 0.1
/* But a call costs, too: no fewer spans than this in it, and in a second. */
#define FEW 4.0

void evenpace_busy(struct evenpace *pace, int64_t now)
{
	pace->busy_at = now;
	pace->credit = 0;
}

bool evenpace_is_on(const struct evenpace *pace, int64_t now)
{
	return !pace->over && pace->busy_at && now - pace->busy_at < ON_NS;
}

int64_t evenpace_wait(struct evenpace *pace, double come, uint64_t waiting, int64_t now)
{
	double seconds = (double)(now - pace->now) / (double)NS_PER_SECOND;

	pace->now = now;
	if (!evenpace_is_on(pace, now)) {
		pace->rate = pace->credit = 0;
		return 0;
	}
	pace->rate = MAX(come + (double)waiting / EMPTY, FEW);
	pace->credit = MIN(pace->credit + pace->rate * seconds, pace->rate * BURST);
	if (pace->credit > 0)
		return 0;
	return CLAMP((int64_t)(-pace->credit / pace->rate * (double)NS_PER_SECOND), NS_PER_MS, NS_PER_SECOND);
}

uint32_t evenpace_most(const struct evenpace *pace)
{
	return pace->rate > 0 ? (uint32_t)CLAMP(pace->rate * CALL, FEW, 1e9) : UINT32_MAX;
}

void evenpace_spend(struct evenpace *pace, uint32_t spans)
{
	pace->credit -= spans;
}

void evenpace_end(struct evenpace *pace)
{
	pace->over = true;
}
