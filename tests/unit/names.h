/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name server in the test's loop, which the C library asks: in namespaces of the test's process, as its
 * port is 53 and its address is in /etc/resolv.conf.
 */
#ifndef NAMES_H
#define NAMES_H

#include <netinet/in.h>
#include <stdbool.h>

#include <event2/event.h>

struct names {
	struct evdns_server_port *server;
	int socket;
	/* What it answers; changed by the test. */
	int error;              /* of the name server; 0: none */
	bool deaf;              /* drops questions */
	bool deaf_ipv6;         /* those for IPv6 addresses */
	in_addr_t addresses[4]; /* IPv4, to 0 */
	struct in6_addr *ipv6;  /* NULL: none */
	unsigned int questions; /* for IPv4 addresses */
};

/* Whether the system allows such namespaces. */
bool names_possible(void);

/* Moves this process, which has one thread and no socket yet, into a network of its own, whose only name
 * server is not there yet; this holds for the process's life. */
void names_isolate(void);

void names_open(struct names *names, struct event_base *base, const char *first);
void names_close(struct names *names);

#endif
