/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/collecting.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"

/* A reason why nothing is collected that has stayed the same for so long is worth a line. */
#define LASTING_NS (10 * NS_PER_SECOND)

/* A daemon that takes so long to answer hangs, as the status says; */
#define HUNG_NS (5 * NS_PER_SECOND)
/* and if it is as long as this, a new agent may fare better. */
#define ASKING_MAX_NS (600 * NS_PER_SECOND)

void collecting_init(struct collecting *collecting)
{
	pthread_condattr_t attr;

	memset(collecting, 0, sizeof(*collecting));
	collecting->state.since = clock_monotonic();
	collecting->moved = collecting->state.since;
	pthread_mutex_init(&collecting->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&collecting->stop, &attr);
	pthread_condattr_destroy(&attr);
}

void collecting_free(struct collecting *collecting)
{
	pthread_cond_destroy(&collecting->stop);
	pthread_mutex_destroy(&collecting->lock);
}

bool collecting_stopping(struct collecting *collecting)
{
	return collecting_deadline(collecting) != 0;
}

int64_t collecting_deadline(struct collecting *collecting)
{
	int64_t deadline;

	atomic_store_explicit(&collecting->asked, NULL, memory_order_relaxed);
	atomic_store_explicit(&collecting->moved, clock_monotonic(), memory_order_relaxed);
	pthread_mutex_lock(&collecting->lock);
	deadline = collecting->stop_deadline;
	pthread_mutex_unlock(&collecting->lock);
	return deadline;
}

void collecting_asks(struct collecting *collecting, const char *daemon)
{
	atomic_store_explicit(&collecting->moved, clock_monotonic(), memory_order_relaxed);
	atomic_store_explicit(&collecting->asked, daemon, memory_order_relaxed);
}

static int64_t unmoved(const struct collecting *collecting)
{
	return clock_monotonic() - atomic_load_explicit(&collecting->moved, memory_order_relaxed);
}

bool collecting_is_asking(const struct collecting *collecting)
{
	return atomic_load_explicit(&collecting->asked, memory_order_relaxed) &&
	       unmoved(collecting) < ASKING_MAX_NS;
}

void collecting_pause(struct collecting *collecting, int64_t ns)
{
	int64_t until = clock_monotonic() + ns;
	struct timespec time = {until / NS_PER_SECOND, until % NS_PER_SECOND};

	pthread_mutex_lock(&collecting->lock);
	if (!collecting->stop_deadline)
		pthread_cond_timedwait(&collecting->stop, &collecting->lock, &time);
	pthread_mutex_unlock(&collecting->lock);
}

void collecting_waits(struct collecting *collecting, const char *error)
{
	struct collector_state *state = &collecting->state;
	int64_t now = clock_monotonic();
	bool begins, news;

	pthread_mutex_lock(&collecting->lock);
	begins = state->collecting || !state->error[0];
	if (begins)
		state->since = now;
	state->collecting = false;
	if (strcmp(state->error, error) != 0) {
		collecting->reason_since = now;
		collecting->reason_logged = false;
		g_strlcpy(state->error, error, sizeof(state->error));
	}
	news = !collecting->reason_logged && (begins || now - collecting->reason_since >= LASTING_NS);
	collecting->reason_logged |= news;
	pthread_mutex_unlock(&collecting->lock);
	if (news)
		log_warning("not collecting: %s; trying on", error);
}

void collecting_begins(struct collecting *collecting, const char *session, bool new)
{
	struct collector_state *state = &collecting->state;
	int64_t now = clock_monotonic(), away;
	bool again, on;

	pthread_mutex_lock(&collecting->lock);
	away = now - state->since;
	again = state->error[0] != '\0';
	on = state->collecting && !again;
	state->collecting = true;
	if (!on)
		state->since = now;
	state->error[0] = '\0';
	g_strlcpy(state->session, session, sizeof(state->session));
	pthread_mutex_unlock(&collecting->lock);
	if (on)
		return;
	if (again)
		log_info("collecting again, after %.1f s, from LTTng session `%s`",
			(double)away / NS_PER_SECOND, session);
	else
		log_info("collecting from LTTng session `%s`%s", session,
			new ? "" : ", which was kept, from where the last run left it");
}

void collecting_lacks(struct collecting *collecting, const char *session, const char *error)
{
	struct collector_state *state = &collecting->state;

	pthread_mutex_lock(&collecting->lock);
	if (!state->collecting)
		state->since = clock_monotonic();
	state->collecting = true;
	g_strlcpy(state->session, session, sizeof(state->session));
	g_strlcpy(state->error, error, sizeof(state->error));
	pthread_mutex_unlock(&collecting->lock);
}

void collecting_stop(struct collecting *collecting, int64_t timeout_ns)
{
	pthread_mutex_lock(&collecting->lock);
	collecting->stop_deadline = clock_monotonic() + timeout_ns;
	pthread_cond_broadcast(&collecting->stop);
	pthread_mutex_unlock(&collecting->lock);
}

void collecting_read(struct collecting *collecting, struct collector_state *state)
{
	const char *asked;

	pthread_mutex_lock(&collecting->lock);
	*state = collecting->state;
	pthread_mutex_unlock(&collecting->lock);
	asked = atomic_load_explicit(&collecting->asked, memory_order_relaxed);
	if (!asked || unmoved(collecting) < HUNG_NS)
		return;
	state->collecting = false;
	snprintf(state->error, sizeof(state->error),
		"%s hangs: it has not answered for more than %d s; if it lasts, restart it", asked,
		(int)(HUNG_NS / NS_PER_SECOND));
}
