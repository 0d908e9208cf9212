/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics as metrics: spans, errors and durations by service and name.
 *
 * As many pairs as the configuration says have series of their own: by turns those of each user that were
 * seen first. All others are in one that is called "other", for both. A pair moves there, with all that it
 * has counted, when names of other users come, or when it makes room for another name (statistics.h).
 */
#ifndef STATUS_SPANMETRICS_H
#define STATUS_SPANMETRICS_H

#include "base/buffer.h"
#include "stats/statistics.h"
#include "status/exposition.h"

#define SPANMETRICS_OTHER "other"

/* Bounds of the durations' buckets: 2^10 to 2^35 ns, 1 µs to 34 s, each where an octave of the histogram
 * ends.
 */
#define SPANMETRICS_FIRST 10
#define SPANMETRICS_LAST 35

/* Whether a series has that name itself: then it is there that it is found. Both are NULL for the nameless
 * one. */
bool spanmetrics_is_other(const char *service, const char *name);

void spanmetrics_write(
	struct buffer *out, const struct statistics *statistics, uint64_t listed, enum exposition form);

#endif
