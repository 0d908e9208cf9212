/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole frames between the agent and its reader: the reader's go through a ring in shared memory, the agent's
 * through a socket, on which the reader also wakes the agent, and which tells each that the other one is
 * gone.
 *
 * Sending and receiving may be in two threads. Neither end trusts that the other one reads.
 */
#ifndef HANDOVER_CHANNEL_H
#define HANDOVER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "handover/frames.h"
#include "handover/ring.h"

struct channel {
	int socket;
	struct ring *ring;
	uint64_t ring_taken; /* by the agent */
	size_t max;          /* a larger frame is not taken */
	struct buffer in;    /* what has come and is not taken */
	size_t taken;        /* so much of it is */
	struct buffer out;   /* not sent yet, of channel_post */
	bool wrong;          /* the other end sent what is no frame */
};

/* Takes the socket over; the ring is borrowed, and was reset. */
void channel_init(struct channel *channel, int socket, struct ring *ring, size_t max);
void channel_free(struct channel *channel);

/* The reader's */

/* Sends a frame that is in @count pieces; waits until all of it is in the ring. False if the agent is gone.
 */
bool channel_send(struct channel *channel, enum frame_type type, const struct iovec *pieces, int count);

/* Receives what there is, and waits for it. False if the agent is gone. */
bool channel_receive(struct channel *channel);

/* The agent's */

/* Sends a frame without waiting: what the kernel does not take is kept for channel_flush. */
void channel_post(struct channel *channel, enum frame_type type, const struct buffer *body);
void channel_flush(struct channel *channel);

/* Takes some of what has come. False if the reader is gone; then that was all. */
bool channel_collect(struct channel *channel);

/* Whether more has come than was taken. */
bool channel_has_more(const struct channel *channel);

/* Has the socket become readable when @wanted bytes have come; false if they have already. */
bool channel_may_sleep(struct channel *channel, uint32_t wanted);

/* Both have the next frame that is there in full, borrowed until more is received; false if there is none. */
bool channel_next(struct channel *channel, enum frame_type *type, struct unpacker *body);

#endif
