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

/* So many may be taken now. */
static uint64_t count_free(const struct flight_rate *rate, int64_t now)
{
	uint64_t most = MIN(rate->per_minute, FLIGHT_RATE_MAX), last = MIN(rate->count, most), taken = 0;

	for (uint64_t i = 1; i <= last; i++)
		taken += now - rate->taken[(rate->count - i) % FLIGHT_RATE_MAX] < 60 * NS_PER_SECOND;
	return MIN(most - taken, FLIGHT_WAITING - rate->waiting);
}

static const struct flight_user *find_user(const struct flight_rate *rate, uint32_t user)
{
	static const struct flight_user nobody;

	for (unsigned i = 0; i < FLIGHT_USERS; i++)
		if (rate->users[i].is && rate->users[i].user == user)
			return &rate->users[i];
	return &nobody;
}

/* Users who were refused lately, and whose turn it is before that of @user, of whom one was taken later. */
static uint64_t count_before(const struct flight_rate *rate, uint32_t user, int64_t now)
{
	int64_t taken = find_user(rate, user)->taken;
	uint64_t before = 0;

	for (unsigned i = 0; i < FLIGHT_USERS; i++) {
		const struct flight_user *other = &rate->users[i];

		before += other->is && other->user != user && other->taken < taken &&
			  other->refused > other->taken && now - other->refused < FLIGHT_TURN_NS;
	}
	return before;
}

bool flight_rate_has_room(const struct flight_rate *rate, uint32_t user, int64_t now)
{
	return count_free(rate, now) > count_before(rate, user, now);
}

static int64_t last_heard_of(const struct flight_user *user)
{
	return user->is ? MAX(user->taken, user->refused) : 0;
}

/* The user's place; if it has none, that of whoever was not heard of for longest. */
static struct flight_user *place_of(struct flight_rate *rate, uint32_t user)
{
	struct flight_user *place = rate->users;

	for (unsigned i = 0; i < FLIGHT_USERS; i++) {
		struct flight_user *other = &rate->users[i];

		if (other->is && other->user == user)
			return other;
		if (last_heard_of(other) < last_heard_of(place))
			place = other;
	}
	*place = (struct flight_user){.user = user, .is = true};
	return place;
}

enum flight_verdict flight_rate_offer(struct flight_rate *rate, uint64_t trace_id, uint32_t user, int64_t now)
{
	if (flight_rate_knows(rate, trace_id))
		return FLIGHT_KNOWN;
	rate->seen[rate->seen_count++ % FLIGHT_SEEN] = trace_id;
	if (!flight_rate_has_room(rate, user, now)) {
		place_of(rate, user)->refused = now;
		return FLIGHT_TOO_MANY;
	}
	place_of(rate, user)->taken = now;
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
