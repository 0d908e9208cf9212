/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much HTTP as the servers in C and C++ need: GET without a body, a connection for each request. Nothing
 * in here is about tracing.
 */
#ifndef HTTP_H
#define HTTP_H

#include <strings.h>

#include "../wire.h"

#define HTTP_MAX 4096

/* Reads until @end has come, or the other side has no more, if @end is NULL; false: it is too long, or broken
 * off. */
static inline bool http_read(int fd, char text[HTTP_MAX], const char *end)
{
	size_t size = 0;
	ssize_t got = 1;

	while (got > 0 && size < HTTP_MAX - 1) {
		got = recv(fd, text + size, HTTP_MAX - 1 - size, 0);
		size += got > 0 ? (size_t)got : 0;
		text[size] = '\0';
		if (end && strstr(text, end))
			return true;
	}
	return got == 0 && !end;
}

/* The value of a header, without blanks around it, and its size: 0 if there is none. */
static inline const char *http_header(const char *head, const char *name, size_t *size)
{
	size_t length = strlen(name);
	const char *line = head, *value;

	while ((line = strstr(line, "\r\n"))) {
		line += 2;
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		value = line + length + 1 + strspn(line + length + 1, " \t");
		*size = strcspn(value, "\r\n");
		while (*size && strchr(" \t", value[*size - 1]))
			--*size;
		return value;
	}
	*size = 0;
	return "";
}

/* Of /photos/NUMBER, the number; -1: it is another request. */
static inline int http_photo(const char *head)
{
	int number;

	return sscanf(head, "GET /photos/%d ", &number) == 1 && number >= 0 ? number : -1;
}

static inline void http_answer(int fd, int code, const char *body)
{
	char text[HTTP_MAX];
	int size = snprintf(text, sizeof(text),
		"HTTP/1.1 %d \r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\n%.2048s",
		code, strlen(body), body);

	(void)!send(fd, text, (size_t)size, MSG_NOSIGNAL);
}

/* Asks the server at @port; returns its answer's code, 0 if it has none, and its body in @text. */
static inline int http_get(int port, const char *path, const char *headers, char text[HTTP_MAX])
{
	struct sockaddr_in address = wire_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), code = 0;
	int size = snprintf(text, HTTP_MAX,
		"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%sConnection: close\r\n\r\n", path, headers);
	const char *body;

	if (fd >= 0 && size < HTTP_MAX && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		send(fd, text, (size_t)size, MSG_NOSIGNAL) == size && http_read(fd, text, NULL) &&
		sscanf(text, "HTTP/1.%*c %d", &code) != 1)
		code = 0;
	body = code ? strstr(text, "\r\n\r\n") : NULL;
	if (body)
		memmove(text, body + 4, strlen(body + 4) + 1);
	else
		*text = '\0';
	if (fd >= 0)
		close(fd);
	return code;
}

#endif
