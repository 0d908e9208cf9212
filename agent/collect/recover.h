/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recovery: what a session recorded while nobody read it, from relayd's files into the pipeline.
 *
 * relayd hands a live reader nothing that is older than the packet it is at, but it has it on disk. Packets
 * that are not done are carved out of its files into a scratch folder, some at a time, and read from there;
 * positions move on with them, so that it may end at any moment and go on later. If babeltrace2 cannot read
 * them together, each trace is read alone: a program can spoil its own user's, and shall spoil no other's. It
 * belongs to the reader's thread.
 */
#ifndef COLLECT_RECOVER_H
#define COLLECT_RECOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "assemble/pipeline.h"
#include "collect/progress.h"
#include "config/config.h"
#include "queue/fanout.h"
#include "read/intake.h"

/* All borrowed. */
struct recover {
	const struct config *config;
	struct pipeline *pipeline;
	struct fanout *fanout;
	struct progress *progress;
	bool give_up;                 /* what cannot be carved is lost, rather than tried again */
	bool (*stopping)(void *data); /* asked often */
	/* of a user's packets so many were left out, and counted as lost, because of @error */
	void (*left_out)(void *data, uint64_t user, uint64_t packets, const char *error);
	void *data;
};

enum recover_status {
	RECOVER_OK,
	RECOVER_STOPPED,
	RECOVER_UNREADABLE, /* relayd's files, or a folder of the session that should be there is not: @error
			       says why */
	RECOVER_FAILED      /* no scratch folder can be written, or the like: worth another try */
};

/*
 * Reads the packets of progress's session that are on disk and not done. If those are not more than @enough
 * bytes, none is read; @found is how many bytes there were. More may have come meanwhile.
 */
enum recover_status recover_pass(
	const struct recover *recover, uint64_t enough, uint64_t *found, char *error, size_t error_size);

/*
 * Reads a session that nobody writes any more to its end. What is in an index and cannot be read is given up,
 * and counted as lost.
 */
enum recover_status recover_rest(const struct recover *recover, char *error, size_t error_size);

#endif
