/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/runstate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"

/* A problem that has stayed the same for so long is worth a line in the log. */
#define LASTING_NS (10 * NS_PER_SECOND)

/* The status says that a daemon hangs if it takes so long to answer. */
#define HUNG_NS (5 * NS_PER_SECOND)
/* After this time a new agent may fare better. */
#define CALL_MAX_NS (600 * NS_PER_SECOND)

void problem_set(struct problem *problem, enum collector_reason reason, const char *format, ...)
{
	va_list args;

	problem->reason = reason;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}

void runstate_init(struct runstate *state)
{
	pthread_condattr_t attr;

	memset(state, 0, sizeof(*state));
	state->state.since = clock_monotonic();
	state->state.reason = REASON_STARTING;
	state->moved = state->state.since;
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->stop, &attr);
	pthread_condattr_destroy(&attr);
}

void runstate_free(struct runstate *state)
{
	pthread_cond_destroy(&state->stop);
	pthread_mutex_destroy(&state->lock);
}

bool runstate_stopping(struct runstate *state)
{
	return runstate_deadline(state) != 0;
}

int64_t runstate_deadline(struct runstate *state)
{
	int64_t deadline;

	atomic_store_explicit(&state->called, DAEMON_NONE, memory_order_relaxed);
	atomic_store_explicit(&state->moved, clock_monotonic(), memory_order_relaxed);
	pthread_mutex_lock(&state->lock);
	deadline = state->stop_deadline;
	pthread_mutex_unlock(&state->lock);
	return deadline;
}

void runstate_calls(struct runstate *state, enum lttng_daemon daemon)
{
	atomic_store_explicit(&state->moved, clock_monotonic(), memory_order_relaxed);
	atomic_store_explicit(&state->called, daemon, memory_order_relaxed);
}

static int64_t unmoved(const struct runstate *state)
{
	return clock_monotonic() - atomic_load_explicit(&state->moved, memory_order_relaxed);
}

bool runstate_is_calling(const struct runstate *state)
{
	return atomic_load_explicit(&state->called, memory_order_relaxed) != DAEMON_NONE &&
	       unmoved(state) < CALL_MAX_NS;
}

void runstate_pause(struct runstate *state, int64_t ns)
{
	int64_t until = clock_monotonic() + ns;
	struct timespec time = {until / NS_PER_SECOND, until % NS_PER_SECOND};

	pthread_mutex_lock(&state->lock);
	if (!state->stop_deadline)
		pthread_cond_timedwait(&state->stop, &state->lock, &time);
	pthread_mutex_unlock(&state->lock);
}

void runstate_waits(struct runstate *state, enum collector_reason reason, const char *error)
{
	struct collector_state *shown = &state->state;
	int64_t now = clock_monotonic();
	bool begins, news;

	pthread_mutex_lock(&state->lock);
	begins = shown->collecting || !shown->error[0];
	if (begins)
		shown->since = now;
	shown->collecting = false;
	shown->reason = reason;
	if (strcmp(shown->error, error) != 0) {
		state->reason_since = now;
		state->reason_logged = false;
		g_strlcpy(shown->error, error, sizeof(shown->error));
	}
	news = !state->reason_logged && (begins || now - state->reason_since >= LASTING_NS);
	state->reason_logged |= news;
	pthread_mutex_unlock(&state->lock);
	if (news)
		log_warning("not collecting: %s; the agent keeps trying", error);
}

void runstate_collects(struct runstate *state, const char *session, bool new)
{
	struct collector_state *shown = &state->state;
	int64_t now = clock_monotonic(), away;
	bool again, on;

	pthread_mutex_lock(&state->lock);
	away = now - shown->since;
	again = shown->error[0] != '\0';
	on = shown->collecting && !again;
	shown->collecting = true;
	if (!on)
		shown->since = now;
	shown->reason = REASON_NONE;
	shown->error[0] = '\0';
	g_strlcpy(shown->session, session, sizeof(shown->session));
	pthread_mutex_unlock(&state->lock);
	if (on)
		return;
	if (again)
		log_info("collecting again, after %.1f s, from LTTng session `%s`",
			(double)away / NS_PER_SECOND, session);
	else
		log_info("collecting from LTTng session `%s`%s", session,
			new ? "" : ", which was kept, from where the last run left it");
}

void runstate_collects_in_part(
	struct runstate *state, const char *session, enum collector_reason reason, const char *error)
{
	struct collector_state *shown = &state->state;

	pthread_mutex_lock(&state->lock);
	if (!shown->collecting)
		shown->since = clock_monotonic();
	shown->collecting = true;
	shown->reason = reason;
	g_strlcpy(shown->session, session, sizeof(shown->session));
	g_strlcpy(shown->error, error, sizeof(shown->error));
	pthread_mutex_unlock(&state->lock);
}

void runstate_request_stop(struct runstate *state, int64_t timeout_ns)
{
	pthread_mutex_lock(&state->lock);
	state->stop_deadline = clock_monotonic() + timeout_ns;
	pthread_cond_broadcast(&state->stop);
	pthread_mutex_unlock(&state->lock);
}

void runstate_read(struct runstate *state, struct collector_state *copy)
{
	enum lttng_daemon called;

	pthread_mutex_lock(&state->lock);
	*copy = state->state;
	pthread_mutex_unlock(&state->lock);
	called = atomic_load_explicit(&state->called, memory_order_relaxed);
	if (called == DAEMON_NONE || unmoved(state) < HUNG_NS)
		return;
	copy->collecting = false;
	copy->reason = called == DAEMON_RELAY ? REASON_RELAY_HANGS : REASON_SESSION_DAEMON_HANGS;
	snprintf(copy->error, sizeof(copy->error),
		"%s hangs: it has not answered for more than %d s; if it lasts, restart it",
		called == DAEMON_RELAY ? "lttng-relayd" : "lttng-sessiond", (int)(HUNG_NS / NS_PER_SECOND));
}
