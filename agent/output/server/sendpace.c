/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/sendpace.h"

#include <glib.h>

#include "base/clock.h"

/* These are tests/cluster/simulate's, for clusters whose collectors have little or much to spare, and whose
 * nodes send little or much. The rate begins with the larger of these parts, of what is usual and of the
 * floor, */
#define BEGIN_USUAL 0.1
#define BEGIN_FLOOR 0.01
/* grows each second by the larger of a part of what is usual and one of itself, which is between two of the
 * floor: where it grows with itself, nodes that are ahead stay so, */
#define GROW_USUAL 0.03
#define GROW_RATE 0.1
#define GROW_FLOOR 0.002
#define GROW_FLOOR_MAX 0.02
/* and is multiplied by this when the server is busy, once in a second: one moment of it is seen by many
 * calls. */
#define FALL 0.5
#define FALL_NS (1 * NS_PER_SECOND)
/* No lower than this, and this part of what is usual, so that the server is tried, and no node pays off for
 * minutes what one call took. */
#define RATE_MIN 0.2
#define LEAST_USUAL 0.03
/* The server is left alone so long when it was busy, at random, and when it was away. */
#define REST_MIN_NS (50 * NS_PER_MS)
#define REST_MAX_NS (500 * NS_PER_MS)
#define RETURN_NS (1 * NS_PER_SECOND)
/* The part of a second's spans that may be sent at once. */
#define BURST 0.25
/* What one call took is paid within so many seconds: batches stored while more came than now are large for
 * the rate of today. */
#define DEBT 20.0
/* What is usual is the mean over such a time, and is looked at so often. */
#define USUAL_NS (10 * NS_PER_SECOND)
#define LOOK_NS (200 * NS_PER_MS)

static double begin_rate(const struct sendpace *pace)
{
	return MAX(MAX(BEGIN_USUAL * pace->usual, BEGIN_FLOOR * pace->floor), RATE_MIN);
}

static double growth(const struct sendpace *pace)
{
	double itself = CLAMP(GROW_RATE * pace->rate, GROW_FLOOR * pace->floor, GROW_FLOOR_MAX * pace->floor);

	return MAX(GROW_USUAL * pace->usual, itself);
}

void sendpace_look(struct sendpace *pace, int64_t now, uint64_t fresh, uint64_t floor)
{
	double latest;
	int64_t ns = now - pace->looked;

	pace->floor = (double)floor;
	if (!pace->looked) {
		pace->looked = now;
		pace->fresh = fresh;
	} else if (ns >= LOOK_NS) {
		latest = (double)(fresh - pace->fresh) * (double)NS_PER_SECOND / (double)ns;
		pace->usual += (latest - pace->usual) * MIN((double)ns / (double)USUAL_NS, 1);
		pace->looked = now;
		pace->fresh = fresh;
	}
	if (!pace->begun)
		pace->rate = begin_rate(pace);
}

void sendpace_restart(struct sendpace *pace, int64_t now)
{
	pace->rate = begin_rate(pace);
	pace->credit = 0;
	pace->limited_at = 0;
	pace->until = now + (int64_t)(g_random_double() * (double)RETURN_NS);
}

static void reckon(struct sendpace *pace, int64_t now)
{
	double seconds = pace->now ? (double)(now - pace->now) / (double)NS_PER_SECOND : 0;

	pace->credit = CLAMP(pace->credit + pace->rate * seconds, -pace->rate * DEBT, pace->rate * BURST);
	pace->now = now;
}

int64_t sendpace_wait(struct sendpace *pace, int64_t now)
{
	int64_t wait;

	reckon(pace, now);
	if (now < pace->until)
		return pace->until - now;
	if (pace->credit > 0)
		return 0;
	if (!pace->limited_at)
		pace->limited_at = now;
	wait = (int64_t)(-pace->credit / pace->rate * (double)NS_PER_SECOND);
	return CLAMP(wait, NS_PER_MS, NS_PER_SECOND);
}

void sendpace_spend(struct sendpace *pace, uint32_t spans)
{
	pace->credit -= spans;
	pace->begun = true;
}

void sendpace_forgive(struct sendpace *pace)
{
	pace->credit = MAX(pace->credit, 0);
	pace->until = 0;
}

void sendpace_grant(struct sendpace *pace, uint64_t spans)
{
	pace->rate = MIN(pace->rate, MAX((double)spans, RATE_MIN));
}

void sendpace_good(struct sendpace *pace, int64_t now)
{
	int64_t since = MAX(pace->limited_at, pace->busy_at + FALL_NS);

	if (!pace->limited_at || now <= since)
		return;
	/* large calls are seldom, and no reason to grow more slowly; but each doubles the rate at most */
	pace->rate += MIN(growth(pace) * (double)(now - since) / (double)NS_PER_SECOND, pace->rate);
	pace->limited_at = 0;
}

void sendpace_busy(struct sendpace *pace, int64_t now)
{
	pace->begun = true;
	reckon(pace, now);
	pace->credit = MIN(pace->credit, 0);
	pace->until = now + REST_MIN_NS + (int64_t)(g_random_double() * (double)(REST_MAX_NS - REST_MIN_NS));
	if (pace->busy_at && now - pace->busy_at < FALL_NS)
		return;
	pace->rate = MAX(pace->rate * FALL, MIN(pace->rate, MAX(LEAST_USUAL * pace->usual, RATE_MIN)));
	pace->busy_at = now;
}
