/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's statistics: how many spans of each service and name there were, how long they took, how many
 * had an error; and how many of each program. All spans of the node's programs are in them, whatever the
 * outputs keep; not what comes from other nodes, which count it themselves.
 *
 * One thread counts at a time, the one that hears the reader or an input's; another one may look, and does
 * not wait for it, but to make room. What is looked at may be a span ahead in one number, and not yet in
 * another.
 *
 * The room is fixed: what finds none is in the series 0, which has no name. There are SERIES_MAX names, and
 * each user has a fair share of them: a name that has been quiet for an hour makes room for another one, and
 * so does the quietest name of who has most of them, for a user who has fewer. Its counts are gone with it,
 * but for those who want sums that never go back (statistics_each). Programs come and go: the one that has
 * been quiet for longest makes room, and is added to program 0.
 */
#ifndef STATS_STATISTICS_H
#define STATS_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/inputtypes.h"
#include "queue/batch.h"
#include "queue/keep.h"
#include "stats/exemplars.h"
#include "stats/snapshot.h"
#include "stats/traces.h"

#define STATISTICS_SERIES_MAX 10000
#define STATISTICS_PROGRAMS_MAX 1000

struct statistics;

struct statistics *statistics_create(void);
void statistics_destroy(struct statistics *statistics);

/* Threads that count */

/* Who has numbers of its own for names (names.h), as what they mean comes in the same order as the spans: the
 * reader, and each of the two queues of an input (inlet/count.c). The statistics own it. */
struct namer;
#define STATISTICS_READER (2 * INPUTS)
#define STATISTICS_NAMERS (2 * INPUTS + 1)

/* @who: STATISTICS_READER, or twice an enum input_type, and one more for the other queue. */
struct namer *statistics_namer(struct statistics *statistics, unsigned who);

/* What follows is for whoever holds the statistics, until they are released: the others wait. */
void statistics_hold(struct namer *namer);
void statistics_release(struct namer *namer);

/* Its numbers are new ones from here on: another reader begins. */
void statistics_begin(struct namer *namer);

/* Counts spans with their traits, names and words; false if these are not as they should be. */
bool statistics_take(struct namer *namer, const struct items *spans);

/* Hands on the spans that statistics_take counted last, and which traces became exemplars with them. */
void statistics_give(const struct namer *namer, const struct items *spans, struct traces *traces);

/*
 * The number and the names, borrowed, of the series of span @i, after statistics_take; both names are NULL
 * for the series 0. @era: the number may be another name's later, and then this is another one.
 */
uint32_t statistics_series_of(const struct namer *namer, const struct items *spans, uint32_t i,
	const char **service, const char **name, uint32_t *era);

/* Whose program has recorded span @i, the same; UINT32_MAX: that is not known. */
uint32_t statistics_user_of(const struct namer *namer, const struct items *spans, uint32_t i);

/* The thread that looks: what is borrowed is good until statistics_sweep */

/* Nothing is borrowed any more. */
void statistics_sweep(struct statistics *statistics);

/* Who has most names, and how many. UINT32_MAX: it is not known whose they are. */
uint32_t statistics_richest(const struct statistics *statistics, uint32_t *names);

/*
 * Sets @listed[i] for @most series, where there are more: by turns those of each user that were seen first.
 * There are STATISTICS_SERIES_MAX + 1 of them; number 0 is never listed.
 */
void statistics_list(const struct statistics *statistics, uint64_t most, bool *listed);

/* So many spans had a name that found no room. */
uint64_t statistics_summed(const struct statistics *statistics);

/* Copies all that was counted; snapshot_clear. */
void statistics_read(const struct statistics *statistics, struct snapshot *snapshot);

/*
 * Hands each series to @see: @number is its place, which it keeps, and 0 that of all that has no room for a
 * name, or had to make room. Everything is borrowed for the call. There are
 * HISTOGRAM_OCTAVES exemplars, one for each octave.
 */
typedef void statistics_see(
	void *data, uint32_t number, const struct series *series, const struct exemplar *exemplars);
void statistics_each(const struct statistics *statistics, statistics_see *see, void *data);

/* From now on exemplars are of spans that @keep takes: an exemplar should lead to a trace that is kept. */
void statistics_show(struct statistics *statistics, const struct keep *keep);

#endif
