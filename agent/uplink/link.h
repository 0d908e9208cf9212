/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link to one server: a connection, and on it calls in a wire's language, pipelined. It ends once; whoever
 * wants another one creates it.
 */
#ifndef UPLINK_LINK_H
#define UPLINK_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "net/connection.h"
#include "wire/wire.h"

struct link;

struct link_options {
	struct connection_options connection;
	uint32_t window; /* calls open at once, at most */
};

/*
 * Called from the loop, never from within link_create or link_send; down and idle may destroy the link,
 * answered may not.
 */
struct link_handler {
	void (*up)(void *data);
	/* A call was answered: its @cargo; @reply's words and waiting time. GOOD, REFUSED or PUT_OFF. */
	void (*answered)(enum reply_kind kind, const struct reply *reply, void *cargo, void *data);
	/* All that came was told. */
	void (*idle)(void *data);
	/*
	 * It is over: good for link_take_back and link_destroy. FAULT_NONE: the server had enough, after its
	 * last answer, and the next link may follow at once.
	 */
	void (*down)(enum fault fault, const char *why, void *data);
	void *data;
};

/* Starts to connect. @wire is borrowed for the link's life. */
struct link *link_create(struct event_base *base, const struct link_options *options, struct wire *wire,
	const struct link_handler *handler);

/* Whether it is up and takes one more call, of a window that may be made smaller by @window. */
bool link_has_room(const struct link *link, uint32_t window);

/* Calls open. */
uint32_t link_open(const struct link *link);

/* Sends a run, which may go once this returns; @cargo is what the answer comes back with. Returns the bytes.
 */
size_t link_send(struct link *link, const struct run *run, void *cargo);

/*
 * Ends the youngest open call, as the link is given up: returns its cargo, and in @whole whether it went out
 * whole, so that it may have arrived. NULL when none is open.
 */
void *link_take_back(struct link *link, bool *whole);

void link_destroy(struct link *link);

#endif
