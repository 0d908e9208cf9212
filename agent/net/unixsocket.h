/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets in the file system, for processes of this node. */
#ifndef NET_UNIXSOCKET_H
#define NET_UNIXSOCKET_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether some process listens there, also if this user may not connect to it. */
bool unixsocket_answers(const char *path);

/*
 * Binds a socket that does not block to @path, with that @mode. One that no process has any more is
 * replaced. -1 with errno: EADDRINUSE if some process has it, of whatever type it is.
 */
int unixsocket_bind(const char *path, mode_t mode);

#endif
