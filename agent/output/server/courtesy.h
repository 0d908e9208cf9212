/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a server is asked for at a time. What it puts off costs it, too; so one that is busy gets one
 * small call, and more with each that it takes, and what is replayed from disk gets slower. No I/O, no clock.
 */
#ifndef OUTPUT_SERVER_COURTESY_H
#define OUTPUT_SERVER_COURTESY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/fault.h"
#include "output/server/sendpace.h"

struct courtesy {
	struct sendpace pace; /* of what is replayed */
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
