/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's statistics: how many spans of each service and name there were, how long they took, how many
 * had an error; and how many of each program. All spans of the node are in them, whatever the outputs keep.
 *
 * One thread counts, which is the one that hears the reader; any other one may look, and neither waits for
 * the other. What is looked at may be a span ahead in one number, and not yet in another.
 *
 * The room is fixed: what is beyond SERIES_MAX is in the series 0, which has no name. Programs come and go:
 * the one that has been quiet for longest makes room, and is added to program 0.
 */
#ifndef STATS_STATISTICS_H
#define STATS_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/batch.h"
#include "queue/keep.h"
#include "stats/exemplars.h"
#include "stats/snapshot.h"

#define STATISTICS_SERIES_MAX 10000
#define STATISTICS_PROGRAMS_MAX 1000

struct statistics;

struct statistics *statistics_create(void);
void statistics_destroy(struct statistics *statistics);

/* The counting thread's */

/* Another reader begins: it has its own numbers for names. */
void statistics_begin_reader(struct statistics *statistics);

/* Counts spans with their traits, names and words; false if these are not as they should be. */
bool statistics_take(struct statistics *statistics, const struct batches *spans);

/*
 * The number and the names, borrowed, of the series of span @i, after statistics_take; both names are NULL
 * for the series 0.
 */
uint32_t statistics_series_of(const struct statistics *statistics, const struct batches *spans, uint32_t i,
	const char **service, const char **name);

/* Any thread */

/* Copies all that was counted; snapshot_clear. */
void statistics_read(const struct statistics *statistics, struct snapshot *snapshot);

/*
 * Hands each series to @see, in the order in which they were first seen: @number is its place there, which it
 * keeps, and 0 that of all that has no room for a name. Everything is borrowed for the call. There are
 * HISTOGRAM_OCTAVES exemplars, one for each octave.
 */
typedef void statistics_see(
	void *data, uint32_t number, const struct series *series, const struct exemplar *exemplars);
void statistics_each(const struct statistics *statistics, statistics_see *see, void *data);

/* From now on exemplars are of spans that @keep takes: an exemplar should lead to a trace that is kept. */
void statistics_show(struct statistics *statistics, const struct keep *keep);

#endif
