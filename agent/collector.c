/* SPDX-License-Identifier: BSD-2-Clause */
#include "collector.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "clock.h"
#include "ledger.h"
#include "log.h"
#include "reader.h"
#include "session.h"

/* Between two tries to create a session. */
#define RETRY_NS (500 * NS_PER_MS)
/* A reason why nothing is collected that has stayed the same for so long is worth a line. */
#define LASTING_NS (10 * NS_PER_SECOND)
/* The pause between two looks at an idle stream: half a live timer, within these. */
#define POLL_MIN_NS (1 * NS_PER_MS)
#define POLL_MAX_NS (100 * NS_PER_MS)

struct collector {
	const struct config *config;
	struct line *line;
	void (*done)(void *data);
	void *data;
	int64_t poll_ns;
	pthread_t thread;
	_Atomic int64_t progress;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t stop;
	int64_t stop_deadline; /* 0: run on */
	struct collector_state state;
	int64_t reason_since;
	bool reason_logged;
};

/* The thread moves: for whoever watches over it. */
static void move(struct collector *collector)
{
	atomic_store_explicit(&collector->progress, clock_monotonic(), memory_order_relaxed);
}

static bool stopping(struct collector *collector)
{
	bool is;

	move(collector);
	pthread_mutex_lock(&collector->lock);
	is = collector->stop_deadline != 0;
	pthread_mutex_unlock(&collector->lock);
	return is;
}

/* Sleeps, but not on when it is asked to stop. */
static void pause_for(struct collector *collector, int64_t ns)
{
	int64_t until = clock_monotonic() + ns;
	struct timespec time = {until / NS_PER_SECOND, until % NS_PER_SECOND};

	pthread_mutex_lock(&collector->lock);
	if (!collector->stop_deadline)
		pthread_cond_timedwait(&collector->stop, &collector->lock, &time);
	pthread_mutex_unlock(&collector->lock);
}

/*
 * It does not collect, because of @error. Logged when it begins; while daemons go down and come up the reason
 * changes from try to try, so another one is logged only once it has lasted.
 */
static void set_waiting(struct collector *collector, const char *error)
{
	struct collector_state *state = &collector->state;
	int64_t now = clock_monotonic();
	bool begins, news;

	pthread_mutex_lock(&collector->lock);
	begins = state->collecting || !state->error[0];
	if (begins)
		state->since = now;
	state->collecting = false;
	if (strcmp(state->error, error) != 0) {
		collector->reason_since = now;
		collector->reason_logged = false;
		g_strlcpy(state->error, error, sizeof(state->error));
	}
	news = !collector->reason_logged && (begins || now - collector->reason_since >= LASTING_NS);
	collector->reason_logged |= news;
	pthread_mutex_unlock(&collector->lock);
	if (news)
		log_warning("not collecting: %s; trying on", error);
}

/* The reader failed, most likely because lttng-relayd is gone; its own words may tell otherwise. */
static void set_waiting_after(struct collector *collector, const char *reader_error)
{
	char error[512];

	snprintf(error, sizeof(error), "the connection to lttng-relayd is lost (%s)", reader_error);
	set_waiting(collector, error);
}

static void set_collecting(struct collector *collector)
{
	int64_t now = clock_monotonic(), away;
	bool again;

	pthread_mutex_lock(&collector->lock);
	away = now - collector->state.since;
	again = collector->state.error[0] != '\0';
	collector->state.collecting = true;
	collector->state.since = now;
	collector->state.error[0] = '\0';
	g_strlcpy(
		collector->state.session, collector->config->session_name, sizeof(collector->state.session));
	pthread_mutex_unlock(&collector->lock);
	ledger_add(SESSIONS_CREATED, 1);
	if (again)
		log_info("collecting again, after %.1f s, from LTTng session `%s`",
			(double)away / NS_PER_SECOND, collector->config->session_name);
	else
		log_info("collecting from LTTng session `%s`", collector->config->session_name);
}

/* Reads until the session ends, or the collector is to stop; says how it ended. */
static enum reader_status read_on(struct collector *collector, struct reader *reader)
{
	enum reader_status status = READER_MORE;

