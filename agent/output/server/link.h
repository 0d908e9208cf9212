/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link to one server: a connection with pipelined calls in a wire's protocol. A link that has ended is not
 * made again: create another one.
 */
#ifndef OUTPUT_SERVER_LINK_H
#define OUTPUT_SERVER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "net/connection.h"
#include "net/wire.h"

struct link;

struct link_options {
	struct connection_options connection;
	uint32_t window;     /* calls open at once, at most */
	int64_t patience_ns; /* so long the end of an answer is waited for that has begun */
};

/*
 * Called from the loop, never from within link_create or link_send; up, down and idle may destroy the link,
 * answered may not.
 */
struct link_handler {
	void (*up)(void *data);
	/* A call was answered: its @cargo; @reply's words, waiting time, and whether it has no end. GOOD,
	 * REFUSED or PUT_OFF. */
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

/* Whether it is up and accepts one more call; @window may reduce the window. */
bool link_has_room(const struct link *link, uint32_t window);

/* The number of open calls. */
uint32_t link_open(const struct link *link);

/* The cargo of the oldest open call; NULL if none is open. */
void *link_oldest(const struct link *link);

/* Sends a run, which is not needed afterwards; @cargo is passed back with the answer. Returns the size. */
size_t link_send(struct link *link, const struct run *run, void *cargo);

/*
 * Takes what came as all that comes, as a server may not end an answer that ends with the connection. Returns
 * whether this was an answer, or none that can be; then the link is down, as its handler was told.
 */
bool link_take_rest(struct link *link);

/*
 * Ends the youngest open call, when the link is given up. Returns its cargo, and in @whole whether it was
 * sent completely, so that it may have arrived. NULL if none is open.
 */
void *link_take_back(struct link *link, bool *whole);

/* Where it leads, once up. */
void link_reached(const struct link *link, struct reached *reached);

/* Who is told from here on. */
void link_set_handler(struct link *link, const struct link_handler *handler);

void link_destroy(struct link *link);

#endif
