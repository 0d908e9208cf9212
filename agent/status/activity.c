/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/activity.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "core/ledger.h"
#include "session/registering.h"
#include "session/sessiond.h"
#include "status/spoollook.h"

/* How often programs are counted, and spools looked for. */
#define PROGRAMS_NS (10 * NS_PER_SECOND)
/* Whoever asks again and again does not make it, or the kernel, read the list of sockets each time. */
#define PROGRAMS_MIN_NS (NS_PER_SECOND / 2)

/* The rate is that of so many looks, a second apart. */
#define RATE_LOOKS 5

/* How many spans there were, when. */
struct count {
	int64_t at, spans; /* CLOCK_MONOTONIC ns; 0: none yet */
};

struct activity {
	const struct config *config;
	struct supervisor *supervisor;
	struct event *tick;
	int64_t events;                      /* read when last looked, */
	int64_t lost;                        /* and sessions lost or mended, */
	bool looked;                         /* if it was */
	struct count counts[RATE_LOOKS + 1]; /* a ring, */
	unsigned next;                       /* whose oldest one is this */
	int64_t programs_at, registering_at, spools_at;
	struct registering registering;
	struct spoollook *spools;
	GPtrArray *spools_read; /* what the state refers to */
	struct activity_state state;
};

static void count_programs(struct activity *activity, int64_t now)
{
	int before = activity->state.programs, programs = sessiond_programs(activity->config->tracing_group);
	struct canary_state canary = {0};

	if (activity->supervisor)
		supervisor_read_canary(activity->supervisor, &canary);
	if (programs > 0 && canary.registered)
		programs--;
	if (programs <= 0)
		activity->state.programs_since = 0;
	else if (programs > before || !activity->state.programs_since)
		activity->state.programs_since = now;
	activity->state.programs = programs;
	activity->programs_at = now;
	if (!activity->registering.daemon)
		registering_find(&activity->registering, activity->config->tracing_group, now);
}

static void look_at_registering(struct activity *activity, int64_t now)
{
	if (activity->registering_at && now - activity->registering_at < PROGRAMS_MIN_NS)
		return;
	activity->registering_at = now;
	registering_look(&activity->registering, now);
	activity->state.registering = activity->registering.waiting;
	activity->state.registering_since = registering_since(&activity->registering);
}

/* Those that are lost within a look are one, as are those of the runs before, which come at the first. */
static void look_at_sessions(struct activity *activity, int64_t lost, int64_t now)
{
	int64_t *times = activity->state.sessions_lost;

	if (lost > activity->lost && activity->looked) {
		memmove(times + 1, times, (ACTIVITY_LOSSES - 1) * sizeof(*times));
		times[0] = now;
	}
	activity->lost = lost;
	activity->looked = true;
}

static void look(struct activity *activity, int64_t programs_age)
{
	int64_t now = clock_monotonic();
	struct ledger rows;

	ledger_read(&rows);
	/* at first it has those of earlier runs */
	if (activity->looked && rows.row[EVENTS_READ] != activity->events)
		activity->state.last_event = now;
	activity->events = rows.row[EVENTS_READ];
	look_at_sessions(activity, rows.row[SESSIONS_LOST] + rows.row[SESSIONS_MENDED], now);
	sharedmemory_look(activity->config, &activity->state.memory);
	if (!activity->programs_at || now - activity->programs_at >= programs_age)
		count_programs(activity, now);
	look_at_registering(activity, now);
}

static void look_at_disk(struct activity *activity)
{
	int64_t now = clock_monotonic();

	if (activity->spools_at && now - activity->spools_at < PROGRAMS_NS)
		return;
	spoollook_begin(activity->spools);
	activity->spools_at = now;
}

static void count_spans(struct activity *activity)
{
	struct count *oldest = &activity->counts[activity->next], now = {.at = clock_monotonic()}, first;
	struct ledger rows;

	ledger_read(&rows);
	now.spans = rows.row[SPANS_MADE] + rows.row[SPANS_RECEIVED];
	*oldest = now;
	activity->next = (activity->next + 1) % G_N_ELEMENTS(activity->counts);
	first = activity->counts[activity->next].at ? activity->counts[activity->next] : activity->counts[0];
	if (first.at < now.at)
		activity->state.rate =
			(double)MAX(now.spans - first.spans, 0) * NS_PER_SECOND / (double)(now.at - first.at);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	look(data, PROGRAMS_NS);
	look_at_disk(data);
	count_spans(data);
}

void activity_set_supervisor(struct activity *activity, struct supervisor *supervisor)
{
	activity->supervisor = supervisor;
}

struct activity *activity_create(struct event_base *base, const struct config *config)
{
	struct activity *activity = g_new0(struct activity, 1);
	const struct timeval second = {1, 0};

	activity->config = config;
	activity->state.rate = -1;
	activity->tick = event_new(base, -1, EV_PERSIST, on_tick, activity);
	event_add(activity->tick, &second);
	activity->spools = spoollook_create(config->state_directory);
	look_at_disk(activity);
	return activity;
}

int activity_programs(const struct activity *activity)
{
	return activity->programs_at ? activity->state.programs : -1;
}

void activity_read(struct activity *activity, struct activity_state *state)
{
	look(activity, PROGRAMS_MIN_NS);
	if (activity->spools_read)
		g_ptr_array_unref(activity->spools_read);
	activity->state.spools = activity->spools_read = spoollook_read(activity->spools);
	*state = activity->state;
}

void activity_destroy(struct activity *activity)
{
	event_free(activity->tick);
	if (activity->spools_read)
		g_ptr_array_unref(activity->spools_read);
	spoollook_destroy(activity->spools);
	g_free(activity);
}
