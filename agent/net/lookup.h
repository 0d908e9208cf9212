/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks up the addresses of a server's name, each time again, so that changes are seen. Never blocks, however
 * long the system's name service waits for its servers.
 */
#ifndef NET_LOOKUP_H
#define NET_LOOKUP_H

#include <netdb.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"

struct lookup;

/*
 * Called once, from the loop: with the addresses, IPv6 and IPv4, which the callee frees with freeaddrinfo, or
 * with NULL and @why. It may destroy the look-up.
 */
typedef void lookup_done(struct addrinfo *addresses, const char *why, void *data);

/* Starts to look up the host of @address, a name or a numeric address, for at most @timeout_ns. */
struct lookup *lookup_create(struct event_base *base, const struct address *address, int64_t timeout_ns,
	lookup_done *done, void *data);
void lookup_destroy(struct lookup *lookup);

#endif
