/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/readerstatus.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sanitize.h"

/* A problem that has stayed the same for so long is worth a line in the log. */
#define LASTING_NS (10 * NS_PER_SECOND)
/* The status says that a daemon hangs if it takes so long to answer. */
#define HUNG_NS (5 * NS_PER_SECOND)
/* Where nothing comes, one that has not answered for this long is why. */
#define WHY_NS (2 * NS_PER_SECOND)

void reader_status_init(struct reader_status *status, const struct page *page)
{
	memset(status, 0, sizeof(*status));
	status->page = page;
	status->state.since = clock_monotonic();
	status->state.reason = REASON_STARTING;
	pthread_mutex_init(&status->lock, NULL);
}

void reader_status_free(struct reader_status *status)
{
	pthread_mutex_destroy(&status->lock);
}

static uint32_t called(const struct reader_status *status)
{
	return atomic_load_explicit(&status->page->called, memory_order_relaxed);
}

/* These are called with the lock held */

/* How long the reader has waited for somebody. */
static int64_t waited(const struct reader_status *status)
{
	return clock_monotonic() - atomic_load_explicit(&status->page->moved, memory_order_relaxed) -
	       status->busy;
}

/* Nothing is collected. Returns whether that is worth a line in the log. */
static bool wait_for(struct reader_status *status, enum reason reason, const char *error)
{
	struct supervisor_state *state = &status->state;
	int64_t now = clock_monotonic();
	bool begins = state->collecting || !state->error[0], news;

	if (begins)
		state->since = now;
	state->collecting = false;
	state->reason = reason;
	if (strcmp(state->error, error) != 0) {
		status->reason_since = now;
		status->reason_logged = false;
		g_strlcpy(state->error, error, sizeof(state->error));
	}
	news = !status->reason_logged && (begins || now - status->reason_since >= LASTING_NS);
	status->reason_logged |= news;
	return news;
}

static void collect(struct reader_status *status, const struct report *report)
{
	struct supervisor_state *state = &status->state;
	bool again = state->error[0] != '\0', on = state->collecting && !again;
	/* what one user's programs did was logged when it began, or is over, and may come back for ever */
	bool in_part = again && state->collecting &&
		       (state->reason == REASON_LEFT_OUT || state->reason == REASON_STREAM_STUCK);
	bool quiet = in_part ||
		     (status->ended && state->collecting && clock_monotonic() - status->ended < LASTING_NS);
	int64_t now = clock_monotonic(), away = now - state->since;

	if (!on && !quiet)
		state->since = now;
	state->collecting = true;
	state->reason = REASON_NONE;
	state->error[0] = '\0';
	g_strlcpy(state->session, report->session, sizeof(state->session));
	if (on || quiet)
		return;
	if (again)
		log_info("collecting again, after %.1f s, from LTTng session `%s`",
			(double)away / NS_PER_SECOND, report->session);
	else
		log_info("collecting from LTTng session `%s`%s", report->session,
			report->new ? "" : ", which was kept, from where the last run stopped");
}

static void collect_in_part(
	struct reader_status *status, enum reason reason, const char *session, const char *error)
{
	struct supervisor_state *state = &status->state;

	if (!state->collecting)
		state->since = clock_monotonic();
	state->collecting = true;
	state->reason = reason;
	g_strlcpy(state->session, session, sizeof(state->session));
	g_strlcpy(state->error, error, sizeof(state->error));
}

/* Whoever reports */

void reader_status_report(struct reader_status *status, const struct report *report)
{
	const char *error = report->problem.text;
	bool news = false;

	pthread_mutex_lock(&status->lock);
	if (report->kind == REPORT_WAITS)
		news = wait_for(status, report->problem.reason, error);
	else if (report->kind == REPORT_COLLECTS)
		collect(status, report);
	else
		collect_in_part(status, report->problem.reason, report->session, error);
	status->ended = 0;
	pthread_mutex_unlock(&status->lock);
	if (news)
		log_warning("not collecting: %s; the agent keeps trying", error);
}

static void log_omission(const struct problem *was, const struct problem *is, const char *section)
{
	if (is->reason != REASON_NONE && strcmp(was->text, is->text) != 0)
		log_warning("%s", is->text);
	else if (is->reason == REASON_NONE && was->reason != REASON_NONE)
		log_info("nothing that %s asks for is left out any more", section);
}

