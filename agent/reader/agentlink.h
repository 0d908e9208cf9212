/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's end of the channel to the agent: what it has read goes out, what it has to know comes in.
 *
 * The thread that reads sends, and hands over only between two messages. Another thread listens, as the one
 * that reads may hang in LTTng or babeltrace2; when the agent is gone it ends the process at once.
 */
#ifndef READER_AGENTLINK_H
#define READER_AGENTLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handover/frames.h"
#include "handover/ring.h"
#include "reader/assemble/pipeline.h"

struct agent_link;

/* What is asked for. */
struct agent_link_asks {
	/* Appends what was reached by now, in the thread that reads. */
	void (*reached)(void *data, struct buffer *out);
	/* In the thread that listens; the last two not once agent_link_end has returned. */
	void (*stop)(void *data, int64_t timeout_ns);
	void (*leave)(void *data);
	void (*snapshot)(void *data, uint64_t number);
	void (*configure)(void *data, const struct settings *settings);
	void *data;
};

/* Says hello, and waits for the orders, which it borrows from the link. NULL if there are none. */
struct agent_link *agent_link_create(int socket, struct ring *ring, struct orders *orders);

/* From now on it is asked for what it needs; returns false if no thread can be had to listen. */
bool agent_link_open(struct agent_link *link, const struct agent_link_asks *asks);

/* The pipeline's sink */
struct pipeline_sink agent_link_sink(struct agent_link *link);

/* Whether it is time for agent_link_tick; to be asked between messages, often. */
bool agent_link_is_due(const struct agent_link *link);

/* Hands over what the ledger knows and the agent does not; with @moves, which counts what changes of what was
 * reached. The pipeline must have posted all that it has: were the reader killed now, what was reached and
 * the ledger would not agree. */
void agent_link_tick(struct agent_link *link, uint64_t moves);

/* A position, behind everything up to now. */
void agent_link_offer(struct agent_link *link, uint64_t number, const struct buffer *position);

/* What was reached is to be written down, however little that is. */
void agent_link_save(struct agent_link *link);

/* The number of the last position that holds, and what it cost to write it, ns. */
uint64_t agent_link_settled(const struct agent_link *link, int64_t *cost);

void agent_link_report(struct agent_link *link, const struct report *report);
void agent_link_omits(struct agent_link *link, const struct omissions *omissions);
void agent_link_measured(struct agent_link *link, const struct user_buffers *buffers);
void agent_link_snapped(struct agent_link *link, uint64_t number, const char *error);
void agent_link_left_out(struct agent_link *link, const struct unreadable *unreadable);

/* Tells what programs have recorded wrongly, if anything; of each kind at most one case a second, however
 * often it is called. */
void agent_link_misuses(struct agent_link *link, struct misuses *misuses);
void agent_link_well(struct agent_link *link, uint64_t user);

/* Everything was read, or is to be read by the next reader: waits until the agent says that it has delivered
 * what it can. */
void agent_link_end(struct agent_link *link);

/* The last word. */
void agent_link_finish(struct agent_link *link, bool nothing_left);

#endif
