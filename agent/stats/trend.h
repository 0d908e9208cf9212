/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the rate and the p99 of each series went: sixty points, one each ten seconds or one a minute. A point
 * has the buckets of both numbers (histogram.h), so 10,000 series take 2.4 MB, and few take little.
 */
#ifndef STATS_TREND_H
#define STATS_TREND_H

#include "stats/snapshot.h"

#define TREND_POINTS 60

struct trend;

struct trend *trend_create(void);
void trend_destroy(struct trend *trend);

/* Begins the next point, which is 0 for every series, and in place of the oldest. */
void trend_next(struct trend *trend);

/* Sets it for one: what the series had since the point before. */
void trend_set(struct trend *trend, uint32_t number, const struct series *series);

/* All points of one are 0: it is another series from now on. */
void trend_forget(struct trend *trend, uint32_t number);

/* The points there are, the oldest first: spans, and ns; returns how many. */
unsigned trend_read(
	const struct trend *trend, uint32_t number, double spans[TREND_POINTS], double p99[TREND_POINTS]);

#endif
