/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reader/runstate.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "reader/agentlink.h"

/* Far more than it takes to leave. */
#define LEAVE_NS (60 * NS_PER_SECOND)

void runstate_init(struct runstate *state, struct page *page, struct agent_link *link)
{
	memset(state, 0, sizeof(*state));
	state->page = page;
	state->link = link;
	pthread_mutex_init(&state->lock, NULL);
	/* without one, its pauses are as long as they are */
	state->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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

bool runstate_pause_on(struct runstate *state, int64_t ns, int fd)
{
	struct pollfd fds[] = {{.fd = state->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	struct timespec time = clock_timespec(ns);

	moves(state, DAEMON_NONE);
	return ppoll(fds, G_N_ELEMENTS(fds), &time, NULL) > 0 && fds[1].revents;
}

void runstate_pause(struct runstate *state, int64_t ns)
{
	runstate_pause_on(state, ns, -1);
}

/* With the lock. */
static void wake(struct runstate *state)
{
	const uint64_t one = 1;

	if (write(state->stop, &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_error("eventfd: %s", g_strerror(errno));
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
	wake(state);
	pthread_mutex_unlock(&state->lock);
}

void runstate_request_leave(struct runstate *state)
{
	pthread_mutex_lock(&state->lock);
	if (!state->stop_deadline) {
		state->stop_deadline = clock_monotonic() + LEAVE_NS;
		state->leaves = true;
	}
	wake(state);
	pthread_mutex_unlock(&state->lock);
}
