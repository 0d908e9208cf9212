/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httpheaders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "net/httphead.h"

/* A larger file is none of headers. */
#define FILE_MAX 16384

/* Returns the file's bytes with a NUL behind them; NULL with errno. It must not be a pipe, which may have no
 * end. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	char *text = g_malloc(FILE_MAX + 1);
	ssize_t size = fd < 0 ? -1 : read(fd, text, FILE_MAX);

	error = errno;
	if (fd >= 0)
		close(fd);
	if (size == FILE_MAX)
		error = EFBIG;
	if (size >= 0 && size < FILE_MAX) {
		text[size] = '\0';
		if (strlen(text) == (size_t)size)
			return text;
		error = EILSEQ;
	}
	g_free(text);
	errno = error;
	return NULL;
}

/* What the agent says by itself. */
static bool is_ours(const char *name)
{
	static const char *const ours[] = {"Host", "User-Agent", "Content-Type", "Content-Length",
		"Content-Encoding", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "TE", "Trailer"};

	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		if (!g_ascii_strcasecmp(name, ours[i]))
			return true;
	return false;
}

/* Takes one line; returns what is wrong with it, or NULL. */
static const char *take_line(char *line, struct buffer *headers)
{
	char *colon;

	g_strstrip(line);
	if (!*line || *line == '#')
		return NULL;
	colon = strchr(line, ':');
	if (!httphead_is_header(line, strlen(line)) || !*g_strstrip(colon + 1))
		return "is not a header: it should be `Name: value`";
	*colon = '\0';
	if (is_ours(line))
		return "has a header that the agent sets by itself";
	buffer_printf(headers, "%s: %s\r\n", line, colon + 1);
	return NULL;
}

/* The message tells the line's number, never its text, which may be a secret. */
bool httpheaders_read(const char *path, struct buffer *headers, char *why, size_t size)
{
	g_autofree char *text = read_file(path);
	char *line = text, *next;
	const char *wrong = NULL;
	unsigned number = 0;

	headers->size = 0;
	if (!text) {
		snprintf(why, size, "the headers in `%s` cannot be read: %s", path, g_strerror(errno));
		return false;
	}
	for (; line && !wrong; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		wrong = take_line(line, headers);
	}
	if (wrong)
		snprintf(why, size, "line %u of `%s` %s", number, path, wrong);
	return !wrong;
}
