/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an agent that died left behind: unfinished files are finished, without half a line at their ends. As
 * spans may come again that are in them, or in those that were finished last, their lines are read back.
 */
#ifndef OUTPUT_FILE_TAKEUP_H
#define OUTPUT_FILE_TAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/kind.h"
#include "output/file/known.h"
#include "output/file/written.h"

/* So much of the newest files is read back: more than waits at once to be put on record. */
#define TAKEUP_BYTES INT64_C(67108864)

struct takeup {
	bool left;      /* something was left behind */
	unsigned files; /* that were finished */
	int64_t cut;    /* bytes of half lines */
};

/* What was on record, where it is to find out what an unfinished file has of it. */
struct takeup_record {
	struct written *written;
	struct known *known;
	const struct filename *own; /* of the file that is written already */
};

/* Of the files of that kind. Returns 0, or an errno: then it is called again with the same @found, which is
 * zeroed at first. Files that somebody else is writing stay as they are. */
int takeup(int folder, enum kind kind, struct known *known, struct takeup *found,
	const struct takeup_record *record);

#endif
