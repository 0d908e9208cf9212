/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The supervisor: a thread that keeps a reader at work, a process of its own which keeps a session alive and
 * reads it (reader/), and that passes on to the outputs and the checkpoint what the reader hands over.
 *
 * The reader may crash, hang or eat memory on what traced programs write: then it is ended, and another one
 * reads on from the newest position in the checkpoint. It is not trusted: what it sends is checked.
 */
#ifndef SUPERVISE_SUPERVISOR_H
#define SUPERVISE_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/reason.h"
#include "output/checkpoint.h"
#include "queue/fanout.h"
#include "stats/statistics.h"
#include "supervise/canary.h"
#include "supervise/flight.h"
#include "supervise/subscribers.h"

struct supervisor;

/* What it works with; all borrowed. */
struct supervisor_options {
	const struct config *config; /* for this call */
	struct fanout *fanout;       /* the thread's own until supervisor_destroy, as is @checkpoint,
					but for checkpoint_write */
	struct checkpoint *checkpoint;
	struct namer *namer;   /* the reader's, of the statistics */
	struct traces *traces; /* its spans go through them; NULL: none are kept */
	struct subscribers *subscribers;
	/* Called in the thread when nothing more will be read. Either everything that was read is in the
	 * queues and the session is over, or the session is kept, together with the spans in assembly. */
	void (*done)(void *data);
	void *data;
};

/* Starts the thread; NULL, and it is logged, if it cannot be had. */
struct supervisor *supervisor_create(const struct supervisor_options *options);

/* Whether the session outlives the agent: the configuration wants it, and the checkpoint lasts. */
bool supervisor_keeps(const struct supervisor *supervisor);

/*
 * Asks it to end, within @timeout_ns: at once if the session is kept; else recording stops, and what was
 * recorded is read. Returns at once.
 */
void supervisor_stop(struct supervisor *supervisor, int64_t timeout_ns);

/* Takes the values of @config that can change while it runs. */
void supervisor_configure(struct supervisor *supervisor, const struct config *config);

/* The same of those that a reader has from its start: another one takes over, and nothing is read twice. */
void supervisor_renew(struct supervisor *supervisor, const struct config *config);

/* When its thread was at work last; CLOCK_MONOTONIC ns. */
int64_t supervisor_progress(const struct supervisor *supervisor);

/* When the reader last came back from a call into LTTng or babeltrace2, or from a pause. */
int64_t supervisor_reader_progress(const struct supervisor *supervisor);

/* What it would say is wrong. */
enum reason supervisor_reason(struct supervisor *supervisor);

void supervisor_read_state(struct supervisor *supervisor, struct supervisor_state *state);

void supervisor_read_canary(struct supervisor *supervisor, struct canary_state *state);

void supervisor_read_flight(struct supervisor *supervisor, struct flight_failure *failure);

/* The users whose packets are left out, as they cannot be read: the first @max, and how many they are. */
unsigned supervisor_left_out(struct supervisor *supervisor, uint64_t *users, unsigned max);

/* Whether some of these, or what is not read live, takes more than `reader-memory`. */
bool supervisor_lacks_memory(struct supervisor *supervisor);

/*
 * Ends what it does, whatever that is, writes the checkpoint, for which the queues should be empty, and frees
 * @supervisor.
 */
void supervisor_destroy(struct supervisor *supervisor);

#endif
