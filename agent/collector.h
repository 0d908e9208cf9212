/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collector: a thread that keeps a session alive and reads it into the line.
 *
 * It creates the session, attaches the reader, starts recording, reads; when session daemon or relay daemon
 * go away it begins anew as soon as they are back. What is wrong is logged once when it begins, and once when
 * it is over.
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "line.h"

struct collector;

struct collector_state {
	bool collecting;
	int64_t since;     /* that it is, or is not; CLOCK_MONOTONIC ns */
	char session[256]; /* the session's name while collecting */
	char error[512];   /* why it is not; "" if it is */
};

/*
 * Starts the thread. From here on @line is its, until collector_destroy. @done is called with @data in that
 * thread when it has ended, having flushed the line. NULL if no thread can be had.
 */
struct collector *collector_create(
	const struct config *config, struct line *line, void (*done)(void *data), void *data);

/* Asks it to end: recording stops, what was recorded is read, up to @timeout_ns. Returns at once. */
void collector_stop(struct collector *collector, int64_t timeout_ns);

/*
 * When its thread last came back from a call into LTTng or babeltrace2, or from a pause; CLOCK_MONOTONIC ns.
 * These know no time-outs, so that this may stand still for as long as a daemon hangs.
 */
int64_t collector_progress(const struct collector *collector);

void collector_read_state(struct collector *collector, struct collector_state *state);

/* Waits for the thread, which must have been asked to end, and frees @collector. */
void collector_destroy(struct collector *collector);

#endif
