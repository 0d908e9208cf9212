/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One TCP connection to a server, from the look-up of its name to its end. Never blocks.
 *
 * A name's addresses are tried in turn, IPv6 and IPv4. A connection ends once and is not made again: who
 * wants another one creates it. libevent writes with writev(): the process has to ignore SIGPIPE.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/buffer.h>
#include <event2/event.h>

struct connection;

/* Called from the loop, never from within connection_create; each may destroy the connection. */
struct connection_handler {
	void (*up)(void *data);
	/* Bytes came; what is not drained stays for the next call. */
	void (*readable)(struct evbuffer *input, void *data);
	/* It is over, and good only for connection_destroy: could not be made, or (@was_up) was lost. */
	void (*down)(bool was_up, const char *why, void *data);
	void *data;
};

/*
 * Starts to connect; @timeout_ns for the look-up, and for each address. @base has to outlive the connection,
 * and to run once more after it where a look-up was under way.
 */
struct connection *connection_create(struct event_base *base, const char *host, uint16_t port,
	int64_t timeout_ns, const struct connection_handler *handler);

/* Closes at once. When it returns, nothing refers to memory that was added to the output by reference. */
void connection_destroy(struct connection *connection);

/* Where to write, once up; borrowed. What it still holds has not been handed to the kernel. */
struct evbuffer *connection_output(struct connection *connection);

#endif
