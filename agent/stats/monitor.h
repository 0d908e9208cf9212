/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor: the statistics since the agent began and over the last minutes, how they went, and which
 * series are above their thresholds. For one thread, which is not the one that counts.
 */
#ifndef STATS_MONITOR_H
#define STATS_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "config/thresholds.h"
#include "stats/figures.h"
#include "stats/traces.h"
#include "stats/trend.h"
#include "stats/windows.h"

/* Beside the windows: all since the beginning. */
#define WINDOW_ALL WINDOWS

struct monitor;

/* Series are numbered from 0, which is that of all that have no name of their own. */
struct monitor *monitor_create(struct statistics *statistics, const struct config *config);
void monitor_destroy(struct monitor *monitor);

/* Other thresholds hold from now on. */
void monitor_configure(struct monitor *monitor, const struct config *config);

/* Each WINDOWS_TICK_SECONDS. */
void monitor_tick(struct monitor *monitor);

/* So many series there are; numbers stay. */
uint32_t monitor_count(const struct monitor *monitor);

/* How long the window is, ns. */
int64_t monitor_age(const struct monitor *monitor, unsigned window);

/* The series in the window; all borrowed until the next call. NULL: it had no spans in it. */
const struct series *monitor_series(struct monitor *monitor, unsigned window, uint32_t number);

/* As statistics_list. */
void monitor_list(const struct monitor *monitor, uint64_t most, bool *listed);

/* The number of the series of that service and name, or -1. */
int64_t monitor_find(const struct monitor *monitor, const char *service, const char *name);

/* Spans of a series whose traces are worth a look. */
#define MONITOR_LATE 5
struct monitor_traces {
	struct exemplar late[MONITOR_LATE]; /* the slowest first, one of each octave of the histogram */
	unsigned late_count;
	struct exemplar failed; /* the last one; a time of 0: none did */
};

void monitor_traces(const struct monitor *monitor, uint32_t number, struct monitor_traces *are);

/* Of the traces that were wanted, @traces keeps those that monitor_traces has. */
void monitor_keep_traces(const struct monitor *monitor, struct traces *traces);

/* Of a minute each, or of ten seconds. */
const struct trend *monitor_trend(const struct monitor *monitor, bool minutes);

/* NULL: it has none. */
const struct limits *monitor_limits(struct monitor *monitor, uint32_t number);

/* A bit for each limit (1 << LIMIT_MEAN ...) that what came in a window is above; 0 without limits. */
unsigned monitor_exceeded(struct monitor *monitor, uint32_t number, const struct figures *figures);

/*
 * So many spans came in the last ten to twenty seconds whose names found no room; and who has most names, as
 * statistics_richest says.
 */
uint64_t monitor_summed(struct monitor *monitor, uint32_t *user, uint32_t *names);

/*
 * For metrics: over the last minute, each series that has limits and so far had spans, also while it has
 * none; and the series 0, which has no names, while it has spans.
 * @exceeded: as above.
 */
typedef void monitor_limited(void *data, uint32_t number, const char *service, const char *name,
	const struct limits *limits, unsigned exceeded);
void monitor_each_limited(struct monitor *monitor, monitor_limited *each, void *data);

#endif
