/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the stored batches are suspects, so that they are replayed as such. Only the latest few are known,
 * and only in this run: for the others, the uplink finds out again. No I/O.
 */
#ifndef OUTPUT_SPOOL_MARKS_H
#define OUTPUT_SPOOL_MARKS_H

#include <stdint.h>

#include "queue/entry.h"

#define MARKS_MAX 8

struct marks {
	int64_t ids[MARKS_MAX];
	unsigned next;
};

/* These were stored, by their spool_id. */
void marks_add(struct marks *marks, const struct entry *list);

/* Makes @entry, which was read from disk, a suspect again if it was one. */
void marks_restore(struct marks *marks, struct entry *entry);

#endif
