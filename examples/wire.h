/* SPDX-License-Identifier: BSD-2-Clause */
/* The examples' connection: TCP over loopback, messages of a fixed size. Nothing in here is about tracing. */
#ifndef WIRE_H
#define WIRE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in wire_address(int port)
{
	struct sockaddr_in address;

	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static inline void wire_die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* Connects to @port; returns the socket. */
static inline int wire_connect(int port)
{
	struct sockaddr_in address = wire_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		wire_die("cannot connect to the server");
	return fd;
}

/* Listens on @port; returns the socket. */
static inline int wire_listen(int port)
{
	struct sockaddr_in address = wire_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
		bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		wire_die("cannot listen");
	return fd;
}

static inline void wire_send(int fd, const void *message, size_t size)
{
	if (send(fd, message, size, MSG_NOSIGNAL) != (ssize_t)size)
		wire_die("cannot send");
}

/* Returns false at the connection's end. */
static inline bool wire_receive(int fd, void *message, size_t size)
{
	return recv(fd, message, size, MSG_WAITALL) == (ssize_t)size;
}

#endif
