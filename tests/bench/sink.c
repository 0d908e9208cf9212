/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a collector can do: takes Scribe's Log() calls, or HTTP's POST, from any number of
 * connections, answers OK without looking at what is in them, and counts.
 *
 *     sink PORT
 *
 * Prints on SIGTERM: SPANS BYTES, of log entries and the bytes that they took; of HTTP only the bytes of
 * bodies.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/scribe.h"

#define FRAME_SIZE 4
#define NAME_AT 8 /* in the head: length of the call's name, name */
#define SEQID_AT 15
#define COUNT_AT 23

struct sink {
	int listener;
	atomic_uint_fast64_t spans, bytes;
};

struct connection {
	struct sink *sink;
	int fd;
};

static uint32_t get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}

/* Reads @size bytes to @to, or, if that is NULL, to nowhere. */
static bool take(int fd, uint8_t *to, size_t size)
{
	static __thread uint8_t nowhere[256 * 1024];

	while (size) {
		size_t room = to || size < sizeof(nowhere) ? size : sizeof(nowhere);
		ssize_t got = recv(fd, to ? to : nowhere, room, 0);

		if (got <= 0)
			return false;
		if (to)
			to += got;
		size -= (size_t)got;
	}
	return true;
}

static bool answer_ok(int fd, const uint8_t *head)
{
	uint8_t reply[FRAME_SIZE + 23] = {0, 0, 0, 23, 0x80, 1, 0, 2, 0, 0, 0, 3, 'L', 'o', 'g', 0, 0, 0, 0,
		8 /* i32 */, 0, 0, 0, 0, 0, 0 /* OK */, 0 /* end */};

	memcpy(reply + SEQID_AT, head + SEQID_AT, 4);
	return send(fd, reply, sizeof(reply), MSG_NOSIGNAL) == (ssize_t)sizeof(reply);
}

static bool serve_call(struct connection *connection)
{
	static const uint8_t name[] = {0, 0, 0, 3, 'L', 'o', 'g'};
	uint8_t head[SCRIBE_HEAD_SIZE];
	size_t rest;

	if (!take(connection->fd, head, sizeof(head)) || memcmp(head + NAME_AT, name, sizeof(name)) != 0)
		return false;
	rest = get_u32(head) + FRAME_SIZE - sizeof(head);
	if (rest < SCRIBE_TAIL_SIZE || rest > 64 * 1024 * 1024 || !take(connection->fd, NULL, rest))
		return false;
	connection->sink->spans += get_u32(head + COUNT_AT);
	connection->sink->bytes += rest - SCRIBE_TAIL_SIZE;
	return answer_ok(connection->fd, head);
}

/* Returns the size of a request's body, or -1 at the end of the stream. */
static long read_head(FILE *in)
{
	char line[512];
	long size = -1;

	while (fgets(line, sizeof(line), in) && strcmp(line, "\r\n") != 0)
		if (!strncasecmp(line, "Content-Length:", 15))
			size = strtol(line + 15, NULL, 10);
	return size;
}

static bool serve_post(struct connection *connection, FILE *in)
{
	static const char reply[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
	static __thread char nowhere[64 * 1024];
	long size = read_head(in);

	if (size < 0)
		return false;
	connection->sink->bytes += (uint64_t)size;
	while (size > 0) {
		size_t part = (size_t)size < sizeof(nowhere) ? (size_t)size : sizeof(nowhere);

		if (fread(nowhere, part, 1, in) != 1)
			return false;
		size -= (long)part;
	}
	return send(connection->fd, reply, sizeof(reply) - 1, MSG_NOSIGNAL) == sizeof(reply) - 1;
}

/* Frames are smaller than one that begins with 'P' would be. */
static void *serve(void *data)
{
	struct connection *connection = data;
	char first = 0;

	if (recv(connection->fd, &first, 1, MSG_PEEK) == 1 && first == 'P') {
		FILE *in = fdopen(dup(connection->fd), "r");

		while (serve_post(connection, in))
			;
		fclose(in);
	}
	while (first != 'P' && serve_call(connection))
		;
	close(connection->fd);
	free(connection);
	return NULL;
}

static void *accept_all(void *data)
{
	struct sink *sink = data;
	int fd;

	while ((fd = accept(sink->listener, NULL, NULL)) >= 0) {
		struct connection *connection = malloc(sizeof(*connection));
		pthread_t id;

		*connection = (struct connection){sink, fd};
		pthread_create(&id, NULL, serve, connection);
		pthread_detach(id);
	}
	return NULL;
}

static int listen_at(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 16) == 0)
		return fd;
	perror("sink: cannot listen");
	return -1;
}

int main(int argc, char **argv)
{
	struct sink sink = {0};
	sigset_t terminate;
	pthread_t id;
	int got;

	if (argc != 2) {
		fprintf(stderr, "usage: sink PORT\n");
		return 64;
	}
	sink.listener = listen_at((uint16_t)atoi(argv[1]));
	if (sink.listener < 0)
		return 1;
	sigemptyset(&terminate);
	sigaddset(&terminate, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &terminate, NULL);
	pthread_create(&id, NULL, accept_all, &sink);
	sigwait(&terminate, &got);
	printf("%" PRIuFAST64 " %" PRIuFAST64 "\n", sink.spans, sink.bytes);
	return 0;
}
