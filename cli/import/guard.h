/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guard: babeltrace2 reads in a child process, because damaged traces can end it by an assertion, or make
 * it loop for ever.
 *
 * Progress is counted in steps. A child whose reading thread takes more than GUARD_TICKS of CPU time for
 * one step is stuck, and ends; one that waits, for a disk or a collector, is not. What a child finds out it
 * leaves in memory that is shared with the parent.
 */
#ifndef IMPORT_GUARD_H
#define IMPORT_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define GUARD_TICKS 5
/* A fuzzer has less patience. */
#ifndef GUARD_TICK_MS
#define GUARD_TICK_MS 1000
#endif

/* The first part of what parent and child share. */
struct guard {
	atomic_ulong steps;   /* that were completed */
	atomic_bool stuck;    /* the last one took too long */
	atomic_bool finished; /* the work returned */
	char said[2048];      /* the beginning of what a silent child wrote to standard error */
};

/* Zeroed memory that a child shares, with a struct guard as its first part; NULL if there is none. */
void *guard_share(size_t size);
void guard_unshare(void *shared, size_t size);

/*
 * Runs @work(data) in a child, to its end; @silent if its standard error goes to @guard. Returns true if the
 * work returned; false if the child did not get that far: @how it ended is said as in "ended by signal 6".
 */
bool guard_run(struct guard *guard, void (*work)(void *data), void *data, bool silent, const char **how);

/* In the child: the calling thread is going to read, and to count steps. */
void guard_watch(struct guard *guard);

/* From now on the parent ends in order on SIGINT, SIGHUP or SIGTERM; guard_run does this, too. */
void guard_catch(void);

/* Whether the parent got one of these, which it passed on as SIGINT. guard_run then runs nothing more. */
bool guard_interrupted(void);

#endif
