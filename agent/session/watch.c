/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/watch.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "session/again.h"
#include "session/flightsession.h"
#include "session/measure.h"
#include "session/session.h"

#define PERIOD_NS (2 * NS_PER_SECOND)
/* The same repair, or that none can be made, is logged no more often than this. */
#define LOG_NS (60 * NS_PER_SECOND)
/* So often the memory of buffers is looked at. */
#define MEASURE_NS (10 * NS_PER_SECOND)
/* When it ends, it waits no longer than this for the daemon, */
#define END_NS (500 * NS_PER_MS)
/* and before a session is stopped, no longer than this. */
#define STOP_NS (2 * NS_PER_SECOND)

struct watch {
	const struct config *config;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows; the atomic ones are read without it */
	pthread_cond_t changed;
	bool end;
	bool watching;
	struct session_identity session;
	atomic_bool gone;
	const char *reported; /* what was logged last, */
	int64_t reported_at;  /* and when */
	bool refused;         /* at the last look LTTng refused a repair, */
	int64_t refused_at;   /* of which this was logged last; CLOCK_MONOTONIC ns; 0: never */
	_Atomic uint64_t level;
	bool at_once;                /* look before the period is over */
	bool anew;                   /* at a session that was made or configured since the last look */
	struct omissions omissions;  /* as of the last looks that found them out, */
	struct asked asked;          /* and when those were */
	atomic_bool news;            /* nobody was told of these */
	struct user_buffers buffers; /* as of the last look of that kind, */
	int64_t measure_next;        /* the next one is not before; CLOCK_MONOTONIC ns */
	atomic_bool measured;        /* nobody was told of it */
	bool looking;                /* the daemon is asked */
	uint64_t snapshot;           /* the number of one that is to be taken; 0: none is, */
	char *snapshot_path;         /* and where */
	struct snapshot_taken taken; /* the last one, */
	atomic_bool snapped;         /* of which nobody was told */
	bool ended;                  /* the thread has nothing more to do */
};

/* Waits for a period, or until there is news; false if it is to end. The lock is held. */
static bool wait_period(struct watch *watch)
{
	struct timespec time = clock_timespec(clock_monotonic() + PERIOD_NS);

	while (!watch->end && !watch->snapshot && !(watch->watching && !watch->gone && watch->at_once) &&
		pthread_cond_timedwait(&watch->changed, &watch->lock, &time) == 0)
		;
	return !watch->end;
}

static void report(struct watch *watch, const char *name, const char *changed)
{
	int64_t now = clock_monotonic();

	ledger_add(SESSIONS_MENDED, 1);
	if (changed == watch->reported && now - watch->reported_at < LOG_NS)
		return;
	watch->reported = changed;
	watch->reported_at = now;
	log_warning("LTTng session `%s`: %s externally, and is restored; what programs logged in between was "
		    "not recorded",
		name, changed);
}

/* A daemon that is about to end refuses one look, and then does not answer, which others find out. */
static void report_refusal(struct watch *watch, const char *name, const char *error)
{
	int64_t now = clock_monotonic();
	bool again = watch->refused;

	watch->refused = *error != '\0';
	if (!again || !*error || (watch->refused_at && now - watch->refused_at < LOG_NS))
		return;
	watch->refused_at = now;
	log_warning("LTTng session `%s` may not record all that it should: %s", name, error);
}

static void note_omissions(struct watch *watch, const struct omissions *omissions, struct anew anew)
{
	int64_t now = clock_monotonic();

	if (!anew.events && !anew.kernel)
		return;
	watch->omissions = *omissions;
	if (anew.events)
		watch->asked.events = now;
	if (anew.kernel)
		watch->asked.kernel = now;
	watch->news = true;
}

/* Looks once; the lock is held, but not while the daemon is asked. */
static void look(struct watch *watch)
{
	struct session_identity session = watch->session;
	struct session_repairs repairs = {.omissions = watch->omissions};
	uint64_t level = watch->level;
	enum session_status status;
	bool all = watch->anew;
	struct anew anew = all ? (struct anew){true, true}
			       : again_due(&watch->omissions, &watch->asked, clock_monotonic());

	watch->at_once = watch->anew = false;
	watch->looking = true;
	pthread_mutex_unlock(&watch->lock);
	status = session_repair(watch->config, &session, level, anew, &repairs);
	pthread_mutex_lock(&watch->lock);
	watch->looking = false;
	pthread_cond_broadcast(&watch->changed);
	if (!watch->watching || session.created != watch->session.created)
		return; /* the session is another one by now */
	if (status == SESSION_NONE)
		watch->gone = true;
	report_refusal(watch, session.name,
		status == SESSION_NONE || status == SESSION_NO_DAEMON ? "" : repairs.error);
	/* a flight recorder that was destroyed may not come back */
	anew.kernel |= repairs.omissions.kernel.reason != watch->omissions.kernel.reason;
	if (status != SESSION_OK)
		watch->anew |= all;
	else
		note_omissions(watch, &repairs.omissions, anew);
	if (status == SESSION_OK && repairs.what)
		report(watch, session.name, repairs.what);
	if (status == SESSION_OK && repairs.level)
		log_info("LTTng session `%s`: `level` has changed", session.name);
	if (status == SESSION_OK && repairs.older)
		log_info("LTTng session `%s`: it is of an older version, and records the events of this one, "
			 "too, from now on",
			session.name);
}

