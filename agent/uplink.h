/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uplink: takes batches from the queue and delivers them to the collector, at least once.
 *
 * One connection, calls pipelined up to `window`, the oldest with a deadline. A connection that fails gives
 * its open batches back to the queue's front and is made again after an exponential backoff at random;
 * until the server takes spans again it is tried with one call at a time. What is wrong is logged once when
 * it begins, and once when it is over. All in the thread that runs the event_base. The process has to ignore
 * SIGPIPE.
 *
 * Its rooms: connection (the socket), calls (what is open on it), scribe (the bytes), health (log and state).
 */
#ifndef UPLINK_H
#define UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "batch.h"

struct uplink_options {
	const char *server;     /* HOST:PORT, [IPV6]:PORT; borrowed for the uplink's life */
	const char *category;   /* Scribe's; borrowed the same */
	uint32_t window;        /* calls open at once, at most */
	int64_t timeout_ns;     /* to connect, and from one answer to the next */
	int64_t backoff_min_ns; /* a wait is random between this */
	int64_t backoff_max_ns; /* and a bound that grows to this with each failure */
};

struct uplink;

struct uplink_state {
	bool up;            /* connected, and the last answer was good */
	const char *server; /* borrowed from the uplink */
	char error[256];    /* why it is not up; "" if it is */
	uint32_t calls_open;
};

/* Starts connecting; NULL if @options->server cannot be parsed, which the configuration ought to have
 * refused. */
struct uplink *uplink_create(
	struct event_base *base, struct batch_queue *queue, const struct uplink_options *options);

/* Closes the connection, giving open batches back to the queue. */
void uplink_destroy(struct uplink *uplink);

/* There may be new batches: send what the window allows. The loop's thread. */
void uplink_wake(struct uplink *uplink);

/*
 * Calls @done with @data, from the loop and once, when batch_queue_done() holds. A wait that is under way is
 * cut to the shortest, as a stop has no time to sit it out.
 */
void uplink_when_drained(struct uplink *uplink, void (*done)(void *data), void *data);

void uplink_read_state(const struct uplink *uplink, struct uplink_state *state);

/* Splits HOST:PORT; returns false if it is not of that form. @host of at least 256 bytes. */
bool uplink_parse_server(const char *server, char *host, uint16_t *port);

#endif
