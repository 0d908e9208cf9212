/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an output finds out of how much it wants, once a second; the queue's quota then has it.
 *
 * Which share of the traces it keeps with `keep = auto`: what the first of these says that says anything, the
 * administrator's file, the agent that the output delivers to, the budget. And what other agents may send of
 * what they replay.
 *
 * All calls are the main thread's.
 */
#ifndef OUTPUT_SHARING_H
#define OUTPUT_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "config/config.h"
#include "queue/queue.h"

/* What the file says: "1/12.5" is 0.08. By what is configured for it, it may be a link, as where Kubernetes
 * puts it. False, with the reason in @why, of @size bytes, if it says none. */
bool sharing_read_file(const char *path, double *part, char *why, size_t size);

struct sharing;

/* For the queue, a count of which is taken, and the output as configured, which is referred to; with @senders
 * if other agents may send to this one. */
struct sharing *sharing_create(
	struct event_base *base, struct queue *queue, const struct output_config *is, bool senders);
void sharing_configure(struct sharing *sharing, const struct output_config *is, bool senders);
void sharing_destroy(struct sharing *sharing); /* @sharing may be NULL */

enum sharing_by {
	SHARING_OFF /* `keep` is fixed */,
	SHARING_NOBODY,
	SHARING_FILE,
	SHARING_SERVER,
	SHARING_BUDGET
};

struct sharing_state {
	enum sharing_by by;
	double part;     /* of the traces, that is kept: 0 to 1 */
	double kept;     /* spans of these a second, lately */
	char error[256]; /* why the file says nothing now; "": it does, or there is none */
};

void sharing_read_state(const struct sharing *sharing, struct sharing_state *state);

#endif
