/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that are open on a connection: sent, and not answered yet. Replies come in the order of the
 * calls.
 *
 * From calls_send until its end a call's batch belongs here, and so do the log entries that its spans are
 * wrapped in: they are sent without a copy, and must stay where they are as long as the connection's output
 * holds any of them.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include "batch.h"

struct call {
	struct batch *batch;
	struct buffer entries; /* LogEntry structs; its memory is used again */
	int32_t seqid;
	size_t size; /* on the wire */
};

struct calls {
	struct call *ring; /* of `room` calls, the oldest at `first` */
	uint32_t room, first, open;
	size_t bytes; /* of all that are open, on the wire */
	int32_t seqid;
	const char *category; /* of the log entries; borrowed */
};

void calls_init(struct calls *calls, uint32_t room, const char *category);
void calls_free(struct calls *calls);

/* Writes the call that delivers @batch; fewer than `room` are open. */
void calls_send(struct calls *calls, struct batch *batch, struct evbuffer *output);

/*
 * Says why a reply with this @seqid, with @unsent bytes still in the output, cannot be the oldest call's;
 * NULL if it can.
 */
const char *calls_mismatch(const struct calls *calls, int32_t seqid, size_t unsent);

/* Ends the oldest call, which was answered; its batch is the caller's. */
struct batch *calls_end_oldest(struct calls *calls);

/*
 * Ends the youngest call, whose connection is gone with @*unsent bytes in its output; its batch, marked where
 * it went out whole, is the caller's. Returns NULL when none is open.
 */
struct batch *calls_end_youngest(struct calls *calls, size_t *unsent);

#endif
