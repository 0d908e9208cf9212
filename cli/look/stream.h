/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's spans as they come, over its control socket: its records (agent/supervise/subscribers.h) become
 * spans.
 */
#ifndef LOOK_STREAM_H
#define LOOK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "core/spanmemory.h"

/* Zero-initialised it is closed. */
struct stream {
	int fd;
	bool open;
	struct buffer in;
	struct span_memory memory;
	uint64_t lost; /* as the agent said last */
	bool strange;  /* what came was none of ours */
};

/* Takes over @fd, and what came already, of which it is @stream->in. */
void stream_begin(struct stream *stream, int fd);

/* Receives what there is, and appends its spans (of struct span2); false if the agent is gone, or strange. */
bool stream_take(struct stream *stream, GPtrArray *spans);

/* Closes it, and frees what it has. */
void stream_end(struct stream *stream);

#endif
