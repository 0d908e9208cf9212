/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that are open on a connection: sent, and not answered yet. Replies come in the order of the
 * calls.
 *
 * A call's bytes are sent without a copy: they belong here, and stay where they are until the call ends,
 * which must not be before the connection's output let go of them. Their memory is used again.
 */
#ifndef UPLINK_CALLS_H
#define UPLINK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include "wire/wire.h"

struct call {
	void *cargo; /* the caller's name for what it carries */
	int32_t number;
	struct buffer bytes;
};

/* Memory kept for calls to come: so many pieces, none larger than this. */
#define CALLS_SPARE 4
#define CALLS_SPARE_BYTES (2 * 1024 * 1024)

struct calls {
	struct wire *wire; /* borrowed */
	struct call *ring; /* of `room` calls, the oldest at `first` */
	uint32_t room, first, open;
	size_t bytes; /* of all that are open */
	int32_t number;
	struct buffer spare[CALLS_SPARE];
	uint32_t spares;
};

void calls_init(struct calls *calls, uint32_t room, struct wire *wire);

/* Forgets what is open. */
void calls_free(struct calls *calls);

/* Writes a call that carries @run; fewer than `room` are open. Returns its bytes. */
size_t calls_send(struct calls *calls, const struct run *run, void *cargo, struct evbuffer *output);

/*
 * Says why a reply, with @unsent bytes still in the output, cannot be the oldest call's; NULL if it can.
 * *early is set where that call was not written as a whole, and the wire allows it: what was not sent can be
 * refused, but not taken.
 */
const char *calls_mismatch(const struct calls *calls, enum reply_kind kind, const struct reply *reply,
	size_t unsent, bool *early);

/* Ends the oldest call, which was answered; returns its cargo. */
void *calls_end_oldest(struct calls *calls);

/*
 * Ends the youngest call, whose connection is gone with @*unsent bytes in its output, from which this call's
 * are taken; returns its cargo, and in @whole whether it had gone out whole. NULL when none is open.
 */
void *calls_end_youngest(struct calls *calls, size_t *unsent, bool *whole);

#endif
