/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory the ring buffers of each user take. */
#ifndef SESSION_MEASURE_H
#define SESSION_MEASURE_H

#include "config/config.h"
#include "core/userbuffers.h"
#include "session/sessionid.h"

/*
 * All of a user's buffers are allocated when the first program of theirs comes, and stay as long as the
 * session (newer.h), so their size is known. LTTng 2.16 would tell it, too, but told half of what /dev/shm
 * had. Whose did not find room has a trace without streams, for as long as the session lives.
 */
void measure_buffers(
	const struct config *config, const struct session_identity *session, struct user_buffers *buffers);

#endif
