/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of the socket between the agent and its reader: whole frames out, whole frames in.
 *
 * Sending and receiving may be in two threads. Neither end trusts that the other one reads.
 */
#ifndef HANDOVER_CHANNEL_H
#define HANDOVER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "handover/frames.h"

struct channel {
	int socket;
	size_t max;         /* a larger frame is not taken */
	struct buffer in;   /* what has come and is not taken */
	size_t taken;       /* so much of it is */
	struct buffer out;  /* not sent yet, of channel_post */
	bool closed, wrong; /* the other end is gone; or it sent what is no frame */
};

/* Takes the socket over. */
void channel_init(struct channel *channel, int socket, size_t max);
void channel_free(struct channel *channel);

/* Sends a frame that is in @count pieces behind its header, which the first one has room for; waits until it
 * is with the kernel. False if the other end is gone. */
bool channel_send(struct channel *channel, enum frame_type type, struct iovec *pieces, int count);

/* The same without waiting: what the kernel does not take is kept for channel_flush. */
void channel_post(struct channel *channel, enum frame_type type, const struct buffer *body);
void channel_flush(struct channel *channel);

/* Receives what there is, if @wait, something. False if the other end is gone. */
bool channel_receive(struct channel *channel, bool wait);

/* The next frame that is there in full, borrowed until the next channel_receive; false if there is none. */
bool channel_next(struct channel *channel, enum frame_type *type, struct unpacker *body);

#endif
