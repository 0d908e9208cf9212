/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link to one server: a connection with pipelined calls in a wire's protocol. A link that has ended is not
 * made again: create another one.
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
	uint32_t window; /* the most calls open at once */
};

enum link_end {
	LINK_UNMADE,  /* it could not be established */
	LINK_NOT_TLS, /* TLS failed: one side rejected the other */
	LINK_LOST,    /* by the server, or the network */
	LINK_GARBLED, /* the server's answer is invalid */
	LINK_UNFIT,   /* the server does not accept spans here */
	LINK_OVER     /* the server closed it after its last answer: the next link may follow at once */
};

/*
 * Called from the loop, never by link_create or link_send themselves; down and idle may destroy the link,
 * answered may not.
 */
struct link_handler {
	void (*up)(void *data);
	/*
	 * The call with this @cargo was answered: GOOD, REFUSED or PUT_OFF, with @reply's message and waiting
	 * time.
	 */
	void (*answered)(enum reply_kind kind, const struct reply *reply, void *cargo, void *data);
	/* Everything received was reported. */
	void (*idle)(void *data);
	/* It has ended: only link_take_back and link_destroy may be called. */
	void (*down)(enum link_end end, const char *why, void *data);
	void *data;
};

/* Starts to connect. @wire is borrowed for the link's life. */
struct link *link_create(struct event_base *base, const struct link_options *options, struct wire *wire,
	const struct link_handler *handler);

/* Whether it is up and accepts one more call; @window may reduce the window. */
bool link_has_room(const struct link *link, uint32_t window);

/* The number of open calls. */
uint32_t link_open(const struct link *link);

/* Sends a run, which is not needed afterwards; @cargo is passed back with the answer. Returns the size. */
size_t link_send(struct link *link, const struct run *run, void *cargo);

/*
 * Ends the youngest open call, when the link is given up. Returns its cargo, and in @whole whether it was
 * sent completely, so that it may have arrived. NULL if none is open.
 */
void *link_take_back(struct link *link, bool *whole);

void link_destroy(struct link *link);

#endif
