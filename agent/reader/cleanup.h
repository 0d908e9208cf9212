/* SPDX-License-Identifier: BSD-2-Clause */
/* Removing the files of sessions that are over. It belongs to the thread that reads. */
#ifndef READER_CLEANUP_H
#define READER_CLEANUP_H

#include <stdint.h>

#include "config/config.h"
#include "reader/progress.h"

struct cleanup {
	const struct config *config;
	struct progress *progress;
	int64_t next;     /* not before; CLOCK_MONOTONIC ns */
	unsigned left;    /* sessions, after the last try */
	unsigned tries;   /* that left something, since the last one has come */
	uint64_t cleared; /* when the session was created that was cleared, to be destroyed with the next try
			   */
};

/* Removes what LTTng's daemons have left of progress's sessions that are over, as far as that is possible
 * now. To be called often. */
void cleanup_run(struct cleanup *cleanup);

#endif
