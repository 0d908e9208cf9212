/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A viewer of lttng-relayd: what of its protocol (lttng-live) babeltrace2 does not tell. A session has one
 * viewer at a time. Calls wait for the relay daemon, but not for long.
 */
#ifndef SESSION_VIEWER_H
#define SESSION_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "session/sessionid.h"

struct viewer_stream {
	uint64_t id;
	uint64_t user;    /* KERNEL_USER: it is the kernel's */
	char channel[64]; /* "spans_0": the channel and the CPU */
};

struct viewer_session {
	uint64_t id;
	uint32_t streams; /* that it has, and those of metadata */
};

/* What comes next in a stream. */
enum viewer_next {
	VIEWER_PACKET,
	VIEWER_IDLE,    /* nothing, up to a time on the tracing clock */
	VIEWER_NOTHING, /* it is not known */
	VIEWER_ENDED,
	VIEWER_FAILED /* the connection is of no use any more */
};

/* Connects to the relay daemon; -1 if it does not answer. To be closed. */
int viewer_open(const struct config *config);

/* Whether that session is there. */
bool viewer_find(int fd, const struct session_identity *identity, struct viewer_session *session);

/* Attaches to a session, and appends its streams of events (struct viewer_stream). False if another viewer is
 * attached, or it is gone. */
bool viewer_attach(int fd, uint64_t session, GArray *streams);

/* Asks for the next packet of a stream, which is passed over; @time: up to when it is idle. */
enum viewer_next viewer_next(int fd, uint64_t stream, uint64_t *time);

#endif
