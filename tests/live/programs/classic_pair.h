/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes that talk over a UNIX socket, for the programs classic_pair_*, which are written as BlkKin's
 * own examples are: a asks b, and sends the trace along within its message.
 */
#ifndef CLASSIC_PAIR_H
#define CLASSIC_PAIR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIR_REQUESTS 10

static inline void pair_die(const char *what)
{
	perror(what);
	exit(1);
}

static inline struct sockaddr_un pair_address(const char *path)
{
	struct sockaddr_un address;

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address.sun_path))
		pair_die("the path is too long");
	memcpy(address.sun_path, path, strlen(path));
	return address;
}

static inline void pair_send(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		pair_die("send");
}

static inline void pair_receive(int fd, void *data, size_t size)
{
	if (recv(fd, data, size, MSG_WAITALL) != (ssize_t)size)
		pair_die("recv");
}

/* What b does for an answer: it takes more than a microsecond, Zipkin's unit. */
static inline void pair_work(void)
{
	struct timespec time = {0, 20000};

	nanosleep(&time, NULL);
}

/* Runs a and b, in two processes, connected by a socket at @path. */
static inline int pair_run(const char *path, void (*a)(int fd), void (*b)(int fd))
{
	struct sockaddr_un address = pair_address(path ? path : "");
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd, status = 1;
	pid_t child;

	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0)
		pair_die(path);
	child = fork();
	if (child < 0)
		pair_die("fork");
	if (child == 0) {
		close(listener);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			pair_die("connect");
		b(fd);
		exit(0);
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		pair_die("accept");
	a(fd);
	close(fd);
	close(listener);
	waitpid(child, &status, 0);
	unlink(path);
	return status == 0 ? 0 : 1;
}

#endif
