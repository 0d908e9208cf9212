/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a queue gets longer. One that is emptied now and then, in bursts, is as long as ever at its
 * shortest; so what it was at the least in each few seconds is compared. No I/O, and no thread.
 */
#ifndef QUEUE_TROUGH_H
#define QUEUE_TROUGH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define TROUGH_NS (5 * NS_PER_SECOND)

struct trough {
	int64_t began;               /* what is looked at now, CLOCK_MONOTONIC ns; 0: nothing yet */
	size_t least, last, earlier; /* bytes: now, before that, and before that */
	unsigned known;              /* how many are over, up to two */
};

/* @bytes wait at @now. To be called before some come, and once some went. */
static inline void trough_note(struct trough *trough, size_t bytes, int64_t now)
{
	if (!trough->began) {
		trough->began = now;
		trough->least = bytes;
	} else if (now - trough->began >= TROUGH_NS) {
		trough->earlier = trough->last;
		trough->last = trough->least;
		trough->known += trough->known < 2;
		trough->began = now;
		trough->least = bytes;
	} else if (bytes < trough->least) {
		trough->least = bytes;
	}
}

static inline bool trough_grows(const struct trough *trough)
{
	return trough->known == 2 && trough->last > trough->earlier && trough->least >= trough->last;
}

#endif
