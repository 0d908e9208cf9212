/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/busypace.h"

#include <math.h>

#include <glib.h>

#include "base/clock.h"

/* These are tests/cluster/simulate's, for one node before a server that takes a little more than that node
 * has, and for many. The rate begins with so many times what is usual, */
#define BEGIN 1.5
/* and anew when that has become so many times of what it was, as where others' nodes come to this one, */
#define ANEW 2.0
/* grows by such a part a second, which doubles with so many seconds in which spans were held back: more may
 * come now than what was usual, */
#define GROW 0.05
#define GROW_DOUBLES 3.0
/* and is multiplied by this when the server is busy, unless it has taken nothing since the last time: then it
 * was not this rate that it was too busy for. */
#define FALL 0.8
/* No lower than this part of what is usual, nor than this. */
#define LEAST_USUAL 0.05
#define RATE_MIN 1.0
/* What comes in so many seconds may be sent at once, and is the most that a call has: one that is refused
 * costs the server something, too. */
#define BURST 0.1
#define CALL 0.1
/* But so many, of a node with little to send: calls cost, too. */
#define FEW 4.0
/* There is no rate any more when the server was not busy for so long. */
#define OVER_NS (8 * NS_PER_SECOND)
/* What is usual is forgotten by such a part a second: programs that wait for the agent send it less. */
#define FORGET 0.02

void busypace_good(struct busypace *pace, double usual, int64_t now)
{
	double seconds = (double)(now - pace->good_at) / (double)NS_PER_SECOND;

	if (pace->good_at)
		pace->usual *= 1 - FORGET * CLAMP(seconds, 0, 1);
	pace->usual = MAX(pace->usual, usual);
	if (pace->on && pace->usual > ANEW * pace->begun) {
		pace->begun = pace->usual;
		pace->rate = MAX(pace->rate, BEGIN * pace->usual);
	}
	pace->good_at = now;
	pace->took = true;
}

void busypace_busy(struct busypace *pace, double replayed, int64_t now)
{
	if (!pace->on) {
		pace->on = pace->usual > 0;
		pace->begun = pace->usual;
		pace->rate = BEGIN * pace->usual + replayed;
		pace->credit = 0;
	} else if (pace->took) {
		pace->rate = MAX(pace->rate * FALL, LEAST_USUAL * pace->usual);
	}
	pace->rate = MAX(pace->rate, RATE_MIN);
	pace->credit = MIN(pace->credit, 0);
	pace->held = 0;
	pace->took = pace->holds = false;
	pace->rests = true;
	pace->now = now;
}

static void grow(struct busypace *pace, double seconds)
{
	double part = GROW * exp2(pace->held / GROW_DOUBLES);

	if (!pace->holds)
		return;
	pace->rate *= 1 + MIN(part * seconds, 1);
	pace->held += seconds;
}

int64_t busypace_wait(struct busypace *pace, int64_t now)
{
	double seconds = (double)(now - pace->now) / (double)NS_PER_SECOND;

	if (!pace->on)
		return 0;
	if (pace->rests)
		pace->since = now;
	pace->rests = false;
	if (now - pace->since > OVER_NS) {
		busypace_end(pace);
		return 0;
	}
	grow(pace, seconds);
	pace->credit = MIN(pace->credit + pace->rate * seconds, MAX(pace->rate * BURST, FEW));
	pace->now = now;
	pace->holds = pace->credit <= 0;
	if (!pace->holds)
		return 0;
	return CLAMP((int64_t)(-pace->credit / pace->rate * (double)NS_PER_SECOND), NS_PER_MS, NS_PER_SECOND);
}

void busypace_idle(struct busypace *pace)
{
	pace->holds = false;
}

uint32_t busypace_most(const struct busypace *pace)
{
	return pace->on ? (uint32_t)CLAMP(pace->rate * CALL, FEW, 1e9) : UINT32_MAX;
}

void busypace_spend(struct busypace *pace, uint32_t spans)
{
	pace->credit -= spans;
}

void busypace_end(struct busypace *pace)
{
	pace->on = pace->holds = false;
}
