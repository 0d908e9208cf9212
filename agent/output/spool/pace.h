/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pace of the replay: how many spans from disk may be sent beside the fresh ones. A collector that comes
 * back gets fresh spans from every node at once; what waited on disk can wait longer.
 */
#ifndef OUTPUT_SPOOL_PACE_H
#define OUTPUT_SPOOL_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	double ratio; /* replayed spans for each fresh one; negative: no limit */
	double floor; /* spans a second at least */
	double jitter;
	double fresh_rate; /* spans a second, averaged over about a second */
	double credit;     /* spans that may be sent now */
	uint64_t fresh;    /* ever, at the last step */
	int64_t now;       /* of the last step, ns */
	int64_t begin;     /* nothing before, ns */
};

/* @share: how many of 100 spans that are sent may be replayed. */
void pace_init(struct pace *pace, uint64_t share, uint64_t floor);

/* The collector is back at @now, after @fresh spans were sent in all: begins anew after a random delay. */
void pace_restart(struct pace *pace, int64_t now, uint64_t fresh);

/* Whether a batch may be replayed at @now, when @fresh spans were sent in all. */
bool pace_step(struct pace *pace, int64_t now, uint64_t fresh);

/* Counts a batch that is replayed. */
void pace_spend(struct pace *pace, uint32_t spans);

#endif
