/* SPDX-License-Identifier: BSD-2-Clause */
/* What people read of the statistics: rates, means, quantiles and shares, as `blkin top` shows them. */
#ifndef STATS_FIGURES_H
#define STATS_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "stats/snapshot.h"

/* Times are µs; one that is not known is NAN. */
struct figures {
	uint64_t count, errors;
	double rate; /* spans a second */
	double mean, p50, p99, max;
	double share; /* of the time of all spans, 0 to 1 */
	bool rough;   /* p50 and p99 are within a factor of 3 only: snapshot.h */
};

/* The sum of the durations of all spans of a snapshot, ns. */
double figures_time(const struct snapshot *snapshot);

/* @all: figures_time of the snapshot that it is of. */
void figures_of_series(struct figures *figures, const struct series *series, int64_t age, double all);
void figures_of_program(struct figures *figures, const struct program *program, int64_t age, double all);

/*
 * Appends {service, span, count, rate, mean, p50, p99, max, errors, share, state}; the series of what has
 * none of its own has null for its names, and so has what is not known, and a @state that is NULL.
 */
void figures_put_one(
	struct buffer *out, const struct series *series, const struct figures *figures, const char *state);

/* Appends an array of programs: {program, pid, user, count, rate, mean, max, errors, share}. */
void figures_put_programs(struct buffer *out, const struct snapshot *snapshot);

#endif