	while ((status == READER_MORE || status == READER_IDLE) && !stopping(collector)) {
		status = reader_step(reader);
		if (status == READER_IDLE)
			pause_for(collector, collector->poll_ns);
	}
	return status;
}

/* After recording stopped: reads what is left, to the end of the session or the deadline. */
static void drain(struct collector *collector, struct reader *reader)
{
	enum reader_status status = READER_MORE;

	while ((status == READER_MORE || status == READER_IDLE) &&
		clock_monotonic() < collector->stop_deadline) {
		status = reader_step(reader);
		if (status == READER_IDLE)
			g_usleep(POLL_MAX_NS / 10000);
	}
	if (status != READER_END)
		log_warning("the session did not end in time: what it still held is not delivered");
}

/* Attaches before recording starts, so that the first event is seen. */
static enum session_status attach(struct collector *collector, struct session *session,
	struct reader **reader, char *error, size_t size)
{
	enum reader_status status;

	*reader = reader_open_live(session_url(session), collector->line, error, size);
	if (!*reader)
		return SESSION_FAILED;
	status = reader_step(*reader);
	move(collector);
	if (status == READER_MORE || status == READER_IDLE)
		return session_start(session, error, size);
	snprintf(error, size, "cannot attach to the session at %s: %s", session_url(session),
		status == READER_END ? "the relay daemon does not know it" : reader_error(*reader));
	return SESSION_FAILED;
}

/* One session, from its creation to its end. */
static void collect(struct collector *collector)
{
	struct reader *reader = NULL;
	struct session *session;
	char error[512];

	if (session_create(collector->config, &session, error, sizeof(error)) != SESSION_OK) {
		set_waiting(collector, error);
		return;
	}
	move(collector);
	if (attach(collector, session, &reader, error, sizeof(error)) != SESSION_OK) {
		set_waiting(collector, error);
	} else {
		set_collecting(collector);
		if (read_on(collector, reader) == READER_END)
			set_waiting(
				collector, "the session is gone: lttng-sessiond or lttng-relayd has ended");
		else if (!stopping(collector))
			set_waiting_after(collector, reader_error(reader));
	}
	if (stopping(collector))
		session_stop(session);
	session_destroy(session);
	if (stopping(collector) && reader)
		drain(collector, reader);
	if (reader)
		reader_close(reader);
}

static void *run(void *data)
{
	struct collector *collector = data;

	while (!stopping(collector)) {
		collect(collector);
		line_tick(collector->line, clock_monotonic(), true);
		pause_for(collector, RETRY_NS);
	}
	line_flush(collector->line);
	collector->done(collector->data);
	return NULL;
}

struct collector *collector_create(
	const struct config *config, struct line *line, void (*done)(void *data), void *data)
{
	struct collector *collector = g_new0(struct collector, 1);
	pthread_condattr_t attr;

	collector->config = config;
	collector->line = line;
	collector->done = done;
	collector->data = data;
	collector->poll_ns = CLAMP(config->live_timer / 2, POLL_MIN_NS, POLL_MAX_NS);
	collector->state.since = clock_monotonic();
	move(collector);
	pthread_mutex_init(&collector->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&collector->stop, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&collector->thread, NULL, run, collector) == 0)
		return collector;
	pthread_cond_destroy(&collector->stop);
	pthread_mutex_destroy(&collector->lock);
	g_free(collector);
	return NULL;
}

void collector_stop(struct collector *collector, int64_t timeout_ns)
{
	pthread_mutex_lock(&collector->lock);
	collector->stop_deadline = clock_monotonic() + timeout_ns;
	pthread_cond_broadcast(&collector->stop);
	pthread_mutex_unlock(&collector->lock);
}

int64_t collector_progress(const struct collector *collector)
{
	return atomic_load_explicit(&collector->progress, memory_order_relaxed);
}

void collector_read_state(struct collector *collector, struct collector_state *state)
{
	pthread_mutex_lock(&collector->lock);
	*state = collector->state;
	pthread_mutex_unlock(&collector->lock);
}

void collector_destroy(struct collector *collector)
{
	pthread_join(collector->thread, NULL);
	pthread_cond_destroy(&collector->stop);
	pthread_mutex_destroy(&collector->lock);
	g_free(collector);
}