void reader_status_omissions(struct reader_status *status, const struct omissions *omissions)
{
	struct omissions was;

	pthread_mutex_lock(&status->lock);
	was = status->state.omissions;
	status->state.omissions = *omissions;
	pthread_mutex_unlock(&status->lock);
	log_omission(&was.events, &omissions->events, "[events]");
	log_omission(&was.kernel, &omissions->kernel, "[kernel]");
}

void reader_status_buffers(struct reader_status *status, const struct user_buffers *buffers)
{
	pthread_mutex_lock(&status->lock);
	status->state.buffers = *buffers;
	pthread_mutex_unlock(&status->lock);
}

void reader_status_misuse(struct reader_status *status, enum misuse_kind kind, const struct misuse *misuse)
{
	struct misuse_state *state = &status->state.misuses[kind];

	pthread_mutex_lock(&status->lock);
	state->at = clock_monotonic();
	state->is = *misuse;
	words_clean(state->is.service, strlen(state->is.service));
	words_clean(state->is.span, strlen(state->is.span));
	words_clean(state->is.what, strlen(state->is.what));
	pthread_mutex_unlock(&status->lock);
}

void reader_status_ended(struct reader_status *status, bool starts, const char *why)
{
	struct supervisor_state *state = &status->state;

	pthread_mutex_lock(&status->lock);
	if (starts && state->collecting)
		collect_in_part(status, REASON_READER_ENDED, state->session, why);
	else if (!starts)
		wait_for(status, REASON_NO_READER, why);
	status->ended = clock_monotonic();
	pthread_mutex_unlock(&status->lock);
}

/* LTTng's daemons */

static bool is_silent(const struct daemon_health *daemon, int64_t since)
{
	return daemon->silent && daemon->silent <= since;
}

void reader_status_kernel(struct reader_status *status, bool wanted)
{
	pthread_mutex_lock(&status->lock);
	status->wants_kernel = wanted;
	pthread_mutex_unlock(&status->lock);
}

/* Nothing else would say so: programs' spans come, and in flight mode nobody asks for what the kernel
 * records. Without the session daemon nothing is recorded anyway, which is said. The lock is held. */
static void look_at_kernel(struct reader_status *status, const struct daemons_health *healths, int64_t now)
{
	const struct daemon_health *kernel = &healths->kernel;

	if (!status->wants_kernel || healths->session.gone || (!kernel->gone && !kernel->silent))
		status->kernel_ill = 0;
	else if (!status->kernel_ill)
		status->kernel_ill = now;
	status->kernel = (struct problem){0};
	if (status->kernel_ill && now - status->kernel_ill >= HUNG_NS)
		problem_set(&status->kernel, REASON_KERNEL_CONSUMER, "%s",
			kernel->gone ? PROBLEM_KERNEL_CONSUMER_GONE : PROBLEM_KERNEL_CONSUMER_SILENT);
}

/* The session daemon may wait for the consumer daemon, never the other way round for long. */
void reader_status_daemons(struct reader_status *status, const struct daemons_health *healths)
{
	int64_t now = clock_monotonic(), since;
	enum reason hangs = REASON_NONE;
	struct problem was, is;

	pthread_mutex_lock(&status->lock);
	since = now - (status->state.reason == REASON_CONSUMER_STILL ? WHY_NS : HUNG_NS);
	if (is_silent(&healths->consumer, since))
		hangs = REASON_CONSUMER_HANGS;
	else if (is_silent(&healths->session, since))
		hangs = REASON_SESSION_DAEMON_HANGS;
	if (status->hangs != hangs)
		status->hangs_since = now;
	status->hangs = hangs;
	status->daemons_well =
		!is_silent(&healths->session, now - WHY_NS) && !is_silent(&healths->consumer, now - WHY_NS);
	status->consumer_gone = healths->consumer.gone && !healths->session.gone;
	if (!healths->consumer.ended || healths->session.gone)
		status->consumer_ended = 0;
	else if (!status->consumer_ended)
		status->consumer_ended = now;
	was = status->kernel;
	look_at_kernel(status, healths, now);
	is = status->kernel;
	pthread_mutex_unlock(&status->lock);
	log_omission(&was, &is, "[kernel]");
}

/* The one that does not answer: it was asked, or the reader waits for it. The lock is held. */
static enum reason hanging(const struct reader_status *status)
{
	uint32_t daemon = called(status);

