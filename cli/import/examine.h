/* SPDX-License-Identifier: BSD-2-Clause */
/* Which traces babeltrace2 can read, and what is wrong with the others. */
#ifndef IMPORT_EXAMINE_H
#define IMPORT_EXAMINE_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

/* What is wrong with a trace. */
struct bad_trace {
	const char *dir;     /* borrowed */
	unsigned long steps; /* of a reader before it comes to that, */
	bool ended;          /* the process that read, rather than the reading */
	char reason[400];
};

/* Enough to open a trace, and read its first packet. */
#define EXAMINE_BEGINNING 64

/*
 * Reads each of @dirs (of char *) alone, and throws away what it reads: at most @steps of a reader, or all of
 * it if 0. Returns those that are bad (of struct bad_trace).
 */
GArray *examine_traces(const GPtrArray *dirs, unsigned long steps);

/* Leaves the good ones in @traces, by their beginnings; what is wrong with the others is logged. Returns
 * whether all are good. */
bool examine_leave_out_bad(GPtrArray *traces);

#endif
