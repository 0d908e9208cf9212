/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem, strptime, timegm */

#include "net/httpmessage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "net/httpchunks.h"

struct slice {
	const uint8_t *data;
	size_t size;
};

static enum reply_kind say(struct reply *reply, const char *why)
{
	g_strlcpy(reply->words, why, sizeof(reply->words));
	return REPLY_GARBAGE;
}

/* Headers */

/* Seconds, or a date. */
static int64_t read_retry_after(const char *value)
{
	struct tm date = {0};
	char *end;
	guint64 seconds = g_ascii_strtoull(value, &end, 10);

	if (g_ascii_isdigit(*value) && !*end)
		return (int64_t)MIN(seconds, 86400) * NS_PER_SECOND;
	end = strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &date);
	if (!end || *end)
		return 0;
	return CLAMP((int64_t)timegm(&date) - clock_wall() / NS_PER_SECOND, 0, 86400) * NS_PER_SECOND;
}

/* Whether @word is among the words of a header's list. */
static bool has_word(const char *value, const char *word)
{
	size_t size = strlen(word);

	for (;;) {
		value += strspn(value, ", \t");
		if (!*value)
			return false;
		if (!g_ascii_strncasecmp(value, word, size) && strchr(", \t;", value[size]))
			return true;
		value += strcspn(value, ",");
	}
}

/* Takes one header; returns false if it makes the message unreadable. */
static bool take_header(struct httpmessage *head, const char *name, const char *value)
{
	if (!g_ascii_strcasecmp(name, "Content-Length")) {
		uint64_t length;

		if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &length, NULL) ||
			(head->has_length && length != head->length))
			return false;
		head->has_length = true;
		head->length = length;
	} else if (!g_ascii_strcasecmp(name, "Transfer-Encoding")) {
		head->chunked = has_word(value, "chunked");
	} else if (!g_ascii_strcasecmp(name, "Connection") || !g_ascii_strcasecmp(name, "Proxy-Connection")) {
		head->close |= has_word(value, "close");
		head->keep |= has_word(value, "keep-alive");
	} else if (!g_ascii_strcasecmp(name, "Content-Type")) {
		head->html = has_word(value, "text/html");
	} else if (!g_ascii_strcasecmp(name, "Retry-After")) {
		head->wait_ns = read_retry_after(value);
	} else if (!g_ascii_strcasecmp(name, "Location")) {
		words_copy(head->location, sizeof(head->location), (const uint8_t *)value, strlen(value));
	} else if (!g_ascii_strcasecmp(name, "Accept-Encoding")) {
		words_copy(head->accepts, sizeof(head->accepts), (const uint8_t *)value, strlen(value));
	}
	return true;
}

static bool read_status_line(struct httpmessage *head, const char *line)
{
	int used = 0;

	if (sscanf(line, "HTTP/1.%1d %3d%n", &head->minor, &head->status, &used) != 2 ||
		(line[used] != ' ' && line[used]) || head->status < 100)
		return false;
	line += used;
	line += strspn(line, " ");
	words_copy(head->reason, sizeof(head->reason), (const uint8_t *)line, strlen(line));
	return true;
}

/* Copies the next line of @*text, to @end, without its end, cut to fit; returns false if there is none. */
static bool next_line(const uint8_t **text, const uint8_t *end, char *line, size_t size)
{
	const uint8_t *stop = memmem(*text, (size_t)(end - *text), "\r\n", 2);
	size_t used;

	if (*text >= end)
		return false;
	used = MIN((size_t)((stop ? stop : end) - *text), size - 1);
	memcpy(line, *text, used);
	line[used] = '\0';
	*text = stop ? stop + 2 : end;
	return true;
}

/* Reads the lines to @end. What is too long for one is nothing that we look for. */
static bool read_headers(struct httpmessage *head, const uint8_t *text, const uint8_t *end)
{
	char line[512], *colon;

	if (!next_line(&text, end, line, sizeof(line)) || !read_status_line(head, line))
		return false;
	while (next_line(&text, end, line, sizeof(line))) {
		colon = strchr(line, ':');
		if (!colon || colon == line)
			return false;
		*colon = '\0';
		if (!take_header(head, line, g_strstrip(colon + 1)))
			return false;
	}
	return true;
}

/* A frame that a server of HTTP/2 begins with: its SETTINGS, or GOAWAY. */
static bool is_http2(struct slice in)
{
	static const uint8_t connection[4];
	const uint8_t *at = in.data;

	return in.size >= 9 && at[0] == 0 && at[1] == 0 && (at[3] == 4 || at[3] == 7) &&
	       memcmp(at + 5, connection, sizeof(connection)) == 0;
}

/* What begins in another way than HTTP/1. */
static enum reply_kind say_foreign(struct slice in, struct reply *reply)
{
	char words[64];

	reply->fault = FAULT_NOT_HTTP;
	if (is_http2(in)) {
		reply->fault = FAULT_IS_GRPC;
		return say(reply,
			"the peer speaks HTTP/2 only, as gRPC does: OTLP has port 4317 for gRPC, and "
			"4318 for HTTP");
	}
	if (in.size < 4 || !words_readable(in.data, MIN(in.size, 16)))
		return say(reply, "the peer does not speak HTTP");
	words_copy(words, sizeof(words), in.data, in.size);
	snprintf(reply->words, sizeof(reply->words), "the peer answers \"%s\", which is not HTTP", words);
	return REPLY_GARBAGE;
}

