/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a spool's files are called: each output has a spool of its own in the state directory.
 *
 *	output     the spool        its counts
 *	default    spool.db         spool.tally
 *	NAME       spool-NAME.db    spool-NAME.tally
 *
 * These are those of its lane of spans (core/kind.h); in those of another lane the kind is before the ending:
 * spool-NAME.events.db. Wherever an output's name is asked for, that of a lane may stand, NAME:events.
 *
 * Beside the spool, with a suffix: SQLite's files, one that is being made, and those that were set aside.
 */
#ifndef OUTPUT_SPOOL_SPOOLNAME_H
#define OUTPUT_SPOOL_SPOOLNAME_H

#include <stdbool.h>

#define SPOOLNAME_DEFAULT "default"
#define SPOOLNAME_MAX 64 /* characters of an output's name */

/* Suffixes of the spool's name. */
#define SPOOLNAME_LOG "-wal"
#define SPOOLNAME_INDEX "-shm"
#define SPOOLNAME_JOURNAL "-journal"
#define SPOOLNAME_NEW ".new"
#define SPOOLNAME_ASIDE ".aside-"

/*
 * Whether an output, or a lane of it, may have this name: letters, digits, `-` and `_`, so that no two share
 * a file, and no name leads out of the folder.
 */
bool spoolname_is_good(const char *output);

/* Paths in @directory; g_free. */
char *spoolname_spool(const char *directory, const char *output);
char *spoolname_counts(const char *directory, const char *output);

/* The output whose spool a file of this name is; NULL if it is none's. g_free. */
char *spoolname_output(const char *file);

#endif
