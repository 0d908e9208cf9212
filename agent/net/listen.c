/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
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

void listen_stay(struct listen_staying *staying, int fd)
{
	if (fd >= 0)
		staying->fd[staying->count++] = fd;
}

/* Where a socket is bound; of any family. */
union place {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool is_all(const union place *place)
{
	return place->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&place->six.sin6_addr)
						: place->four.sin_addr.s_addr == INADDR_ANY;
}

static bool is_same(const union place *one, const union place *other)
{
	if (one->any.sa_family == AF_INET6)
		return IN6_ARE_ADDR_EQUAL(&one->six.sin6_addr, &other->six.sin6_addr) &&
		       one->six.sin6_scope_id == other->six.sin6_scope_id;
	return one->four.sin_addr.s_addr == other->four.sin_addr.s_addr;
}

/* Whether who connects to @other may come to @place, that of @fd: all of IPv6 has IPv4 in it, mostly. */
static bool includes(int fd, const union place *place, const union place *other)
{
	int six_only = 0;

	if (place->any.sa_family == other->any.sa_family)
		return is_all(place) || is_same(place, other);
	getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &six_only, &(socklen_t){sizeof(six_only)});
	return place->any.sa_family == AF_INET6 && is_all(place) && !six_only;
}

/* @other may be that of a path. */
static bool overlap(int fd, int other)
{
	union place place = {0}, its = {0};

	if (getsockname(fd, &place.any, &(socklen_t){sizeof(place)}) != 0 ||
		getsockname(other, &its.any, &(socklen_t){sizeof(its)}) != 0 || its.any.sa_family == AF_UNIX)
		return false;
	return place.four.sin_port == its.four.sin_port &&
	       (includes(fd, &place, &its) || includes(other, &its, &place));
}

/* The kernel may let us have it all the same: once a socket that was bound shared its port, that counts as
 * shared, whatever the socket says by now. */
static bool is_taken(int fd, const struct listen_staying *staying)
{
	for (size_t i = 0; staying && i < staying->count; i++)
		if (overlap(fd, staying->fd[i])) {
			errno = EADDRINUSE;
			return true;
		}
	return false;
}

/* A socket that listens; -1 with errno. */
static int listen_on(const struct addrinfo *at, const struct listen_staying *staying)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, error;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (staying)
		listen_share(fd, true);
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && !is_taken(fd, staying) && listen(fd, BACKLOG) == 0)
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

int listen_at(const char *address, const struct listen_staying *staying, int64_t patience_ns, char *why,
	size_t size)
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
		fd = listen_on(one, staying);
	if (fd < 0)
		snprintf(why, size, "%s", g_strerror(errno));
	freeaddrinfo(list);
	return fd;
}