static enum reply_kind read_head(struct slice in, struct httpmessage *head, size_t *size, struct reply *reply)
{
	const uint8_t *end;

	memset(head, 0, offsetof(struct httpmessage, joined));
	if (in.size == 0)
		return REPLY_PARTIAL;
	if (memcmp(in.data, "HTTP/", MIN(in.size, 5)) != 0)
		return say_foreign(in, reply);
	end = memmem(in.data, in.size, "\r\n\r\n", 4);
	if (!end)
		return in.size > REPLY_MAX ? say(reply, "the peer's HTTP headers do not end") : REPLY_PARTIAL;
	*size = (size_t)(end - in.data) + 4;
	if (!read_headers(head, in.data, end))
		return say(reply, "the peer's HTTP headers are malformed");
	return REPLY_GOOD;
}

/* Bodies */

/* Adds a chunk to the body, as far as there is room. */
static void join(struct slice *body, struct slice chunk, struct httpmessage *http)
{
	size_t used = MIN(body->size, sizeof(http->joined)),
	       more = MIN(chunk.size, sizeof(http->joined) - used);

	if (!body->data) {
		*body = chunk;
		return;
	}
	if (body->data != http->joined)
		memcpy(http->joined, body->data, used);
	memcpy(http->joined + used, chunk.data, more);
	*body = (struct slice){http->joined, used + more};
}

/*
 * Walks over the chunks; of several, the beginning is kept as the @body. Returns the bytes of all, 0 if more
 * are needed, -1 if they are malformed.
 */
static int64_t read_chunks(struct slice in, struct slice *body, struct httpmessage *http)
{
	struct httpchunk chunk;
	size_t used = 0;

	for (;;) {
		enum httpchunks found = httpchunks_read(in.data + used, in.size - used, &chunk);

		if (found == HTTPCHUNKS_MORE || found == HTTPCHUNKS_BAD)
			return found == HTTPCHUNKS_MORE ? 0 : -1;
		used += chunk.used;
		if (found == HTTPCHUNKS_END)
			return (int64_t)used;
		join(body, (struct slice){chunk.data, chunk.size}, http);
	}
}

/* Whether the server said that the connection ends with this message. */
static bool closes(const struct httpmessage *head)
{
	return head->close || (head->minor == 0 && !head->keep);
}

/*
 * A body that is not in chunks. One without a length ends with the connection; one that is too long is not
 * waited for.
 */
static enum reply_kind read_plain(
	const struct httpmessage *head, struct slice *body, size_t *used, struct reply *reply)
{
	const bool bounded = head->has_length && head->length <= REPLY_MAX;
	const bool whole = bounded && body->size >= head->length;

	if (!whole && !reply->ended && (bounded || !head->has_length) && body->size <= REPLY_MAX)
		return REPLY_PARTIAL;
	if (whole)
		body->size = head->length;
	reply->last |= !whole;
	reply->unended = body->size > REPLY_MAX;
	*used = body->size;
	return REPLY_GOOD;
}

/* Finds the body, in @rest behind the head, and how much of it is @used. */
static enum reply_kind read_body(
	struct slice rest, struct httpmessage *head, size_t *used, struct reply *reply)
{
	struct slice body = {0};
	enum reply_kind kind = REPLY_GOOD;
	int64_t chunks;

	*used = 0;
	if (head->chunked && head->status != 204 && head->status != 304) {
		chunks = read_chunks(rest, &body, head);
		if (chunks < 0)
			return say(reply, "the peer's HTTP body is malformed");
		if (chunks == 0 && rest.size <= REPLY_MAX && !reply->ended)
			return REPLY_PARTIAL;
		reply->last |= chunks == 0;
		reply->unended = chunks == 0 && rest.size > REPLY_MAX;
		*used = chunks ? (size_t)chunks : rest.size;
	} else if (head->status != 204 && head->status != 304) {
		body = rest;
		kind = read_plain(head, &body, used, reply);
	}
	reply->last |= closes(head) || head->status == 408;
	/* small proxies, as tinyproxy, end each connection without saying so */
	reply->last |= reply->by_proxy && !head->keep;
	head->body = body.data;
	head->body_size = body.size;
	return kind;
}

enum reply_kind httpmessage_read(
	const uint8_t *data, size_t size, struct reply *reply, struct httpmessage *message)
{
	struct slice in = {data, size};
	enum reply_kind kind;
	size_t head, body, skipped = 0;

	do { /* over what is only said meanwhile, as 100 Continue */
		kind = read_head(in, message, &head, reply);
		if (kind != REPLY_GOOD)
			return kind;
		in = (struct slice){in.data + head, in.size - head};
		skipped += head;
	} while (message->status < 200 && skipped <= REPLY_MAX);
	if (message->status < 200)
		return say(reply, "the peer's answer does not end");
	kind = read_body(in, message, &body, reply);
	reply->begun = kind == REPLY_PARTIAL;
	if (kind == REPLY_GOOD)
		reply->used = skipped + body;
	return kind;
}
