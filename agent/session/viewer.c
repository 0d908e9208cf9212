/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/viewer.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/position.h"

/* No answer takes longer, unless the relay daemon hangs. */
#define TIMEOUT_S 2
/* More than a node has: an answer that says so is no answer. */
#define SESSIONS_MAX 4096
#define STREAMS_MAX 65536

#define MAJOR 2
#define MINOR 4

enum { CONNECT = 1, LIST_SESSIONS, ATTACH, NEXT_INDEX, CREATE_SESSION = 8 };
enum { COMMANDS = 1 };  /* the kind of connection */
enum { SEEK_LAST = 2 }; /* what is new, rather than from the beginning */
enum { OK = 1 };        /* of an attempt to attach, or to be a viewer */
enum { INDEX_OK = 1, INDEX_RETRY, INDEX_HUP, INDEX_INACTIVE = 5 };

/* Messages as they are sent: numbers are big-endian. */
#define WIRE __attribute__((packed))

struct WIRE head {
	uint64_t size;
	uint32_t command, version;
};

struct WIRE hello {
	uint64_t session;
	uint32_t major, minor, kind;
};

struct WIRE listed_session {
	uint64_t id;
	uint32_t live_timer, clients, streams;
	char host[64], name[255];
};

struct WIRE attach {
	uint64_t session, offset;
	uint32_t seek;
};

struct WIRE attached {
	uint32_t status, streams;
};

struct WIRE listed_stream {
	uint64_t id, trace;
	uint32_t metadata;
	char path[4096], channel[255];
};

struct WIRE index {
	uint64_t offset, packet_size, content_size, begin, end, discarded, stream;
	uint32_t status, flags;
};

/* Connection */

static int connect_to(const struct addrinfo *at)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool take(int fd, void *data, size_t size)
{
	return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

static bool ask(int fd, uint32_t command, const void *data, size_t size)
{
	const struct head head = {.size = htobe64(size), .command = htobe32(command)};

	return send(fd, &head, sizeof(head), MSG_NOSIGNAL | MSG_MORE * (size > 0)) == sizeof(head) &&
	       (!size || send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
}

static bool greet(int fd)
{
	struct hello hello = {.major = htobe32(MAJOR), .minor = htobe32(MINOR), .kind = htobe32(COMMANDS)};
	uint32_t status;

	return ask(fd, CONNECT, &hello, sizeof(hello)) && take(fd, &hello, sizeof(hello)) &&
	       be32toh(hello.major) == MAJOR && ask(fd, CREATE_SESSION, NULL, 0) &&
	       take(fd, &status, sizeof(status)) && be32toh(status) == OK;
}

int viewer_open(const struct config *config)
{
	g_autofree char *port = g_strdup_printf("%" PRIu64, config->relay_live_port);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	int fd = -1;

	if (getaddrinfo(config->relay_host, port, &hints, &list) != 0)
		return -1;
	for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next)
		fd = connect_to(at);
	freeaddrinfo(list);
	if (fd >= 0 && !greet(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Sessions and streams */

bool viewer_find(int fd, const struct session_identity *identity, struct viewer_session *session)
{
	char host[sizeof(identity->host)];
	bool found = false;
	uint32_t count;

	session_host(identity, host, sizeof(host));
	if (!ask(fd, LIST_SESSIONS, NULL, 0) || !take(fd, &count, sizeof(count)) ||
		be32toh(count) > SESSIONS_MAX)
		return false;
	for (uint32_t i = 0; i < be32toh(count); i++) {
		struct listed_session listed;

		if (!take(fd, &listed, sizeof(listed)))
			return false;
		if (strncmp(listed.name, identity->name, sizeof(listed.name)) != 0 ||
			strncmp(listed.host, host, sizeof(listed.host) - 1) != 0)
			continue;
		/* one that has ended may still be listed, in any order; the numbers grow */
		if (found && be64toh(listed.id) < session->id)
			continue;
		session->id = be64toh(listed.id);
		session->streams = be32toh(listed.streams);
		found = true;
	}
	return found;
}

/* The user of "HOST/SESSION-TIME/ust/uid/4321/64-bit". */
static uint64_t user_of(const char *path)
{
	const char *user = strstr(path, "/uid/");

	return user ? strtoull(user + strlen("/uid/"), NULL, 10) : KERNEL_USER;
}

static bool take_stream(int fd, GArray *streams)
{
	struct viewer_stream stream = {0};
	struct listed_stream listed;

	if (!take(fd, &listed, sizeof(listed)))
		return false;
	if (listed.metadata)
		return true;
	listed.path[sizeof(listed.path) - 1] = listed.channel[sizeof(listed.channel) - 1] = '\0';
	stream.id = be64toh(listed.id);
	stream.user = user_of(listed.path);
	g_strlcpy(stream.channel, listed.channel, sizeof(stream.channel));
	g_array_append_val(streams, stream);
	return true;
}

bool viewer_attach(int fd, uint64_t session, GArray *streams)
{
	const struct attach attach = {.session = htobe64(session), .seek = htobe32(SEEK_LAST)};
	struct attached attached;

	if (!ask(fd, ATTACH, &attach, sizeof(attach)) || !take(fd, &attached, sizeof(attached)) ||
		be32toh(attached.status) != OK || be32toh(attached.streams) > STREAMS_MAX)
		return false;
	for (uint32_t i = 0; i < be32toh(attached.streams); i++)
		if (!take_stream(fd, streams))
			return false;
	return true;
}

enum viewer_next viewer_next(int fd, uint64_t stream, uint64_t *time)
{
	const uint64_t id = htobe64(stream);
	struct index index;

	if (!ask(fd, NEXT_INDEX, &id, sizeof(id)) || !take(fd, &index, sizeof(index)))
		return VIEWER_FAILED;
	switch (be32toh(index.status)) {
	case INDEX_OK:
		return VIEWER_PACKET;
	case INDEX_INACTIVE:
		*time = be64toh(index.end);
		return VIEWER_IDLE;
	case INDEX_RETRY:
		return VIEWER_NOTHING;
	case INDEX_HUP:
		return VIEWER_ENDED;
	default:
		return VIEWER_FAILED;
	}
}
