/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cap on the bytes that are sent in a second, over all servers. No I/O, no clock.
 *
 * A call goes out as soon as nothing is owed, and is paid for afterwards: so a call that is larger than a
 * second's worth goes too, and the time that it may take is not used up by waiting in a socket, as it would
 * be if the bytes themselves were held back.
 */
#ifndef UPLINK_RATELIMIT_H
#define UPLINK_RATELIMIT_H

#include <stdint.h>

struct rate {
	uint64_t limit; /* bytes/s; 0: none */
	int64_t free;   /* when nothing is owed any more, CLOCK_MONOTONIC ns */
};

/* How long to wait, at @now, before more is sent; 0: it may be at once. */
int64_t rate_wait(const struct rate *rate, int64_t now);

/* Counts bytes that are sent at @now. */
void rate_spend(struct rate *rate, uint64_t bytes, int64_t now);

#endif
