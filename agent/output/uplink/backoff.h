/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits between two tries of a server. Each has a random length up to a limit that doubles each time, so
 * that agents that lost the same server do not all come back at once. If a server asks for a wait, it is
 * granted, up to a limit, and made longer by up to half at random: it tells all agents the same.
 *
 * The longer a server is away, the seldomer it is tried: the limit goes up to a part of that time, as all
 * agents of a cluster ask for it together.
 *
 * A good answer does not shorten the next wait, as an overloaded server gives some too: good service does,
 * when it has lasted as long as the wait, or some seconds, or if it takes one call after the other. Until
 * then the limit goes up too, though not as far: where fresh spans alone are nearly all that a server can
 * take, what it puts off would otherwise keep it busy for ever.
 */
#ifndef OUTPUT_UPLINK_BACKOFF_H
#define OUTPUT_UPLINK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

struct backoff {
	struct event *timer;
	int64_t min_ns, max_ns;
	int64_t bound;  /* limit of the next wait, ns */
	int64_t wait;   /* how long the latest one was, the same */
	int64_t asked;  /* the server asked to wait until then, CLOCK_MONOTONIC ns; 0: it did not */
	int64_t away;   /* the server takes nothing since then; 0: it does */
	int64_t busy;   /* it has not served well since then; 0: it does */
	int64_t good;   /* when the first good answer since the last wait came; 0: none did */
	unsigned calls; /* so many good answers came since */
	bool on;
	bool wake_ends; /* the wait ends when new spans arrive */
};

/* When a wait is over, @over is called with @data, from the loop; it must call backoff_end. */
void backoff_init(struct backoff *backoff, struct event_base *base, event_callback_fn over, void *data);

/* Waits are random from here on between @min_ns and a limit that grows up to @max_ns; the next is short. */
void backoff_set_pace(struct backoff *backoff, int64_t min_ns, int64_t max_ns);

void backoff_free(struct backoff *backoff);

/* Begins a wait, of at least @asked_ns. */
void backoff_begin(struct backoff *backoff, int64_t asked_ns);
void backoff_end(struct backoff *backoff);

/* The server took something at @now, CLOCK_MONOTONIC ns. */
void backoff_good(struct backoff *backoff, int64_t now);

/* It is there: it takes something on a new connection, or there is nothing to send. */
void backoff_connected(struct backoff *backoff);

/* The next wait is short. */
void backoff_reset(struct backoff *backoff);

/* How long a wait is that begins at @now: for backoff_begin. */
int64_t backoff_next(struct backoff *backoff, int64_t asked_ns, int64_t now);

/* Whether the server asked for a wait that is not over. */
bool backoff_is_asked(const struct backoff *backoff);

#endif
