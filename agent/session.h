/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracing session: created, started and ended through liblttng-ctl.
 *
 * One live session with one channel of per-user buffers, that records our events of all programs on the node.
 * Calls block on the session daemon, so they belong in the collector's thread.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stddef.h>

#include "config.h"

struct session;

enum session_status {
	SESSION_OK,
	SESSION_NO_DAEMON, /* lttng-sessiond does not answer */
	SESSION_NO_RELAY,  /* lttng-relayd does not */
	SESSION_FAILED
};

/*
 * Creates the session, ready to be attached to but not started; one of the same name that an agent left
 * behind is destroyed first. On failure nothing is left, and @error says what to do.
 */
enum session_status session_create(
	const struct config *config, struct session **session, char *error, size_t error_size);

/* Starts recording. To be called once a reader is attached: so it sees the first event. */
enum session_status session_start(struct session *session, char *error, size_t error_size);

/* The URL for lttng-live; borrowed. */
const char *session_url(const struct session *session);

/* Stops recording and has the daemon flush what was recorded to the relay; then nothing more comes. */
void session_stop(struct session *session);

/* Destroys the session, without waiting for the daemon to be done with it, and frees @session. */
void session_destroy(struct session *session);

#endif