	if (status->hangs != REASON_NONE)
		return status->hangs;
	if (daemon == DAEMON_NONE || waited(status) < HUNG_NS)
		return REASON_NONE;
	if (daemon == DAEMON_RELAY)
		return REASON_RELAY_HANGS;
	return status->daemons_well ? REASON_SESSION_DAEMON_WAITS : REASON_SESSION_DAEMON_HANGS;
}

static const char *name_of(enum reason hangs)
{
	if (hangs == REASON_CONSUMER_HANGS)
		return "lttng-consumerd";
	return hangs == REASON_RELAY_HANGS ? "lttng-relayd" : "lttng-sessiond";
}

void reader_status_watch(struct reader_status *status, int64_t busy)
{
	enum reason hangs;
	bool lasts;

	pthread_mutex_lock(&status->lock);
	status->busy = busy;
	hangs = hanging(status);
	lasts = status->hangs != REASON_NONE ? clock_monotonic() - status->hangs_since >= LASTING_NS - HUNG_NS
					     : waited(status) >= LASTING_NS;
	pthread_mutex_unlock(&status->lock);
	lasts &= hangs != REASON_NONE;
	if (lasts && !status->hang_logged)
		log_warning("not collecting: %s has not answered for %d s%s; the agent keeps trying",
			name_of(hangs), (int)(LASTING_NS / NS_PER_SECOND),
			hangs == REASON_SESSION_DAEMON_WAITS
				? ", as it waits for programs that are stopped (`blkin status` names them)"
				: "");
	status->hang_logged = lasts;
}

static void show_hang(struct supervisor_state *copy, enum reason hangs)
{
	copy->collecting = false;
	copy->reason = hangs;
	if (hangs == REASON_CONSUMER_HANGS)
		snprintf(copy->error, sizeof(copy->error),
			"lttng-consumerd is stopped or hangs: it has not answered for more than %d s, and "
			"passes "
			"on nothing of what programs record",
			(int)(HUNG_NS / NS_PER_SECOND));
	else if (hangs == REASON_SESSION_DAEMON_WAITS)
		snprintf(copy->error, sizeof(copy->error),
			"lttng-sessiond waits for programs that do not answer, as they are stopped, 5 s for "
			"each: for more than %d s it has not done what it was asked to do",
			(int)(HUNG_NS / NS_PER_SECOND));
	else
		snprintf(copy->error, sizeof(copy->error),
			"%s hangs: it has not answered for more than %d s; if it lasts, restart it",
			name_of(hangs), (int)(HUNG_NS / NS_PER_SECOND));
}

/*
 * The session daemon says only that it failed, and that of LTTng 2.15 not even this: its session goes on, and
 * who reads the relay's files meets none of the daemons. A session daemon that was started again has a moment
 * to start the other one. The lock is held.
 */
static bool consumer_is_gone(const struct reader_status *status)
{
	const struct supervisor_state *state = &status->state;

	if (state->collecting)
		return status->consumer_ended && clock_monotonic() - status->consumer_ended >= HUNG_NS;
	return status->consumer_gone && state->reason == REASON_LTTNG_FAILED;
}

static void show_consumer_gone(struct supervisor_state *copy)
{
	copy->collecting = false;
	copy->reason = REASON_CONSUMER_GONE;
	snprintf(copy->error, sizeof(copy->error),
		"lttng-consumerd has ended, and lttng-sessiond starts no other: nothing can be recorded "
		"until it "
		"is restarted");
}

/* Then what is left of a consumer daemon is of no interest. */
static bool is_without_kernel(const struct supervisor_state *state)
{
	enum reason reason = state->omissions.kernel.reason;

	return reason == REASON_KERNEL_MISSING || reason == REASON_KERNEL_DENIED;
}

void reader_status_read(struct reader_status *status, struct supervisor_state *copy)
{
	enum reason hangs;
	bool gone;

	pthread_mutex_lock(&status->lock);
	*copy = status->state;
	if (status->kernel.reason != REASON_NONE && !is_without_kernel(copy))
		copy->omissions.kernel = status->kernel;
	hangs = hanging(status);
	gone = consumer_is_gone(status);
	pthread_mutex_unlock(&status->lock);
	if (hangs != REASON_NONE)
		show_hang(copy, hangs);
	else if (gone)
		show_consumer_gone(copy);
}
