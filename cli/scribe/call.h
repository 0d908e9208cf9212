/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers one Scribe call: from the bytes of its frame to the bytes of the reply. No I/O. */
#ifndef SCRIBE_CALL_H
#define SCRIBE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

/* What the receiver is and has done, for the calls that ask. */
struct scribe_service {
	const char *category; /* whose messages are spans; others are ignored, like in Zipkin */
	int64_t alive_since;  /* s since the epoch */
	int64_t messages;     /* taken */
	int64_t skipped;      /* of other categories */
	int64_t spans;
	int64_t refused; /* calls of Log */
};

struct scribe_call {
	GPtrArray *spans;    /* of struct span2: what Log brought; the caller's, appended to */
	struct buffer reply; /* the answer with its frame's length; empty for a oneway call; the caller's,
				appended to */
	char refused[256];   /* why Log was answered with an exception, or "" */
	char skipped[64];    /* a category that was ignored, or "" */
};

/*
 * Answers the call in the @size bytes of @frame. Returns NULL, or what is wrong with the frame, in memory of
 * @call: then no answer is possible and the connection should be closed.
 */
const char *scribe_call_answer(
	struct scribe_service *service, const void *frame, size_t size, struct scribe_call *call);

#endif