/* The same for the memory that buffers take, less often. */
static void measure(struct watch *watch)
{
	struct session_identity session = watch->session;
	struct user_buffers buffers;
	int64_t now = clock_monotonic();

	if (now < watch->measure_next)
		return;
	watch->measure_next = now + MEASURE_NS;
	pthread_mutex_unlock(&watch->lock);
	measure_buffers(watch->config, &session, &buffers);
	pthread_mutex_lock(&watch->lock);
	if (!watch->watching || session.created != watch->session.created)
		return;
	watch->buffers = buffers;
	watch->measured = true;
}

/* The same for a snapshot. */
static void take_snapshot(struct watch *watch)
{
	g_autofree char *path = g_steal_pointer(&watch->snapshot_path);
	struct snapshot_taken taken = {.number = watch->snapshot};

	watch->snapshot = 0;
	pthread_mutex_unlock(&watch->lock);
	flightsession_record(watch->config, path, taken.error, sizeof(taken.error));
	pthread_mutex_lock(&watch->lock);
	watch->taken = taken;
	watch->snapped = true;
}

static void *run(void *data)
{
	struct watch *watch = data;

	pthread_mutex_lock(&watch->lock);
	while (wait_period(watch)) {
		if (watch->snapshot)
			take_snapshot(watch);
		if (watch->watching && !watch->gone) {
			look(watch);
			if (!watch->gone)
				measure(watch);
		}
	}
	watch->ended = true;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

struct watch *watch_create(const struct config *config)
{
	struct watch *watch = g_new0(struct watch, 1);
	pthread_condattr_t attr;

	watch->config = config;
	watch->level = config->level;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&watch->thread, NULL, run, watch) == 0)
		return watch;
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	g_free(watch);
	return NULL;
}

void watch_set(struct watch *watch, const struct session_identity *session)
{
	pthread_mutex_lock(&watch->lock);
	if (session && watch->watching && !watch->gone && session->created == watch->session.created) {
		pthread_mutex_unlock(&watch->lock);
		return;
	}
	watch->watching = session != NULL;
	watch->gone = false;
	watch->at_once = watch->anew = session != NULL;
	watch->measure_next = 0;
	if (session)
		watch->session = *session;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
}

void watch_stop(struct watch *watch)
{
	struct timespec time = clock_timespec(clock_monotonic() + STOP_NS);

	pthread_mutex_lock(&watch->lock);
	watch->watching = false;
	while (watch->looking && pthread_cond_timedwait(&watch->changed, &watch->lock, &time) == 0)
		;
	pthread_mutex_unlock(&watch->lock);
}

void watch_set_level(struct watch *watch, uint64_t level)
{
	pthread_mutex_lock(&watch->lock);
	watch->level = level;
	watch->at_once = true;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
}

uint64_t watch_level(struct watch *watch)
{
	return watch->level;
}

bool watch_news(struct watch *watch, struct omissions *omissions)
{
	if (!watch->news)
		return false;
	pthread_mutex_lock(&watch->lock);
	watch->news = false;
	*omissions = watch->omissions;
	pthread_mutex_unlock(&watch->lock);
	return true;
}

bool watch_measured(struct watch *watch, struct user_buffers *buffers)
{
	if (!watch->measured)
		return false;
	pthread_mutex_lock(&watch->lock);
	watch->measured = false;
	*buffers = watch->buffers;
	pthread_mutex_unlock(&watch->lock);
	return true;
}

void watch_take_snapshot(struct watch *watch, uint64_t number, const char *path)
{
	pthread_mutex_lock(&watch->lock);
	watch->snapshot = number;
	g_free(watch->snapshot_path);
	watch->snapshot_path = g_strdup(path);
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
}

bool watch_snapshot(struct watch *watch, struct snapshot_taken *taken)
{
	if (!watch->snapped)
		return false;
	pthread_mutex_lock(&watch->lock);
	watch->snapped = false;
	*taken = watch->taken;
	pthread_mutex_unlock(&watch->lock);
	return true;
}

bool watch_gone(struct watch *watch)
{
	return watch->gone;
}

void watch_destroy(struct watch *watch)
{
	struct timespec time = clock_timespec(clock_monotonic() + END_NS);
	bool ended;

	pthread_mutex_lock(&watch->lock);
	watch->end = true;
	watch->watching = false;
	pthread_cond_broadcast(&watch->changed);
	while (!watch->ended && pthread_cond_timedwait(&watch->changed, &watch->lock, &time) == 0)
		;
	ended = watch->ended;
	pthread_mutex_unlock(&watch->lock);
	if (!ended) /* the daemon hangs, and so does the thread: it keeps what it uses */
		return;
	pthread_join(watch->thread, NULL);
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	g_free(watch->snapshot_path);
	g_free(watch);
}
