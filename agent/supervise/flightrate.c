/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/flightrate.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"

bool flight_rate_knows(const struct flight_rate *rate, uint64_t trace_id)
{
	uint64_t count = MIN(rate->seen_count, FLIGHT_SEEN);

	for (uint64_t i = 0; i < count; i++)
		if (rate->seen[i] == trace_id)
			return true;
	return false;
}

bool flight_rate_has_room(const struct flight_rate *rate, int64_t now)
{
	uint64_t most = MIN(rate->per_minute, FLIGHT_RATE_MAX);

	if (rate->waiting == FLIGHT_WAITING || !most)
		return false;
	/* the one so many before this one is a minute ago */
	return rate->count < most ||
	       now - rate->taken[(rate->count - most) % FLIGHT_RATE_MAX] >= 60 * NS_PER_SECOND;
}

enum flight_verdict flight_rate_offer(struct flight_rate *rate, uint64_t trace_id, int64_t now)
{
	if (flight_rate_knows(rate, trace_id))
		return FLIGHT_KNOWN;
	rate->seen[rate->seen_count++ % FLIGHT_SEEN] = trace_id;
	if (!flight_rate_has_room(rate, now))
		return FLIGHT_TOO_MANY;
	rate->taken[rate->count++ % FLIGHT_RATE_MAX] = now;
	rate->waits[rate->waiting++] = (struct flight_waits){trace_id, now + FLIGHT_DELAY_NS};
	return FLIGHT_TAKEN;
}

bool flight_rate_next(struct flight_rate *rate, int64_t now, uint64_t *trace_id)
{
	if (!rate->waiting || now < rate->waits[0].due)
		return false;
	*trace_id = rate->waits[0].trace_id;
	rate->waiting--;
	memmove(rate->waits, rate->waits + 1, rate->waiting * sizeof(*rate->waits));
	return true;
}
