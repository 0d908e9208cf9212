/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/backoff.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"

/* The longest wait that a server can ask for. */
#define ASKED_MAX_NS (300 * NS_PER_SECOND)

void rest_init(struct rest *rest, struct event_base *base, int64_t min_ns, int64_t max_ns,
	event_callback_fn over, void *data)
{
	memset(rest, 0, sizeof(*rest));
	rest->min_ns = min_ns;
	rest->max_ns = max_ns;
	rest->timer = evtimer_new(base, over, data);
	if (!rest->timer)
		g_error("out of memory");
	rest_reset(rest);
}

void rest_free(struct rest *rest)
{
	event_free(rest->timer);
}

void rest_begin(struct rest *rest, int64_t asked_ns)
{
	int64_t spread = MAX(rest->bound - rest->min_ns, 0);
	int64_t ns = rest->min_ns + (int64_t)(g_random_double() * (double)spread);
	struct timeval time;

	asked_ns = MIN(asked_ns, ASKED_MAX_NS);
	ns = MAX(ns, asked_ns);
	time = clock_timeval(ns);
	rest->bound = MIN(2 * rest->bound, rest->max_ns);
	rest->asked = asked_ns ? clock_monotonic() + asked_ns : 0;
	rest->on = true;
	rest->wake_ends = false;
	event_add(rest->timer, &time);
}

void rest_end(struct rest *rest)
{
	event_del(rest->timer);
	rest->on = false;
}

void rest_reset(struct rest *rest)
{
	rest->bound = MIN(2 * rest->min_ns, rest->max_ns);
}

bool rest_is_asked(const struct rest *rest)
{
	return rest->asked && clock_monotonic() < rest->asked;
}
