/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses behind a server's name, asked for anew each time. Never blocks.
 *
 * Each look-up reads today's /etc/hosts and resolver configuration and has a resolver of its own, so a name
 * that moves is found where it went.
 */
#ifndef NET_LOOKUP_H
#define NET_LOOKUP_H

#include <stdint.h>

#include <event2/event.h>
#include <event2/util.h>

struct lookup;

/*
 * Told once, from the loop: the addresses, IPv6 and IPv4 (the callee's until evutil_freeaddrinfo), or NULL
 * and
 * @why. It may destroy the look-up.
 */
typedef void lookup_done(struct evutil_addrinfo *addresses, const char *why, void *data);

/*
 * Starts to look up @host, a name or an address in digits, for @timeout_ns at most. @resolv_conf names the
 * resolver's configuration; NULL is the system's. @base has to run once more after lookup_destroy.
 */
struct lookup *lookup_create(struct event_base *base, const char *host, uint16_t port, int64_t timeout_ns,
	const char *resolv_conf, lookup_done *done, void *data);
void lookup_destroy(struct lookup *lookup);

#endif
