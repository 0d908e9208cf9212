/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The watch over the session: LTTng does not tell its reader that somebody stopped the session, destroyed it,
 * or disabled what it records. So a thread asks the session daemon every few seconds, and sets right what can
 * be set right. It is a thread because the daemon may hang, and liblttng-ctl knows no time-outs: reading must
 * go on all the same.
 */
#ifndef SESSION_WATCH_H
#define SESSION_WATCH_H

#include <stdbool.h>

#include "config/config.h"
#include "core/reason.h"
#include "core/userbuffers.h"
#include "session/sessionid.h"

struct watch;

/* Starts the thread; @config is borrowed. NULL if none can be had. */
struct watch *watch_create(const struct config *config);

/* Watches over @session from now on, or, if it is NULL, over none. If it is another one than before, what the
 * configuration wants of it is set right at once, whatever it had. */
void watch_set(struct watch *watch, const struct session_identity *session);

/* The session is about to be stopped on purpose: watches over none, and waits until a look that is under way
 * is over, two seconds at most, as it would be started again by that. */
void watch_stop(struct watch *watch);

/* Whether the daemon says that the session is not there any more. */
bool watch_gone(struct watch *watch);

/* The session that is watched over, or the next one, is to record spans of @level and those that matter more.
 */
void watch_set_level(struct watch *watch, uint64_t level);
uint64_t watch_level(struct watch *watch);

/* Whether it was found out anew what of the configuration the session does not record; since this was asked
 * last. */
bool watch_news(struct watch *watch, struct omissions *omissions);

/* Whether the buffers of users were measured since this was asked last. */
bool watch_measured(struct watch *watch, struct user_buffers *buffers);

/* A snapshot of the flight recorder (flightsession.h), which the thread takes next. */
struct snapshot_taken {
	uint64_t number;
	char error[512]; /* why there is none; "": there is */
};

/* One is to be taken, with a @number that is not 0, into the folder @path (copied). */
void watch_take_snapshot(struct watch *watch, uint64_t number, const char *path);

/* Whether one was taken, or could not be, since this was asked last. */
bool watch_snapshot(struct watch *watch, struct snapshot_taken *taken);

/* Ends it. If the daemon hangs, its thread is left behind with what it needs. */
void watch_destroy(struct watch *watch);

#endif
