/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's state, as far as its threads and the agent share it: whether it is to stop, which call it is
 * in, and, told to the agent, whether it collects and why it does not.
 */
#ifndef READER_RUNSTATE_H
#define READER_RUNSTATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/reason.h"
#include "handover/frames.h"
#include "handover/page.h"

struct agent_link;

struct runstate {
	struct page *page; /* borrowed, as is the link */
	struct agent_link *link;
	int stop;              /* an eventfd, which can be read from when it is to stop on */
	pthread_mutex_t lock;  /* guards what follows */
	int64_t stop_deadline; /* 0: run on */
	bool leaves;           /* another reader takes over */
};

void runstate_init(struct runstate *state, struct page *page, struct agent_link *link);

/* The thread that reads. */

/* Whether it is to stop. To be called often, as it also shows that the thread moves. */
bool runstate_stopping(struct runstate *state);

/* The latest time for it to stop, CLOCK_MONOTONIC ns; 0: it is not to stop. */
int64_t runstate_deadline(struct runstate *state);

/* Whether it stops only because another reader takes over. */
bool runstate_leaves(struct runstate *state);

/* Bytes that are more than half of the outputs' queues: 0 while there is room for more. */
size_t runstate_excess(const struct runstate *state);

/* A call into @daemon, which may hang, begins. It ends with the next of the other functions. */
void runstate_calls(struct runstate *state, enum lttng_daemon daemon);

/* Sleeps, until it is asked to stop, or @fd is readable, unless that is -1. Returns whether it is. */
bool runstate_pause_on(struct runstate *state, int64_t ns, int fd);

/* Sleeps, until it is asked to stop. */
void runstate_pause(struct runstate *state, int64_t ns);

/* From now on the trace of a user is read alone; NULL: not any more. */
void runstate_alone(struct runstate *state, const uint64_t *user);

/* From now on the session is read live, or no longer is. */
void runstate_live(struct runstate *state, bool live);

/* Nothing is collected. */
void runstate_waits(struct runstate *state, enum reason reason, const char *error);

/* @session is read. It is not @new if another run made it, or if it was read all the time. */
void runstate_collects(struct runstate *state, const char *session, bool new);

/* It is read, but something is wrong, which the status shows. */
void runstate_collects_in_part(
	struct runstate *state, const char *session, enum reason reason, const char *error);

/* Other threads. */

void runstate_request_stop(struct runstate *state, int64_t timeout_ns);

/* It is to stop, but the agent is not: another reader, with another configuration, goes on from there. */
void runstate_request_leave(struct runstate *state);

#endif
