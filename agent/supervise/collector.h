/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collector: a thread that keeps a reader at work, a process of its own which keeps a session alive and
 * reads it (reader/), and that passes on to the outputs and the books what the reader hands over.
 *
 * The reader may crash, hang or eat memory on what traced programs write: then it is ended, and another one
 * reads on from the newest place in the books. It is not told apart from a stranger: what it sends is
 * checked.
 */
#ifndef SUPERVISE_COLLECTOR_H
#define SUPERVISE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/reason.h"
#include "output/books.h"
#include "queue/fanout.h"
#include "stats/statistics.h"
#include "supervise/audience.h"
#include "supervise/canary.h"

struct collector;

/* What it works with; all borrowed. */
struct collector_options {
	const struct config *config; /* for this call */
	struct fanout *fanout;       /* the thread's own until collector_destroy, as are @books */
	struct books *books;
	struct statistics *statistics; /* it is what counts */
	struct traces *traces;         /* its spans go through them; NULL: none are kept */
	struct audience *audience;
	/* Called in the thread when nothing more will be read. Either everything that was read is in the
	 * queues and the session is over, or the session is kept, together with the spans in assembly. */
	void (*done)(void *data);
	/* The same when what collector_record asked for by this number is written down; NULL: nobody asks. */
	void (*recorded)(void *data, uint64_t number);
	void *data;
};

/* Starts the thread; NULL, and it is logged, if it cannot be had. */
struct collector *collector_create(const struct collector_options *options);

/* Whether the session outlives the agent: the configuration wants it, and the books last. */
bool collector_keeps(const struct collector *collector);

/*
 * Asks it to end, within @timeout_ns: at once if the session is kept; else recording stops, and what was
 * recorded is read. Returns at once.
 */
void collector_stop(struct collector *collector, int64_t timeout_ns);

/* Asks for the ledger to be written down, as another producer has something to enter. Any thread. */
void collector_record(struct collector *collector, uint64_t number);

/* Takes the values of @config that can change while it runs. */
void collector_configure(struct collector *collector, const struct config *config);

/* The same of those that a reader has from its start: another one takes over, and nothing is read twice. */
void collector_renew(struct collector *collector, const struct config *config);

/* When its thread was at work last; CLOCK_MONOTONIC ns. */
int64_t collector_progress(const struct collector *collector);

/* When the reader last came back from a call into LTTng or babeltrace2, or from a pause. */
int64_t collector_reader_progress(const struct collector *collector);

/* What it would say is wrong. */
enum collector_reason collector_reason(struct collector *collector);

void collector_read_state(struct collector *collector, struct collector_state *state);

void collector_read_canary(struct collector *collector, struct canary_state *state);

/* The users whose packets are left out, as they cannot be read: the first @max, and how many they are. */
unsigned collector_left_out(struct collector *collector, uint64_t *users, unsigned max);

/*
 * Ends what it does, whatever that is, writes the checkpoint, for which the queues should be empty, and frees
 * @collector.
 */
void collector_destroy(struct collector *collector);

#endif
