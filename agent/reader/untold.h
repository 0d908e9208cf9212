/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that relayd has and does not tell the reader of (unread.h), where its files, which would show them,
 * cannot be read. Its list of sessions, which takes no attaching, says how many streams each has, those of
 * metadata among them. Streams in which nothing is recorded are listed, too: they cost one attempt.
 *
 * It belongs to the thread that reads.
 */
#ifndef READER_UNTOLD_H
#define READER_UNTOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "reader/decode/reader.h"
#include "session/position.h"
#include "session/sessionid.h"

struct untold {
	const struct config *config; /* borrowed */
	uint32_t attached;           /* streams that were listed when the reader attached, */
	unsigned looks;              /* looks in a row that found more than it knows, while nothing came */
	uint64_t moves;              /* of the positions, at the last look */
	int64_t next;                /* look, not before; CLOCK_MONOTONIC ns */
};

/* A reader is about to attach to @session. */
void untold_attach(struct untold *untold, const struct session_identity *session);

/* Looks, if it is time to, while @reader is idle; whether the session is to be attached to again. */
bool untold_look(struct untold *untold, const struct session_identity *session,
	const struct positions *positions, const struct reader *reader);

#endif
