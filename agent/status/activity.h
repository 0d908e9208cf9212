/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a look at one moment does not show: when the last event came, how many programs are registered, which
 * wait for that, and which spools are on disk. Looked at once a second, and every ten seconds, and when
 * somebody asks, in the loop; the disk in a thread of its own, as it may hang.
 */
#ifndef STATUS_ACTIVITY_H
#define STATUS_ACTIVITY_H

#include <stdint.h>

#include <event2/event.h>
#include <glib.h>

#include "base/clock.h"
#include "config/config.h"
#include "session/sharedmemory.h"
#include "supervise/supervisor.h"

struct activity;

/* A session that is lost, or stopped or changed by somebody, so often within so long, comes and goes. */
#define ACTIVITY_LOSSES 3
#define ACTIVITY_LOSSES_NS (60 * NS_PER_SECOND)

struct activity_state {
	int64_t sessions_lost[ACTIVITY_LOSSES]; /* when the last ones were, the latest first, CLOCK_MONOTONIC
						   ns, to a second; 0: not so many */
	int64_t last_event;                     /* CLOCK_MONOTONIC ns, to a second; 0: none yet */
	double rate;            /* spans a second that come, of the last seconds; below 0: not known yet */
	int64_t programs_since; /* the latest of the programs came, CLOCK_MONOTONIC ns, to ten seconds; 0:
				   none */
	int programs;           /* registered with the session daemon, with blkin or without; -1: not known */
	int registering;        /* connections of programs that wait to be; -1: not known */
	int64_t registering_since;  /* the first of them does, CLOCK_MONOTONIC ns, to a second; 0: none */
	struct sharedmemory memory; /* to a second */
	const GPtrArray *spools; /* of spoollist.h; NULL: not known; borrowed until the next activity_read */
};

/* @config is borrowed. */
struct activity *activity_create(struct event_base *base, const struct config *config);

/* From now on the canary of @supervisor, borrowed, is not one of the programs. */
void activity_set_supervisor(struct activity *activity, struct supervisor *supervisor);

/* How many were registered at the last look; -1: not known. */
int activity_programs(const struct activity *activity);

/* Looks anew, but for the disk. */
void activity_read(struct activity *activity, struct activity_state *state);

void activity_destroy(struct activity *activity);

#endif
