/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What child processes have seen: which spans of the good trace were made, known by their bytes, and what
 * does not hold. In memory that all share.
 */
#ifndef TRACE_WITNESS_H
#define TRACE_WITNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/ledger.h"
#include "queue/batch.h"

#define GOOD_MAX 256

struct witness {
	bool learning; /* all spans are the good trace's */
	unsigned good;
	uint64_t known[GOOD_MAX]; /* a hash for each of its spans */
	unsigned times[GOOD_MAX]; /* that it was made since witness_begin */
	int64_t spans;            /* made since then */
	_Atomic uint64_t alone;   /* the user who is read alone, plus 1 */
	struct ledger rows;       /* at the end */
	char wrong[512];          /* what does not hold, or nothing */
};

extern struct witness *witness;

void witness_create(void);

/* Forgets what was made. */
void witness_begin(void);

/* Spans were made. */
void witness_see(const struct batch *spans);

/* Notes the first thing that is wrong. */
void witness_hold(bool condition, const char *rule, ...) __attribute__((format(printf, 2, 3)));

/* That the rows add up, where no span is pending. */
void witness_hold_ledger(const struct ledger *rows);

/*
 * Whether that, each time that it ends with a code, is the fault of babeltrace2's version 2.1: it reads
 * beyond the end of damaged metadata, at which AddressSanitizer ends it with code 1.
 */
bool witness_excuses(const char *how);

#endif
