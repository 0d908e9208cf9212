/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pace of the replay: how many spans from disk may go out beside the fresh ones. A collector that comes
 * back has to take what is new from every node; what waited may take its time.
 */
#ifndef SPOOL_PACE_H
#define SPOOL_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	double ratio; /* spans for each fresh one; negative: as many as will go */
	double floor; /* spans a second at least */
	double jitter;
	double fresh_rate; /* spans a second, of late */
	double credit;     /* spans that may go out now */
	uint64_t fresh;    /* ever, at the last step */
	int64_t now;       /* of the last step, ns */
	int64_t begin;     /* nothing before, ns */
};

/* @share: of 100 spans that are sent, so many may be replayed. */
void pace_init(struct pace *pace, uint64_t share, uint64_t floor);

/* The collector is back at @now, @fresh spans having been sent, ever: after a while at random it begins anew.
 */
void pace_restart(struct pace *pace, int64_t now, uint64_t fresh);

/* Time passed: @fresh spans were sent, ever. Whether a batch may be replayed now. */
bool pace_step(struct pace *pace, int64_t now, uint64_t fresh);

/* A batch of so many spans is replayed. */
void pace_spend(struct pace *pace, uint32_t spans);

#endif
