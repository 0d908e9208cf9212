/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks an HTTP proxy for a tunnel to a server (CONNECT), on a socket that is connected to the proxy. The
 * proxy looks up the server's name. What it answers is untrusted; no more of it is read than its head may
 * have.
 */
#ifndef NET_TUNNEL_H
#define NET_TUNNEL_H

#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"
#include "base/buffer.h"
#include "core/fault.h"

/* A head that is larger is none. */
#define TUNNEL_ANSWER_MAX 16384

struct tunnel;

struct tunnel_options {
	int fd;                       /* remains the caller's */
	const struct address *server; /* used by tunnel_create only, as is the login */
	const struct buffer *login;   /* a header, or nothing */
	int64_t timeout_ns;
};

/* Called once, from the loop. FAULT_NONE: what is written to the socket from here on, the server gets. It may
 * destroy the tunnel. */
typedef void tunnel_done(enum fault fault, const char *why, void *data);

/* NULL if memory is short. */
struct tunnel *tunnel_create(
	struct event_base *base, const struct tunnel_options *options, tunnel_done *done, void *data);
void tunnel_destroy(struct tunnel *tunnel);

#endif
