/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "http/request.h"

#include <string.h>

#include <glib.h>

#include "net/httpchunks.h"

#define LINE_END "\r\n"

static bool is(const char *name, const char *wanted)
{
	return g_ascii_strcasecmp(name, wanted) == 0;
}

/* A value without its parameters; false if it is longer than any that is known. */
static bool take_word(char *to, size_t size, const char *value)
{
	g_autofree char *word = g_strndup(value, strcspn(value, ";"));
	g_autofree char *lower = g_ascii_strdown(g_strstrip(word), -1);

	return g_strlcpy(to, lower, size) < size;
}

/* One that is said twice, and differs, is none: who is before this server may go by the other one. */
static bool take_length(struct request *request, const char *value)
{
	uint64_t length;

	if (!g_ascii_string_to_unsigned(value, 10, 0, UINT64_MAX, &length, NULL) ||
		(request->sized && length != request->length))
		return false;
	request->length = length;
	return request->sized = true;
}

static bool take_header(struct request *request, const char *name, const char *value)
{
	if (is(name, "content-length"))
		return take_length(request, value);
	if (is(name, "transfer-encoding"))
		return request->chunked = is(value, "chunked");
	if (is(name, "connection"))
		request->close |= is(value, "close");
	if (is(name, "content-type"))
		return take_word(request->type, sizeof(request->type), value);
	if (is(name, "content-encoding"))
		return take_word(request->encoding, sizeof(request->encoding), value);
	return true;
}

/* METHOD PATH HTTP/1.x */
static bool take_first(struct request *request, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 4);

	if (g_strv_length(words) != 3 || !g_str_has_prefix(words[2], "HTTP/1."))
		return false;
	words[1][strcspn(words[1], "?")] = '\0';
	request->close = is(words[2], "HTTP/1.0");
	return g_strlcpy(request->method, words[0], sizeof(request->method)) < sizeof(request->method) &&
	       g_strlcpy(request->path, words[1], sizeof(request->path)) < sizeof(request->path);
}

static bool take_head(struct request *request, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, LINE_END, -1);

	if (!take_first(request, lines[0]))
		return false;
	for (char **line = lines + 1; *line; line++) {
		char *colon = strchr(*line, ':');

		if (!colon)
			return false;
		*colon = '\0';
		if (!take_header(request, *line, g_strstrip(colon + 1)))
			return false;
	}
	return true;
}

enum request_state request_read(struct request *request, const uint8_t *data, size_t size, size_t *used)
{
	const uint8_t *end = memmem(data, size, LINE_END LINE_END, 4);
	g_autofree char *text = NULL;

	*request = (struct request){0};
	if (!end)
		return size < REQUEST_HEAD_MAX ? REQUEST_MORE : REQUEST_BAD;
	text = g_strndup((const char *)data, (size_t)(end - data));
	if (strlen(text) != (size_t)(end - data) || !take_head(request, text))
		return REQUEST_BAD;
	*used = (size_t)(end - data) + 4;
	return REQUEST_WHOLE;
}

enum request_state request_walk(const uint8_t *data, size_t size, size_t *walked)
{
	struct httpchunk chunk;
	enum httpchunks found;

	do {
		found = httpchunks_read(data + *walked, size - *walked, REQUEST_BODY_MAX, &chunk);
		if (found == HTTPCHUNKS_MORE)
			return size > REQUEST_BODY_MAX ? REQUEST_BAD : REQUEST_MORE;
		if (found == HTTPCHUNKS_BAD)
			return REQUEST_BAD;
		*walked += chunk.used;
	} while (found != HTTPCHUNKS_END);
	return *walked > REQUEST_BODY_MAX ? REQUEST_BAD : REQUEST_WHOLE;
}

void request_join(struct buffer *body, const uint8_t *data, size_t size)
{
	struct httpchunk chunk;

	while (httpchunks_read(data, size, REQUEST_BODY_MAX, &chunk) == HTTPCHUNKS_DATA) {
		buffer_put(body, chunk.data, chunk.size);
		data += chunk.used;
		size -= chunk.used;
	}
}
