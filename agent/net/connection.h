/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection to a server, over TCP or TLS, also by way of a proxy, from the name look-up to its end.
 * Never blocks.
 *
 * The addresses of a name are tried in turn, IPv6 and IPv4 (ranking.h). A connection that has ended is not
 * made again: create another one. libevent writes with writev(), so the process must ignore SIGPIPE; it must
 * also use libevent's locks.
 */
#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include <stdint.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <openssl/ssl.h>

#include "base/address.h"
#include "core/fault.h"
#include "net/proxy.h"
#include "net/ranking.h"

struct connection;

struct connection_options {
	const struct address *address; /* all borrowed for the connection's life */
	int64_t timeout_ns;            /* for the look-up, and for each address */
	struct tls *tls;               /* NULL: plain TCP */
	/*
	 * NULL: none. With TLS it is asked for a tunnel to @address, whose host is checked as ever. Without,
	 * the connection ends at the proxy: what is sent says where it goes, as proxies allow tunnels to few
	 * ports, and requests to any.
	 */
	const struct proxy *proxy;
	const char *node; /* by whose weights addresses are tried; NULL: as the system has them */
	const struct avoided *avoided; /* of these, used when the name is looked up; NULL: none */
	const struct reached *beside;  /* the same: where a connection leads that this one is to go with */
};

/* Called from the loop, never from within connection_create; each may destroy the connection. */
struct connection_handler {
	void (*up)(void *data);
	/* Bytes came; what is not drained stays for the next call. */
	void (*readable)(struct evbuffer *input, void *data);
	/* It is over, and good only for connection_destroy. FAULT_CLOSED: it was up, and TLS has no
	 * complaint. */
	void (*down)(enum fault fault, const char *why, void *data);
	void *data;
};

/* Starts to connect. @base has to outlive the connection, and to run once more after it. */
struct connection *connection_create(struct event_base *base, const struct connection_options *options,
	const struct connection_handler *handler);

/* Closes at once. When it returns, nothing refers to memory that was added to the output by reference. */
void connection_destroy(struct connection *connection);

/* Where to write, once up; borrowed. What it still holds has not been handed to the kernel. */
struct evbuffer *connection_output(struct connection *connection);

/* Where it leads, once up: to the server, or to the proxy. */
void connection_reached(const struct connection *connection, struct reached *reached);

/* What came and was not drained; the same. It is there until the connection is destroyed. */
struct evbuffer *connection_input(struct connection *connection);

#endif
