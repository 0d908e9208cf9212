/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/backoff.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"

/* The longest wait that a server can ask for. */
#define ASKED_MAX_NS (300 * NS_PER_SECOND)
/* What it asks for is multiplied by 1 at least, and by this at most. */
#define ASKED_SPREAD 1.5
/* A wait may last such a part of the time that the server is away, or busy, and no more than this. */
#define AWAY_PART 10
#define AWAY_MAX_NS (30 * NS_PER_SECOND)
#define BUSY_MAX_NS (5 * NS_PER_SECOND)
/* Good service that lasts so long, or as long as the wait before it, makes the next wait short; so do so many
 * good answers: a server that takes most calls is not to be left alone for most of the time. */
#define GOOD_NS (5 * NS_PER_SECOND)
#define GOOD_CALLS 2

void backoff_init(struct backoff *backoff, struct event_base *base, event_callback_fn over, void *data)
{
	memset(backoff, 0, sizeof(*backoff));
	backoff->timer = evtimer_new(base, over, data);
	if (!backoff->timer)
		g_error("out of memory");
}

void backoff_set_pace(struct backoff *backoff, int64_t min_ns, int64_t max_ns)
{
	backoff->min_ns = min_ns;
	backoff->max_ns = max_ns;
	backoff_reset(backoff);
}

void backoff_free(struct backoff *backoff)
{
	event_free(backoff->timer);
}

static int64_t part_since(int64_t since, int64_t now, int64_t most)
{
	return since ? MIN((now - since) / AWAY_PART, most) : 0;
}

static int64_t most_of(const struct backoff *backoff, int64_t now)
{
	return MAX(backoff->max_ns, MAX(part_since(backoff->away, now, AWAY_MAX_NS),
					    part_since(backoff->busy, now, BUSY_MAX_NS)));
}

int64_t backoff_next(struct backoff *backoff, int64_t asked_ns, int64_t now)
{
	int64_t spread, ns;

	if (backoff->good &&
		(backoff->calls >= GOOD_CALLS || now - backoff->good >= MIN(GOOD_NS, backoff->wait)))
		backoff_reset(backoff);
	backoff->good = backoff->calls = 0;
	spread = MAX(backoff->bound - backoff->min_ns, 0);
	ns = backoff->min_ns + (int64_t)(g_random_double() * (double)spread);
	asked_ns = (int64_t)((double)MIN(asked_ns, ASKED_MAX_NS) * g_random_double_range(1, ASKED_SPREAD));
	if (!backoff->away)
		backoff->away = now;
	if (!backoff->busy)
		backoff->busy = now;
	backoff->bound = MIN(2 * backoff->bound, most_of(backoff, now));
	backoff->asked = asked_ns ? now + asked_ns : 0;
	backoff->wait = MAX(ns, asked_ns);
	return backoff->wait;
}

void backoff_begin(struct backoff *backoff, int64_t asked_ns)
{
	struct timeval time = clock_timeval(backoff_next(backoff, asked_ns, clock_monotonic()));

	backoff->on = true;
	backoff->wake_ends = false;
	event_add(backoff->timer, &time);
}

void backoff_end(struct backoff *backoff)
{
	event_del(backoff->timer);
	backoff->on = false;
}

void backoff_good(struct backoff *backoff, int64_t now)
{
	if (!backoff->good)
		backoff->good = now;
	backoff->calls++;
	backoff->away = 0;
	backoff->bound = MIN(backoff->bound, MAX(most_of(backoff, now), backoff->min_ns));
}

void backoff_connected(struct backoff *backoff)
{
	backoff->away = backoff->busy = 0;
	backoff->bound = MIN(backoff->bound, MAX(backoff->max_ns, backoff->min_ns));
}

void backoff_reset(struct backoff *backoff)
{
	backoff->bound = MIN(2 * backoff->min_ns, backoff->max_ns);
	backoff->away = backoff->busy = 0;
}

bool backoff_is_asked(const struct backoff *backoff)
{
	return backoff->asked && clock_monotonic() < backoff->asked;
}
