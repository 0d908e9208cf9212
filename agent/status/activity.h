/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a look at one moment does not show: when the last event came, and how many programs are registered.
 * Looked at once a second, and every ten seconds, in the loop.
 */
#ifndef STATUS_ACTIVITY_H
#define STATUS_ACTIVITY_H

#include <stdint.h>

#include <event2/event.h>

#include "config/config.h"

struct activity;

struct activity_state {
	int64_t last_event; /* CLOCK_MONOTONIC ns, to a second; 0: none yet */
	int programs;       /* registered with the session daemon, with blkin or without; -1: not known */
};

/* @config is borrowed. */
struct activity *activity_create(struct event_base *base, const struct config *config);

/* Looks anew. */
void activity_read(struct activity *activity, struct activity_state *state);

void activity_destroy(struct activity *activity);

#endif
