/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets that listen. */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Whether what the configuration has as an address is a path, of a socket in the file system. */
static inline bool listen_is_path(const char *address)
{
	return *address == '/';
}

/* How long a name is waited for when it is new, and when it is tried again, which may not hold up a loop. */
#define LISTEN_FIRST_NS (2 * NS_PER_SECOND)
#define LISTEN_AGAIN_NS (50 * NS_PER_MS)

/* Sockets of ours that stay where they are while others move. */
struct listen_staying {
	int fd[8];
	size_t count;
};

/* Adds one of them; -1: there is none. */
void listen_stay(struct listen_staying *staying, int fd);

/*
 * A socket that listens at an address, or path, as the configuration has it; -1 with the reason in @why. It
 * shares its port, but with none of those @staying; NULL: it does not share it at all. If the name service
 * has not answered in @patience_ns, a later try finds its answer.
 */
int listen_at(const char *address, const struct listen_staying *staying, int64_t patience_ns, char *why,
	size_t size);

/* Removes what a closed socket leaves behind: of a path, its file. */
void listen_remove(const char *address);

/*
 * Two sockets listen at overlapping addresses, as 127.0.0.1 and 0.0.0.0, only if both agree to share the
 * port. Ours do so while one takes over from the other, and at no other time, as nobody else is to share it.
 */
void listen_share(int fd, bool on);

#endif
