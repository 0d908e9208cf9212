/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that are open on a connection: sent, and not answered yet. Replies come in the order of the
 * calls.
 *
 * A call's bytes are sent without a copy: they are owned here, and stay in place until the call ends, which
 * must not be before the connection's output has released them. Their memory is reused.
 */
#ifndef OUTPUT_SERVER_CALLS_H
#define OUTPUT_SERVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include "net/wire.h"

struct call {
	void *cargo; /* identifies to the caller what it carries */
	int32_t number;
	struct buffer bytes;
};

/* Memory kept for later calls: the number of pieces, and the largest size of one. */
#define CALLS_SPARE 4
#define CALLS_SPARE_BYTES (2 * 1024 * 1024)

struct calls {
	struct wire *wire; /* borrowed */
	struct call *ring; /* of `room` calls, the oldest at `first` */
	uint32_t room, first, open;
	size_t bytes; /* of all open calls */
	int32_t number;
	struct buffer spare[CALLS_SPARE];
	uint32_t spares;
};

void calls_init(struct calls *calls, uint32_t room, struct wire *wire);

/* Frees everything, including open calls. */
void calls_free(struct calls *calls);

/* Writes a call that carries @run; fewer than `room` calls must be open. Returns its size. */
size_t calls_send(struct calls *calls, const struct run *run, void *cargo, struct evbuffer *output);

/*
 * Checks whether a reply, with @unsent bytes still in the output, can be that to the oldest call. Returns
 * NULL, or why it cannot. Sets *early if that call was not sent completely, and the wire allows it: such a
 * call can be refused, but not accepted.
 */
const char *calls_mismatch(const struct calls *calls, enum reply_kind kind, const struct reply *reply,
	size_t unsent, bool *early);

/* The oldest call's cargo; NULL if none is open. */
void *calls_oldest(const struct calls *calls);

/* Ends the oldest call, because it was answered; returns its cargo. */
void *calls_end_oldest(struct calls *calls);

/*
 * Ends the youngest call of a connection that is gone, with @*unsent bytes in its output, from which this
 * call's are subtracted. Returns its cargo, and in @whole whether it was sent completely. NULL if none is
 * open.
 */
void *calls_end_youngest(struct calls *calls, size_t *unsent, bool *whole);

#endif
