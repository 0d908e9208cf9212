/* SPDX-License-Identifier: BSD-2-Clause */
/* What the statistics are made of, for the files of this floor alone. */
#ifndef STATS_INNER_H
#define STATS_INNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "stats/exemplars.h"
#include "stats/histogram.h"
#include "stats/names.h"
#include "stats/statistics.h"

/*
 * Parts of histograms, an octave each, that all series share; the last ones are coarse. What finds no other
 * part left is counted in its series' coarse one, whose counts are of three octaves each: there is one for
 * every series, so that nobody's names leave another series without a histogram.
 */
#define PARTS_MAX 65000
#define PARTS_COARSE (STATISTICS_SERIES_MAX + 1)
#define OCTAVES_TOGETHER (HISTOGRAM_OCTAVES / HISTOGRAM_STEPS)

typedef _Atomic uint64_t counter;

struct counts {
	counter spans, errors, timed, sum, max;
};

/* A series: what is before the counts never changes once it is there. */
struct cell {
	char *service, *name;
	struct counts counts;
	_Atomic uint16_t coarse;                  /* the part of what found none left; 0: all did */
	_Atomic uint16_t part[HISTOGRAM_OCTAVES]; /* 0: none yet */
};

#define NAME_WORDS (NAMES_TEXT_MAX / sizeof(uint64_t))

/*
 * A program: whoever looks sees the same version before and after, or leaves it out. What changes between is
 * stored and loaded in order (counter_put, counter_see), as ThreadSanitizer knows no fences.
 */
struct place {
	_Atomic uint32_t version; /* odd: it changes */
	counter who;              /* its pid, then its user */
	counter name[NAME_WORDS]; /* the bytes of a text with its NUL */
	struct counts counts;
	uint64_t last; /* the turn that had a span of it */
};

/* The reader's number of a program, and what it means. */
struct known_program {
	bool known;
	uint32_t index, version;
	uint32_t pid, user;
	char name[NAMES_TEXT_MAX];
};

struct statistics {
	int64_t began, since; /* since the epoch; CLOCK_MONOTONIC */
	uint64_t turn;
	struct cell *cells;
	counter (*parts)[HISTOGRAM_STEPS];
	struct exemplars *exemplars; /* of the parts */
	struct place *places;
	_Atomic uint32_t cell_count, place_count, part_count;
	counter unnamed;
	GTree *by_name;   /* service, 0xff and name to the cell's number */
	uint16_t *series; /* by the reader's number: the cell's, plus 1; 0: it has not told */
	struct known_program *programs;
};

/* Sets the program's place; if there is none left, that of the one that has been quiet for longest. */
void place_find(struct statistics *statistics, struct known_program *program);

/* The bytes of its name, which may change meanwhile: struct place. */
void place_see_name(const struct place *place, char name[NAMES_TEXT_MAX]);

/* There is one writer: it needs no locked instruction. */
static inline uint64_t counter_get(const counter *of)
{
	return atomic_load_explicit(of, memory_order_relaxed);
}

static inline void counter_set(counter *of, uint64_t to)
{
	atomic_store_explicit(of, to, memory_order_relaxed);
}

static inline uint64_t counter_see(const counter *of)
{
	return atomic_load_explicit(of, memory_order_acquire);
}

static inline void counter_put(counter *of, uint64_t to)
{
	atomic_store_explicit(of, to, memory_order_release);
}

static inline void counter_add(counter *to, uint64_t more)
{
	counter_set(to, counter_get(to) + more);
}

/*
 * What the parts of a cell have counted, but for what is in @before, a plane's parts; that may be NULL. What
 * is coarse is in the middle of its octaves: within a factor of 3.
 */
void cell_histogram(const struct statistics *statistics, const struct cell *cell, const uint32_t *before,
	struct histogram *histogram);

static inline bool cell_is_fine(const struct cell *cell)
{
	return !atomic_load_explicit(&cell->coarse, memory_order_relaxed);
}

#endif
