/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin status`: what the agent says of itself, asked over its control socket. */
#define _GNU_SOURCE /* strcasestr */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "buffer.h"
#include "commands.h"
#include "log.h"
#include "options.h"

#define DEFAULT_SOCKET "/run/blkin/agent.sock"
/* Seconds that the agent has for its answer. */
#define TIMEOUT 5
#define ANSWER_MAX (16 * 1024 * 1024)

static const char help[] = "Usage: blkin status [--json] [--socket PATH]\n"
			   "\n"
			   "Asks the agent of this node how it is doing.\n"
			   "\n"
			   "  --json         as one JSON object\n"
			   "  --socket PATH  the agent's control socket (" DEFAULT_SOCKET ")\n"
			   "\n"
			   "Exits with 69 if no agent answers.\n";

/* Says why the agent cannot be reached; returns the exit code. */
static int tell_unreachable(const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		log_error("no agent answers on %s: is blkin-agent running? (systemctl status blkin-agent)",
			path);
		return EX_UNAVAILABLE;
	case EACCES:
	case EPERM:
		log_error("no permission to ask the agent on %s: try as root, or as a member of the socket's "
			  "group",
			path);
		return EXIT_FAILURE;
	case EAGAIN:
		log_error("the agent on %s does not answer within %d s", path, TIMEOUT);
		return EX_UNAVAILABLE;
	default:
		log_error("cannot ask the agent on %s: %s", path, strerror(error));
		return EXIT_FAILURE;
	}
}

/* Returns a connected socket, or -1 with errno set. */
static int connect_to(const char *path)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error, fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
		connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Sends the request and reads the answer to its end. Returns 0 or an errno. */
static int ask(int fd, const char *request, struct buffer *answer)
{
	time_t begin = now();
	ssize_t size;

	/* The request fits any socket's buffer: it goes out whole or not at all. */
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return errno;
	for (;;) {
		size = recv(fd, buffer_reserve(answer, 65536), 65536, 0);
		if (size == 0)
			return 0;
		if (size < 0 && errno != EINTR)
			return errno;
		if (size > 0)
			answer->size += (size_t)size;
		if (now() - begin > TIMEOUT)
			return EAGAIN;
		if (answer->size > ANSWER_MAX)
			return EMSGSIZE;
	}
}

/* Whether the body, to the answer's end, has the length that its head says, if it does. */
static bool is_whole(const char *head, const char *body, const char *end)
{
	const char *length = strcasestr(head, "\r\nContent-Length:");

	return !length || length > body ||
	       strtoull(length + 17, NULL, 10) == (unsigned long long)(end - body);
}

/* Prints the body of an HTTP answer; returns the exit code. */
static int print_answer(struct buffer *answer, const char *path)
{
	const char *text, *body, *end;
	int major, minor, code;

	buffer_put(answer, "", 1);
	text = (const char *)answer->data;
	end = text + answer->size - 1;
	body = strstr(text, "\r\n\r\n");
	if (!body || sscanf(text, "HTTP/%d.%d %d", &major, &minor, &code) != 3) {
		log_error("what answers on %s is not blkin-agent", path);
		return EXIT_FAILURE;
	}
	body += 4;
	if (code != 200) {
		log_error("the agent on %s refuses to tell: HTTP status %d", path, code);
		return EXIT_FAILURE;
	}
	if (!is_whole(text, body, end)) {
		log_error("the answer of the agent on %s broke off: try again", path);
		return EXIT_FAILURE;
	}
	fwrite(body, 1, (size_t)(end - body), stdout);
	if (end > body && end[-1] != '\n')
		putchar('\n');
	return fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
}

static int status(const char *path, bool json)
{
	/* Of HTTP/1.0, as its answers end with the connection and come in one piece. */
	const char *request = json ? "GET /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n"
				   : "GET /status HTTP/1.0\r\nHost: localhost\r\n\r\n";
	struct buffer answer = {0};
	int fd = connect_to(path);
	int error = fd < 0 ? errno : ask(fd, request, &answer);
	int code = error ? tell_unreachable(path, error) : print_answer(&answer, path);

	if (fd >= 0)
		close(fd);
	buffer_free(&answer);
	return code;
}

int command_status(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"socket", required_argument, NULL, 's'},
		{0},
	};
	const char *path = DEFAULT_SOCKET;
	bool json = false;
	int option;

	log_init("blkin status");
	while ((option = options_next(argc, argv, options, help)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EX_OK;
		if (option == OPTIONS_WRONG)
			return EX_USAGE;
		if (option == 'j')
			json = true;
		if (option == 's')
			path = optarg;
	}
	if (options_no_arguments(argc, argv) == OPTIONS_WRONG)
		return EX_USAGE;
	return status(path, json);
}
