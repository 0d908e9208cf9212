/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/runstate.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "reader/agentlink.h"

/* Far more than it takes to leave. */
#define LEAVE_NS (60 * NS_PER_SECOND)

void runstate_init(struct runstate *state, struct page *page, struct agent_link *link)
{
	pthread_condattr_t attr;

	memset(state, 0, sizeof(*state));
	state->page = page;
	state->link = link;
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->stop, &attr);
	pthread_condattr_destroy(&attr);
}

static void moves(struct runstate *state, enum lttng_daemon daemon)
{
	atomic_store_explicit(&state->page->called, daemon, memory_order_relaxed);
	atomic_store_explicit(&state->page->moved, clock_monotonic(), memory_order_relaxed);
}

bool runstate_stopping(struct runstate *state)
{
	return runstate_deadline(state) != 0;
}

int64_t runstate_deadline(struct runstate *state)
{
	int64_t deadline;

	moves(state, DAEMON_NONE);
	pthread_mutex_lock(&state->lock);
	deadline = state->stop_deadline;
	pthread_mutex_unlock(&state->lock);
	return deadline;
}

bool runstate_leaves(struct runstate *state)
{
	bool leaves;

	pthread_mutex_lock(&state->lock);
	leaves = state->leaves;
	pthread_mutex_unlock(&state->lock);
	return leaves;
}

size_t runstate_excess(const struct runstate *state)
{
	return atomic_load_explicit(&state->page->excess, memory_order_relaxed);
}

void runstate_calls(struct runstate *state, enum lttng_daemon daemon)
{
	moves(state, daemon);
}

void runstate_pause(struct runstate *state, int64_t ns)
{
	int64_t until = clock_monotonic() + ns;
	struct timespec time = clock_timespec(until);

	moves(state, DAEMON_NONE);
	pthread_mutex_lock(&state->lock);
	if (!state->stop_deadline)
		pthread_cond_timedwait(&state->stop, &state->lock, &time);
	pthread_mutex_unlock(&state->lock);
}

void runstate_alone(struct runstate *state, const uint64_t *user)
{
	atomic_store_explicit(&state->page->alone, user ? *user + 1 : 0, memory_order_relaxed);
}

void runstate_live(struct runstate *state, bool live)
{
	atomic_store_explicit(&state->page->live, live, memory_order_relaxed);
}

static void tell(struct runstate *state, struct report *report, const char *session, const char *error)
{
	g_strlcpy(report->session, session, sizeof(report->session));
	g_strlcpy(report->problem.text, error, sizeof(report->problem.text));
	agent_link_report(state->link, report);
}

void runstate_waits(struct runstate *state, enum reason reason, const char *error)
{
	struct report report = {.kind = REPORT_WAITS, .problem.reason = reason};

	tell(state, &report, "", error);
}

void runstate_collects(struct runstate *state, const char *session, bool new)
{
	struct report report = {.kind = REPORT_COLLECTS, .new = new};

	tell(state, &report, session, "");
}

void runstate_collects_in_part(
	struct runstate *state, const char *session, enum reason reason, const char *error)
{
	struct report report = {.kind = REPORT_IN_PART, .problem.reason = reason};

	tell(state, &report, session, error);
}

void runstate_request_stop(struct runstate *state, int64_t timeout_ns)
{
	pthread_mutex_lock(&state->lock);
	state->stop_deadline = clock_monotonic() + timeout_ns;
	state->leaves = false;
	pthread_cond_broadcast(&state->stop);
	pthread_mutex_unlock(&state->lock);
}

void runstate_request_leave(struct runstate *state)
{
	pthread_mutex_lock(&state->lock);
	if (!state->stop_deadline) {
		state->stop_deadline = clock_monotonic() + LEAVE_NS;
		state->leaves = true;
	}
	pthread_cond_broadcast(&state->stop);
	pthread_mutex_unlock(&state->lock);
}
