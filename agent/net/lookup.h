/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses behind a server's name, asked for anew each time, so a name that moves is found where it
 * went. Never blocks, however long the system's name service waits for its servers.
 */
#ifndef NET_LOOKUP_H
#define NET_LOOKUP_H

#include <netdb.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"

struct lookup;

/*
 * Told once, from the loop: the addresses, IPv6 and IPv4 (the callee's until freeaddrinfo), or NULL and @why.
 * It may destroy the look-up.
 */
typedef void lookup_done(struct addrinfo *addresses, const char *why, void *data);

/* Starts to look up the host of @address, a name or digits, for @timeout_ns at most. */
struct lookup *lookup_create(struct event_base *base, const struct address *address, int64_t timeout_ns,
	lookup_done *done, void *data);
void lookup_destroy(struct lookup *lookup);

#endif
