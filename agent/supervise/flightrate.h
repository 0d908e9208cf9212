/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of which late traces the flight recorder is asked: each once, and so many a minute. Where there are more,
 * users take turns: nobody is refused again and again for somebody else's flood. No threads, no clock.
 */
#ifndef SUPERVISE_FLIGHTRATE_H
#define SUPERVISE_FLIGHTRATE_H

#include <stdbool.h>
#include <stdint.h>

/* No configuration allows more in a minute. */
#define FLIGHT_RATE_MAX 60
/* So many traces are remembered, and so many may wait for their turn. */
#define FLIGHT_SEEN 256
#define FLIGHT_WAITING 4
/* So many users take turns, those who were heard of last; and so long after it was refused a user's turn is
 * kept. */
#define FLIGHT_USERS 32
#define FLIGHT_TURN_NS (INT64_C(300) * 1000000000)
/* A trace waits for so long, as its other spans may be about to end, and come. */
#define FLIGHT_DELAY_NS (INT64_C(1000000000))

struct flight_rate {
	uint64_t per_minute;
	int64_t taken[FLIGHT_RATE_MAX]; /* when the last ones were, in a ring, ns of any clock */
	uint64_t count;                 /* of all that were */
	uint64_t seen[FLIGHT_SEEN];     /* ids, the same */
	uint64_t seen_count;
	struct flight_waits {
		uint64_t trace_id;
		int64_t due;
	} waits[FLIGHT_WAITING]; /* in order */
	unsigned waiting;
	struct flight_user {
		uint32_t user;
		bool is;
		int64_t taken, refused; /* when its last ones were; 0: none was */
	} users[FLIGHT_USERS];
};

enum flight_verdict {
	FLIGHT_TAKEN, /* it waits for its turn */
	FLIGHT_KNOWN, /* it was offered before */
	FLIGHT_TOO_MANY
};

/* Whether this trace, by the lower half of its id, was offered before; and whether one that was not would be
 * taken of @user, who has recorded the late span; any number stands for those that are not known. */
bool flight_rate_knows(const struct flight_rate *rate, uint64_t trace_id);
bool flight_rate_has_room(const struct flight_rate *rate, uint32_t user, int64_t now);

/* A trace is late, the same. */
enum flight_verdict flight_rate_offer(
	struct flight_rate *rate, uint64_t trace_id, uint32_t user, int64_t now);

/* Takes the next one whose turn it is out of those that wait; false if it is nobody's. */
bool flight_rate_next(struct flight_rate *rate, int64_t now, uint64_t *trace_id);

#endif
