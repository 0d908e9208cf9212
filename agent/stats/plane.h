/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All counts of the statistics as they were at one moment, place by place as the statistics have them: what
 * came about since is a subtraction. The counts of a bucket are modulo 2^32, which no
 * window reaches; of a plane that has none they are whole.
 *
 * A plane takes memory for what was counted only, and 4.3 MB at most.
 */
#ifndef STATS_PLANE_H
#define STATS_PLANE_H

#include "base/buffer.h"
#include "base/pack.h"
#include "stats/snapshot.h"
#include "stats/statistics.h"
#include "stats/sums.h"

struct plane {
	int64_t at;      /* CLOCK_MONOTONIC ns */
	uint32_t *parts; /* HISTOGRAM_STEPS counts for each part */
	struct sums *sums;
	uint32_t part_count, sums_count; /* so many are in use */
};

/* All zeros, of the moment @at. */
struct plane *plane_create(int64_t at);
void plane_destroy(struct plane *plane);

/* Makes it what the statistics are now. */
void plane_read(struct plane *plane, const struct statistics *statistics);

/*
 * What the series has now that it had not then: false if that is no span. @series borrows the names; its
 * histogram, which may be of another one, is written anew: histogram_clear is due in the end.
 */
bool plane_since(const struct plane *plane, const struct statistics *statistics, uint32_t number,
	struct series *series);

/* Appends what @now has more than @before, NULL for nothing: a few bytes for each count that differs. */
void plane_pack_change(struct buffer *out, const struct plane *now, const struct plane *before);

/* Adds such a change, which was packed here. */
void plane_add(struct plane *plane, const struct buffer *change);

#endif
