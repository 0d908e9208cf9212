/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strcasestr, memmem */
#include "ask_agent.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>

#include <glib.h>

#include "base/log.h"
#include "base/sanitize.h"

/* Seconds that the agent has for its answer. */
#define TIMEOUT 5
#define ANSWER_MAX (16 * 1024 * 1024)

static void tell_denied(const char *path)
{
	struct stat file;
	const struct group *group = stat(path, &file) == 0 ? getgrgid(file.st_gid) : NULL;

	if (group)
		log_error("no permission to ask the agent on %s: it answers root and the members of group "
			  "`%s` only",
			path, group->gr_name);
	else
		log_error("no permission to ask the agent on %s: try it as root", path);
}

/* How each kind is started, and started again once it was killed, or hangs. */
static const struct {
	const char *start, *killed, *restart;
} advice[] = {
	[AGENT_ANY] = {"start it (systemctl start blkin-agent; a user's own: " AGENT_PROGRAM
		       " --user), or name another with --config",
		"journalctl -u blkin-agent says why", "systemctl restart blkin-agent"},
	[AGENT_OF_SYSTEM] = {"start it (systemctl start blkin-agent), or use --user for your own",
		"journalctl -u blkin-agent says why", "systemctl restart blkin-agent"},
	[AGENT_OF_USER] = {"start it (" AGENT_PROGRAM " --user)", "start it again: " AGENT_PROGRAM " --user",
		"kill it with SIGKILL, and start it again: " AGENT_PROGRAM " --user"},
};

/* Says why the agent cannot be reached; returns the exit code. */
static int tell_unreachable(const char *path, enum agent_kind kind, int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		log_error("no agent runs on %s: %s", path, advice[kind].start);
		return EX_UNAVAILABLE;
	case ECONNREFUSED:
		log_error("the agent on %s was killed and has not been restarted (%s)", path,
			advice[kind].killed);
		return EX_UNAVAILABLE;
	case EACCES:
	case EPERM:
		tell_denied(path);
		return EXIT_FAILURE;
	case EAGAIN:
		log_error("the agent on %s runs, but does not answer within %d s: it hangs (%s)", path,
			TIMEOUT, advice[kind].restart);
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

/* Reads the answer to its end. Returns 0 or an errno. */
static int ask_rest(int fd, struct buffer *answer)
{
	time_t begin = now();
	ssize_t size;

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

static int ask(int fd, const char *request, struct buffer *answer)
{
	/* The request fits any socket's buffer: it goes out whole or not at all. */
	return send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ? errno : ask_rest(fd, answer);
}

/* Whether the body, to the answer's end, has the length that its head says, if it does. */
static bool is_whole(const char *head, const char *body, const char *end)
{
	const char *length = strcasestr(head, "\r\nContent-Length:");

	return !length || length > body ||
	       strtoull(length + 17, NULL, 10) == (unsigned long long)(end - body);
}

/* Says why the agent gave no answer: in its own words, if it has some. */
static int tell_refused(const char *path, int code, const char *body, const char *end)
{
	char words[400];

	words_copy(words, sizeof(words), (const uint8_t *)body, (size_t)(end - body));
	if (*words && *words != '<')
		log_error("the agent on %s refuses to answer: %s", path, words);
	else if (code == 404 || code == 405 || code == 501)
		log_error("the agent on %s does not know this question: use the `blkin` of its version, or "
			  "restart "
			  "the agent if it was upgraded",
			path);
	else
		log_error("the agent on %s refuses to answer: HTTP status %d", path, code);
	return EXIT_FAILURE;
}

/* Cuts an HTTP answer down to its body; returns the exit code. */
static int take_body(struct buffer *answer, const char *path)
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
	if (!is_whole(text, body, end)) {
		log_error("the answer of the agent on %s broke off: try again", path);
		return EXIT_FAILURE;
	}
	if (code != 200)
		return tell_refused(path, code, body, end);
	answer->size = (size_t)(end - body);
	memmove(answer->data, body, answer->size + 1);
	return EX_OK;
}

/* Of HTTP/1.0, as its answers end with the connection and come in one piece. */
static char *request_for(const char *method, const char *page)
{
	return g_strdup_printf("%s %s HTTP/1.0\r\nHost: localhost\r\n\r\n", method, page);
}

static int exchange(
	const char *path, enum agent_kind kind, const char *method, const char *page, struct buffer *body)
{
	g_autofree char *request = request_for(method, page);
	int fd = connect_to(path), error = fd < 0 ? errno : ask(fd, request, body);

	if (fd >= 0)
		close(fd);
	return error ? tell_unreachable(path, kind, error) : take_body(body, path);
}

int ask_agent(const char *path, enum agent_kind kind, const char *page, struct buffer *body)
{
	return exchange(path, kind, "GET", page, body);
}

int order_agent(const char *path, enum agent_kind kind, const char *page, struct buffer *body)
{
	return exchange(path, kind, "POST", page, body);
}

/* Where the body begins; NULL: the head is not whole yet. */
static const uint8_t *find_body(const struct buffer *answer)
{
	const uint8_t *end = answer->size ? memmem(answer->data, answer->size, "\r\n\r\n", 4) : NULL;

	return end ? end + 4 : NULL;
}

/* Reads the head of an answer, and what comes with it. Returns 0 or an errno. */
static int read_head(int fd, struct buffer *answer)
{
	while (!find_body(answer)) {
		ssize_t size = recv(fd, buffer_reserve(answer, 65536), 65536, 0);

		if (size == 0 || answer->size > ANSWER_MAX)
			return ECONNRESET;
		if (size < 0 && errno != EINTR)
			return errno;
		answer->size += size > 0 ? (size_t)size : 0;
	}
	return 0;
}

int ask_agent_open(
	const char *path, enum agent_kind kind, const char *page, bool quiet, struct buffer *body, int *fd)
{
	g_autofree char *request = request_for("GET", page);
	const uint8_t *begin;
	int error, code = 0;

	body->size = 0;
	*fd = connect_to(path);
	error = *fd < 0 || send(*fd, request, strlen(request), MSG_NOSIGNAL) < 0 ? errno
										 : read_head(*fd, body);
	begin = error ? NULL : find_body(body);
	if (begin)
		sscanf((const char *)body->data, "HTTP/%*d.%*d %d", &code);
	if (begin && code == 200) {
		body->size -= (size_t)(begin - body->data);
		memmove(body->data, begin, body->size);
		return EX_OK;
	}
	if (begin && !quiet) /* the sentence that says why comes to its end with the connection */
		error = ask_rest(*fd, body);
	if (quiet)
		code = EX_UNAVAILABLE;
	else
		code = error ? tell_unreachable(path, kind, error) : take_body(body, path);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return code;
}
