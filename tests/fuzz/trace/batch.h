/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Some bad traces and a good one, as users of one session: whatever becomes of the bad ones, all of the good
 * one arrives, and the checkpoint add up.
 */
#ifndef TRACE_BATCH_H
#define TRACE_BATCH_H

#include <stdbool.h>

#include "trace/files.h"

#define BATCH_TRACES 8

struct batch_of_traces {
	unsigned count;
	trace_files *trace[BATCH_TRACES];
	char *reason[BATCH_TRACES]; /* why it was not read as a whole, as `blkin import` says; NULL: it was */
};

/* To be called once, ahead of all: learns which spans are in the good trace. */
void batch_learn(trace_files *good);

/* Gives a trace the user that it will be in a batch. */
void batch_name_user(trace_files *trace, unsigned index);

/* Has it read; false if something does not hold, which witness->wrong says. */
bool batch_run(struct batch_of_traces *batch);

/* Removes the folders. */
void batch_clean(void);

void batch_empty(struct batch_of_traces *batch);

#endif
