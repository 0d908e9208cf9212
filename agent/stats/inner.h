/* SPDX-License-Identifier: BSD-2-Clause */
/* What the statistics are made of, for the files of this floor alone. */
#ifndef STATS_INNER_H
#define STATS_INNER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "stats/exemplars.h"
#include "stats/histogram.h"
#include "stats/names.h"
#include "stats/statistics.h"
#include "stats/sums.h"

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

/*
 * A series. When it makes room for another name, its counts and its parts' go on, as whoever has them of an
 * earlier moment subtracts: what they were then is kept, and taken off.
 */
struct cell {
	char *service, *name;
	struct counts counts;
	int64_t last;                             /* when it had a span, CLOCK_MONOTONIC ns; for who counts */
	struct sums born;                         /* what the counts were when it got its name */
	uint16_t share;                           /* whose it is */
	_Atomic uint32_t era;                     /* so many names it had before */
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

/* A user's part of all series; the first one is of those users for whom there is no other. */
struct share {
	uint32_t user, series;
};

#define SHARES_MAX 1024

/* Series that have been quiet for longest, the longest last; what had a span since then is none any more. */
#define VICTIMS_MAX 256
struct victims {
	int64_t looked;
	uint32_t count;
	struct victim {
		int64_t last;
		uint32_t cell;
	} list[VICTIMS_MAX];
};

/* A name that was told, and that has no series. */
struct waiting {
	bool counted;
	char key[]; /* as in by_name */
};

/* A namer's number of a program, and what it means. */
struct known_program {
	bool known;
	uint32_t index, version;
	uint32_t pid, user;
	uint16_t share;
	char name[NAMES_TEXT_MAX];
};

struct namer {
	struct statistics *statistics;
	bool told;                /* something, since it began */
	uint16_t *series;         /* by its number: the cell's, plus 1; 0: it has not told */
	struct waiting **waiting; /* by the same number, of those that are in cell 0 */
	struct known_program *programs;
};

struct statistics {
	pthread_mutex_t counting; /* held by who counts */
	int64_t began, since;     /* since the epoch; CLOCK_MONOTONIC */
	uint64_t turn;
	int64_t now; /* when the last spans came, CLOCK_MONOTONIC */
	/*
	 * Held while a series gets another name, and while it is looked at. So whoever counts waits
	 * for no more than a look at one series, and only to make room.
	 */
	pthread_mutex_t lock;
	struct cell *cells;
	counter (*parts)[HISTOGRAM_STEPS];
	uint64_t (*parts_born)[HISTOGRAM_STEPS]; /* what they were when their series took them */
	uint16_t *parts_free;                    /* that series left behind which made room */
	uint32_t parts_free_count;
	struct exemplars *exemplars; /* of the parts */
	struct exemplars *failures;  /* of the series: of those that failed */
	struct place *places;
	_Atomic uint32_t cell_count, place_count, part_count;
	counter unnamed;
	GTree *by_name; /* service, 0xff and name to the cell's number */
	struct share *shares;
	uint32_t share_count;
	struct victims of_richest, silent;
	struct sums gone; /* what the series counted that made room; guarded by the lock */
	struct histogram gone_histogram;
	GPtrArray *retired; /* their names, which may be borrowed until the next tick; guarded by the lock */
	struct namer namers[STATISTICS_NAMERS];
};

/* Sets the program's place; if there is none left, that of the one that has been quiet for longest. */
void place_find(struct statistics *statistics, struct known_program *program);

/* Room for series: room.c */

/* The user's; for who counts, as all but the last one of these. */
uint16_t share_of(struct statistics *statistics, uint32_t user);

/* The series of the name that waits under that number, which a span of that share's has; 0: there is no room.
 */
uint32_t room_find(struct namer *namer, uint32_t number, uint16_t share);

/* The namer has told what the number stands for. */
void room_wait(struct namer *namer, uint32_t number, const char *key);
void room_forget(struct namer *namer, uint32_t number);

/* A part for an octave, of those below @end; 0: there is none left. */
uint16_t room_take_part(struct statistics *statistics, uint32_t end);

/* Nothing is borrowed any more. */
void room_sweep(struct statistics *statistics);

static inline pthread_mutex_t *series_lock(const struct statistics *statistics)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&statistics->lock;

	pthread_mutex_lock(lock);
	return lock;
}

static inline void series_unlock(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Until the block ends. */
#define LOCK_SERIES(statistics)                                                                              \
	G_GNUC_UNUSED __attribute__((cleanup(series_unlock))) pthread_mutex_t *locked =                      \
		series_lock(statistics)

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

/* What the cell has counted since it got its name. */
struct sums cell_sums(const struct cell *cell);

/*
 * What the parts of a cell have counted, but for what is in @before, a plane's parts; that may be NULL. What
 * is coarse is in the middle of its octaves: within a factor of 3.
 * The lock is held.
 */
void cell_histogram(const struct statistics *statistics, const struct cell *cell, const uint32_t *before,
	struct histogram *histogram);

/* Whether it has no coarse count since it got its name. The lock is held. */
bool cell_is_fine(const struct statistics *statistics, const struct cell *cell);

#endif
