/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets that listen. */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether what the configuration has as an address is a path, of a socket in the file system. */
static inline bool listen_is_path(const char *address)
{
	return *address == '/';
}

/* A socket that listens at an address, or path, as the configuration has it, and shares its port if @shared;
 * -1 with the reason in @why. */
int listen_at(const char *address, bool shared, char *why, size_t size);

/* Removes what a closed socket leaves behind: of a path, its file. */
void listen_remove(const char *address);

/*
 * Two sockets listen at overlapping addresses, as 127.0.0.1 and 0.0.0.0, only if both agree to share the
 * port. Ours do so while one takes over from the other, and at no other time, as nobody else is to share it.
 */
void listen_share(int fd, bool on);

#endif
