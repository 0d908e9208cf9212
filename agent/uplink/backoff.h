/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rests of a server between two tries: each for a random time up to a bound that doubles with every one,
 * so that agents that lost the same server do not come back all at once. A server that asks to be left alone
 * is obeyed, within reason.
 */
#ifndef UPLINK_BACKOFF_H
#define UPLINK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

struct rest {
	struct event *timer;
	int64_t min_ns, max_ns;
	int64_t bound; /* of the next one, ns */
	int64_t asked; /* the server asked for time until then, CLOCK_MONOTONIC ns; 0: it did not */
	bool on;
	bool wake_ends; /* it ends with the next spans */
};

/* A rest that is over calls @over with @data, from the loop: to call rest_end. */
void rest_init(struct rest *rest, struct event_base *base, int64_t min_ns, int64_t max_ns,
	event_callback_fn over, void *data);
void rest_free(struct rest *rest);

/* Begins one, of @asked_ns at least, unless that is 0. */
void rest_begin(struct rest *rest, int64_t asked_ns);
void rest_end(struct rest *rest);

/* The server does well: the next rest is short. */
void rest_reset(struct rest *rest);

/* Whether the server asked for time that is not over. */
bool rest_is_asked(const struct rest *rest);

#endif
