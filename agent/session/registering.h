/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that wait to be registered by LTTng's session daemon, looked at from outside.
 *
 * Its thread for that takes one connection after the other, and waits five seconds for one that says nothing,
 * which anybody may make. The kernel knows who waits: it is asked by netlink, which blocks nobody. It tells
 * of the sockets of this network namespace only; if the daemon's is in another, nothing is known.
 */
#ifndef SESSION_REGISTERING_H
#define SESSION_REGISTERING_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* LTTng lets no more than 64 wait; another one waits in its own call. */
#define REGISTERING_MAX 128

struct registering {
	uint32_t daemon; /* the kernel's number of the daemon's socket for programs; 0: not known */
	int waiting;     /* connections that it has not taken yet; -1: not known */
	uint32_t sockets[REGISTERING_MAX]; /* the programs' ends of them; 0: closed already */
	int64_t since[REGISTERING_MAX];    /* CLOCK_MONOTONIC ns, when each was first seen */
	int64_t ask_next; /* the kernel did not answer, and is not asked for the daemon's socket before */
};

/* Searches for the daemon's socket, as it may be another daemon's by now. */
void registering_find(struct registering *registering, const char *tracing_group, int64_t now);

/* Looks at who waits. It is cheap as long as the daemon's socket is known. */
void registering_look(struct registering *registering, int64_t now);

/* Since when the one waits that waits longest, to the time between two looks; 0: none does. */
int64_t registering_since(const struct registering *registering);

/* The programs' ends of all connections to the daemon, taken or not, of uint32_t; the caller's. */
GArray *registering_connections(const char *tracing_group);

#endif
