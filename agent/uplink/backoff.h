/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits between two tries of a server. Each has a random length up to a limit that doubles each time, so
 * that agents that lost the same server do not all come back at once. If a server asks for a wait, it is
 * granted, up to a limit.
 */
#ifndef UPLINK_BACKOFF_H
#define UPLINK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

struct rest {
	struct event *timer;
	int64_t min_ns, max_ns;
	int64_t bound; /* limit of the next wait, ns */
	int64_t asked; /* the server asked to wait until then, CLOCK_MONOTONIC ns; 0: it did not */
	bool on;
	bool wake_ends; /* the wait ends when new spans arrive */
};

/* When a wait is over, @over is called with @data, from the loop; it must call rest_end. */
void rest_init(struct rest *rest, struct event_base *base, int64_t min_ns, int64_t max_ns,
	event_callback_fn over, void *data);
void rest_free(struct rest *rest);

/* Begins a wait, of at least @asked_ns. */
void rest_begin(struct rest *rest, int64_t asked_ns);
void rest_end(struct rest *rest);

/* The server works: the next wait is short. */
void rest_reset(struct rest *rest);

/* Whether the server asked for a wait that is not over. */
bool rest_is_asked(const struct rest *rest);

#endif
