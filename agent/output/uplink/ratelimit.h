/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A limit of the bytes sent per second, over all servers of an output. No I/O, no clock.
 *
 * A call is sent as a whole as soon as nothing is owed, and paid for afterwards. So a call that is larger
 * than the limit can be sent too, and its time-out is not used up by waiting in a socket, as it would be if
 * its bytes were held back.
 */
#ifndef OUTPUT_UPLINK_RATELIMIT_H
#define OUTPUT_UPLINK_RATELIMIT_H

#include <stdint.h>

struct ratelimit {
	uint64_t limit; /* bytes/s; 0: none */
	int64_t free;   /* when nothing is owed any more, CLOCK_MONOTONIC ns */
};

/* How long to wait at @now before sending more; 0: not at all. */
int64_t ratelimit_wait(const struct ratelimit *rate, int64_t now);

/* Counts bytes sent at @now. */
void ratelimit_spend(struct ratelimit *rate, uint64_t bytes, int64_t now);

#endif
