/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's end of the channel to the agent: what it has read goes out, what it has to know comes in.
 *
 * The thread that reads sends, and hands over only between two messages. Another thread listens, as the one
 * that reads may hang in LTTng or babeltrace2; when the agent is gone it ends the process at once.
 */
#ifndef READER_DESK_H
#define READER_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handover/frames.h"
#include "handover/ring.h"
#include "reader/assemble/pipeline.h"

struct desk;

/* What is asked for. */
struct desk_asks {
	/* Appends what was reached by now, in the thread that reads. */
	void (*reached)(void *data, struct buffer *out);
	/* In the thread that listens. */
	void (*stop)(void *data, int64_t timeout_ns);
	void (*leave)(void *data);
	void (*configure)(void *data, const struct settings *settings);
	void *data;
};

/* Says hello, and waits for the orders, which it borrows from the desk. NULL if there are none. */
struct desk *desk_create(int socket, struct ring *ring, struct orders *orders);

/* From now on it is asked for what it needs; returns false if no thread can be had to listen. */
bool desk_open(struct desk *desk, const struct desk_asks *asks);

/* The pipeline's sink */
struct pipeline_sink desk_sink(struct desk *desk);

/* Whether it is time for desk_tick; to be asked between messages, often. */
bool desk_is_due(const struct desk *desk);

/* Hands over what the ledger knows and the agent does not; with @moves, which counts what changes of what was
 * reached. The pipeline must have posted all that it has: were the reader killed now, what was reached and
 * the ledger would not agree. */
void desk_tick(struct desk *desk, uint64_t moves);

/* A place, behind everything up to now. */
void desk_offer(struct desk *desk, uint64_t number, const struct buffer *place);

/* What was reached is to be written down, however little that is. */
void desk_save(struct desk *desk);

/* The number of the last place that holds, and what it cost to write it, ns. */
uint64_t desk_settled(const struct desk *desk, int64_t *cost);

void desk_report(struct desk *desk, const struct report *report);
void desk_omits(struct desk *desk, const struct omissions *omissions);
void desk_measured(struct desk *desk, const struct user_buffers *buffers);
void desk_left_out(struct desk *desk, const struct culprit *culprit);

/* Tells what programs have recorded wrongly, if anything; of each kind at most one case a second, however
 * often it is called. */
void desk_misuses(struct desk *desk, struct misuses *misuses);
void desk_well(struct desk *desk, uint64_t user);

/* Everything was read, or is to be read by the next reader: waits until the agent says that it has delivered
 * what it can. */
void desk_end(struct desk *desk);

/* The last word. */
void desk_finish(struct desk *desk, bool nothing_left);

#endif
