/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recovery: what a session recorded while nobody read it, from relayd's files into the pipeline.
 *
 * relayd sends a live reader nothing that is older than the current packet, but it has it on disk. Packets
 * that are not done are carved out of its files into a scratch folder, some at a time, and read from there.
 * Positions move on with them, so recovery can end at any moment and go on later. If babeltrace2 cannot read
 * the traces together, each is read alone: a program can spoil the trace of its own user, but must not spoil
 * others. A user whose trace ends the reader's process is left out for a while (users.h).
 *
 * It belongs to the thread that reads.
 */
#ifndef READER_RECOVER_H
#define READER_RECOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "reader/agentlink.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/intake.h"
#include "reader/progress.h"
#include "reader/runstate.h"
#include "reader/users.h"

/* All borrowed. */
struct recover {
	const struct config *config;
	struct pipeline *pipeline;
	struct agent_link *link;
	struct progress *progress;
	struct runstate *state;
	GPtrArray *users; /* of struct user */
	bool alone;       /* each trace is read alone, so that it is known which one ends the reader */
	bool give_up;     /* what cannot be carved is lost, rather than tried again */
	bool has_streams; /* the session is known to have some, and so a folder, even if nothing was read */
	bool (*stopping)(void *data); /* asked often */
	/* called when so many packets of a user were left out, and counted as lost, because of @error */
	void (*left_out)(void *data, uint64_t user, uint64_t packets, const char *error);
	/* called when a trace was read alone, as @alone asks for */
	void (*alone_read)(void *data);
	void *data;
};

enum recover_status {
	RECOVER_OK,
	RECOVER_STOPPED,
	RECOVER_WAITS,      /* a trace may be readable in a moment: its metadata are not whole yet */
	RECOVER_UNREADABLE, /* relayd's files cannot be read, or are not there: @error says why */
	RECOVER_FAILED      /* another attempt may do better: no scratch folder can be written, say */
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
