/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin why`: where a span's time went. What is added up are pieces, in order of time, which neither
 * overlap nor leave anything out, so that the parts add up to the span's duration. What there is of a span is
 * bounded: of more system calls, waits or threads than TALLY_MAX, the rest goes into one entry, of waits into
 * one for each part.
 */
#ifndef WHY_TALLY_H
#define WHY_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "status/trace/whom.h"
#include "why/part.h"

#define TALLY_MAX 64

/* A piece of a thread's time. */
struct piece {
	int64_t begin, end; /* ns since the epoch */
	enum part part;
	struct text call; /* the system call that it is in, which lasts; data is NULL: none */
	uint64_t number;  /* of the call: each has its own */
	struct whom whom; /* who ran there, of PART_RUNNABLE; who ended a wait */
};

struct call {
	struct text name; /* size 0: all that are too many */
	uint64_t number;  /* the last one's */
	uint64_t count;
	int64_t time, waited, longest; /* ns; in all of them, off the processor, and in one */
	int64_t current;
};

struct wait {
	enum part part;
	struct text call; /* size 0: none is known */
	struct whom whom; /* who woke the thread; WHOM_OTHERS: it is all that are too many */
	uint64_t count;
	int64_t time, longest;
};

struct runner {
	struct whom whom;
	int64_t time;
};

struct tally {
	int64_t part[PARTS];
	GArray *calls, *waits, *runners; /* of struct call, struct wait, struct runner */
};

void tally_init(struct tally *tally);
void tally_free(struct tally *tally);

/* Adds as much of the piece as lies in the time from @start to @end. */
void tally_add(struct tally *tally, const struct piece *piece, int64_t start, int64_t end);

/* Sorts all by time, the longest first. */
void tally_sort(struct tally *tally);

/* The part with most of the time. */
enum part tally_main(const struct tally *tally);

/* The wait of that part with most of the time, the rest aside; NULL if there is none. Only of a sorted tally.
 */
const struct wait *tally_main_wait(const struct tally *tally, enum part part);

#endif
