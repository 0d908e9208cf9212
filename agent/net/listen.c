/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "base/address.h"
#include "net/question.h"
#include "net/unixsocket.h"

/* Many may come at once, after a network was away: as many as the kernel lets wait. */
#define BACKLOG SOMAXCONN
/* Whoever is on this node may connect, as at a port of loopback; who may not is for the folder's rights. */
#define SOCKET_MODE 0666

void listen_share(int fd, bool on)
{
	int shared = on;

	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &shared, sizeof(shared));
}

/* A socket that listens; -1 with errno. */
static int listen_on(const struct addrinfo *at, bool shared)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, error;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (shared)
		listen_share(fd, true);
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int listen_at_path(const char *path, char *why, size_t size)
{
	int fd = unixsocket_bind(path, SOCKET_MODE);

	if (fd >= 0 && listen(fd, BACKLOG) == 0)
		return fd;
	snprintf(why, size, "%s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

void listen_remove(const char *address)
{
	if (listen_is_path(address))
		unlink(address);
}

/* A numeric address needs no name service. */
static struct addrinfo *addresses_of(const struct address *at, int64_t patience_ns, char *why, size_t size)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	char number[8];

	snprintf(number, sizeof(number), "%u", at->port);
	if (getaddrinfo(at->host, number, &hints, &list) == 0)
		return list;
	/* of a name, only what this node has */
	return question_wait(at->host, number, AI_ADDRCONFIG, patience_ns, why, size);
}

int listen_at(const char *address, bool shared, int64_t patience_ns, char *why, size_t size)
{
	struct addrinfo *list;
	struct address at;
	int fd = -1;

	if (listen_is_path(address))
		return listen_at_path(address, why, size);
	if (!address_parse(address, &at)) {
		snprintf(why, size, "it is not ADDRESS:PORT");
		return -1;
	}
	list = addresses_of(&at, patience_ns, why, size);
	if (!list)
		return -1;
	for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next)
		fd = listen_on(one, shared);
	if (fd < 0)
		snprintf(why, size, "%s", g_strerror(errno));
	freeaddrinfo(list);
	return fd;
}
