/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LTTng as the files of session/ call it: one call at a time, its numbers as sentences, and what the session
 * is made of.
 */
#ifndef SESSION_TRACING_H
#define SESSION_TRACING_H

#include <glib.h>
#include <lttng/lttng.h>

#include "session/session.h"

#define CHANNEL "spans"

/* liblttng-ctl has one connection at a time, and does not guard it: its calls come from two threads. */
extern GMutex tracing_lock;

#define LOCK_TRACING G_GNUC_UNUSED g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&tracing_lock)

/* To be called before the first call into the library: whose session daemon it is. */
void tracing_prepare(const struct config *config);

/* What LTTng's @code means, as a status and as a sentence, after an attempt to do @what. */
enum session_status tracing_failure(int code, char *error, size_t error_size, const char *what);

/* A session of ours to be passed to LTTng's calls; NULL if memory is short. */
struct lttng_handle *tracing_open(const char *name);

/* Finds a session in the daemon's list; 0, or a negative code. */
int tracing_find_session(const char *name, uint64_t *created, bool *active);

/* What the session has; these return 0, or a negative code. */

/*
 * Two patterns for the same events. LTTng disables by a pattern, whatever the level, so that a session goes
 * from level to level by way of the other one: an event that both match is recorded once.
 */
extern const char *const tracing_span_patterns[2];

/* LTTng's number of a level that spans have. */
int tracing_level(uint64_t level);

/* How large its channel is to be. */
void tracing_size_channel(const struct config *config, struct lttng_channel_attr *attr);

/* Enables its channel, which is made if it is missing. */
int tracing_enable_channel(const struct config *config, struct lttng_handle *handle);

/* Records the events that match, of log level @level (LTTng's) or one that matters more. */
int tracing_enable_event(struct lttng_handle *handle, const char *pattern, int level);

/* Records all that it is to record, from which level on. */
int tracing_enable_events(uint64_t level, struct lttng_handle *handle);

#endif
