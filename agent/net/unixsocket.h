/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets in the file system, for processes of this node. */
#ifndef NET_UNIXSOCKET_H
#define NET_UNIXSOCKET_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether some process listens there, also if this user may not connect to it. */
bool unixsocket_answers(const char *path);

/*
 * Binds a socket that does not block to @path, with that @mode. One that nobody answers on is a dead
 * process's, and is replaced. -1 with errno: EADDRINUSE if somebody does answer.
 */
int unixsocket_bind(const char *path, mode_t mode);

#endif
