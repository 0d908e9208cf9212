/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a server is asked for at a time. What it puts off costs it, too; so one that is busy gets one
 * small call, and more with each that it takes, and what is replayed from disk gets slower. For a while all
 * is sent evenly. No I/O, no clock.
 */
#ifndef OUTPUT_SERVER_COURTESY_H
#define OUTPUT_SERVER_COURTESY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/fault.h"
#include "output/server/evenpace.h"
#include "output/server/sendpace.h"

struct courtesy {
	struct sendpace pace; /* of what is replayed, */
	struct evenpace all;  /* and of all, while it was busy lately */
	uint32_t window;      /* calls open at once, at most, */
	uint32_t window_max;
	uint32_t most;   /* and items of one */
	double taken;    /* the part of the latest batches that was taken when they came first: 0 to 1 */
	int64_t good_at; /* its latest good answer, CLOCK_MONOTONIC ns; 0: none since it failed */
	bool busy;       /* it failed by asking for time, or by ending the connection */
};

void courtesy_init(struct courtesy *courtesy, uint32_t window);

/* It took a call. */
void courtesy_good(struct courtesy *courtesy, int64_t now);

/*
 * How long the next call waits at @now, ns, of those that are not only replayed, while so many fresh items
 * wait; 0: not at all. Not to be asked while the server rests.
 */
int64_t courtesy_wait(struct courtesy *courtesy, uint64_t waiting, int64_t now);

/* How many items it may have; and so many are sent, from disk if @replayed. */
uint32_t courtesy_most(const struct courtesy *courtesy);
void courtesy_spend(struct courtesy *courtesy, uint32_t items, bool replayed);

/* There is no time to be even, from here on. */
void courtesy_hurry(struct courtesy *courtesy);

/* It put off a call of so many items: the next one is smaller. */
void courtesy_put_off(struct courtesy *courtesy, uint32_t items);

/* The same of what is replayed, while it serves. */
void courtesy_too_fast(struct courtesy *courtesy, int64_t now);

/* It rests now, because of @fault; on a batch on which it has failed so often. */
void courtesy_failed(struct courtesy *courtesy, enum fault fault, unsigned failures, int64_t now);

/* A batch that came for the first time was not taken: whether it is the exception, and suspected therefore.
 */
void courtesy_not_taken(struct courtesy *courtesy);
bool courtesy_takes_most(const struct courtesy *courtesy);

/* Whether it took something a moment ago. */
bool courtesy_serves(const struct courtesy *courtesy, int64_t now);

#endif
