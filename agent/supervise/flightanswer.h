/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that finds out where the time of a late trace went: `blkin why`, in a group of its own, with
 * bounds of its own. What it finds out is in the flight recorder's folder (flightfolder.h).
 *
 * It belongs to the supervisor's thread, and ends with it.
 */
#ifndef SUPERVISE_FLIGHTANSWER_H
#define SUPERVISE_FLIGHTANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

struct flight_answer {
	pid_t pid;     /* 0: none is at work */
	int64_t begun; /* CLOCK_MONOTONIC ns */
	bool late;     /* it was ended, as it took too long */
};

enum flight_end {
	FLIGHT_WORKS,
	FLIGHT_DONE,      /* with code 0 */
	FLIGHT_UNSTARTED, /* there is no such program */
	FLIGHT_ENDED      /* in another way */
};

/*
 * Starts @program, the command, for the trace @trace_id, whose snapshot is in @folder; @config is the agent's
 * configuration as text, a user's own (@user) or the system's. 0, or errno.
 */
int flight_answer_start(struct flight_answer *answer, const char *program, const char *folder,
	const struct buffer *config, bool user, uint64_t trace_id);

/* How it is; @why has the end as a sentence, unless it works or is done. To be called again and again, as it
 * is what ends one that takes too long. */
enum flight_end flight_answer_look(struct flight_answer *answer, char *why, size_t size);

/* Ends it, with all that it has started. */
void flight_answer_kill(struct flight_answer *answer);

#endif
