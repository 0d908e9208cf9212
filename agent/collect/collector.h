/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collector: a thread that keeps a session alive and reads it into the pipeline.
 *
 * When LTTng's daemons go away it starts over as soon as they are back (keeper.h).
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "assemble/pipeline.h"
#include "collect/progress.h"
#include "collect/runstate.h"
#include "config/config.h"
#include "queue/fanout.h"

struct collector;

/* What it works with; all borrowed. */
struct collector_options {
	const struct config *config; /* until the process ends: its thread may hang */
	struct pipeline *pipeline;   /* the thread's own until collector_destroy, as is @progress */
	struct fanout *fanout;       /* where the pipeline ends */
	struct progress *progress;
	/* Called in the thread as it ends. Either everything that was read is in the queue and the session is
	 * over, or the session is kept, together with the spans in assembly. */
	void (*done)(void *data);
	void *data;
};

/* Starts the thread; NULL if none can be had. */
struct collector *collector_create(const struct collector_options *options);

/*
 * Asks it to end, within @timeout_ns: at once if the session is kept; else recording stops, and what was
 * recorded is read. Returns at once.
 */
void collector_stop(struct collector *collector, int64_t timeout_ns);

/* Takes the values of @config that can change while it runs: the level, and how long a stop takes. */
void collector_configure(struct collector *collector, const struct config *config);

/*
 * When its thread last came back from a call into LTTng or babeltrace2, or from a pause; CLOCK_MONOTONIC ns.
 * They have no time limit, so this may stand still for as long as a daemon hangs.
 */
int64_t collector_progress(const struct collector *collector);

/* Whether it waits for one of LTTng's daemons, which the status names. Then the agent itself is well. */
bool collector_asks(const struct collector *collector);

void collector_read_state(struct collector *collector, struct collector_state *state);

/*
 * Waits for the thread, which must have been asked to end, writes the checkpoint, for which the queue should
 * be empty, and frees @collector.
 */
void collector_destroy(struct collector *collector);

#endif
