/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LTTng as the files of session/ call it: one call at a time, its numbers as sentences, and what the session
 * is made of.
 */
#ifndef SESSION_TRACING_H
#define SESSION_TRACING_H

#include <glib.h>
#include <lttng/lttng.h>
#include <pthread.h>

#include "config/config.h"
#include "session/channelsize.h"
#include "session/sessionstatus.h"

/* liblttng-ctl has one connection at a time, and does not guard it: its calls come from two threads. Not a
 * lock of GLib's, which ThreadSanitizer cannot see. */
extern pthread_mutex_t tracing_lock;

static inline pthread_mutex_t *tracing_take_lock(void)
{
	pthread_mutex_lock(&tracing_lock);
	return &tracing_lock;
}

static inline void tracing_release_lock(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the lock to the end of the block. */
#define LOCK_TRACING                                                                                         \
	__attribute__((cleanup(tracing_release_lock), unused)) pthread_mutex_t *locked = tracing_take_lock()

/* To be called before the first call into the library: whose session daemon it is. */
void tracing_prepare(const struct config *config);

/* What LTTng's @code means, as a status and as a sentence, after an attempt to do @what. */
enum session_status tracing_failure(int code, char *error, size_t error_size, const char *what);

/* A session of ours to be passed to LTTng's calls; NULL if memory is short. The second one is for what the
 * kernel records. */
struct lttng_handle *tracing_open(const char *name);
struct lttng_handle *tracing_open_kernel(const char *name);

/* Finds a session in the daemon's list; 0, or a negative code. */
int tracing_find_session(const char *name, uint64_t *created, bool *active);

/* What the session has; these return 0, or a negative code. */

/*
 * The events that a session records, one by one: of a pattern any program could register thousands of names,
 * or events of megabytes, which the reader would have to take. Those of a level above the session's are off.
 */
#define TRACING_EVENTS 26
extern const struct tracing_event {
	const char *name;
	uint64_t level;
} tracing_events[TRACING_EVENTS]; /* by level: whatever level a session has, those that are on are the first
				   */

/* Enables the channel @name of the handle's domain, which is made if it is missing. */
int tracing_enable_channel(const struct config *config, struct lttng_handle *handle, const char *name);

/* Enables, or disables, all channels of a session that it has of ours. */
int tracing_enable_channels(const struct config *config, const char *name, bool enable);

/* Whether it is there, and enabled. */
int tracing_find_channel(struct lttng_handle *handle, const char *name, bool *there, bool *enabled);

/* Whether there is a kernel tracer, and we may use it: 0, or a negative code that says why not. */
int tracing_ask_kernel(void);

/* Adds LTTng's context @kind to all events of a channel. */
int tracing_add_context(struct lttng_handle *handle, enum lttng_event_context_type kind, const char *channel);

/* Sets @on[i] for each of tracing_events that is enabled, for all programs and without a filter. */
int tracing_list_events(struct lttng_handle *handle, bool *on);

/* Enables and disables tracing_events, of which @on are enabled, as @level wants it. An event that stays is
 * not touched. If it is cut short, those that are on are the first ones all the same. */
int tracing_set_events(struct lttng_handle *handle, uint64_t level, const bool *on);

/* Starts the session @name, unless it is started. */
int tracing_start(const char *name);

/* The daemon was told since @begun (CLOCK_MONOTONIC ns) what programs are to record. It waits for each that
 * does not answer, and gives it up: how many that may be is logged, and counted. To be called for each call,
 * or few, as many short waits are no long one. */
void tracing_count_lost(int64_t begun);

#endif
