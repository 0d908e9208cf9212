/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem, strptime, timegm */

#include "wire/httpreply.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "base/clock.h"
#include "base/sanitize.h"

/* What the status line and the headers say. */
struct head {
	size_t size; /* with the empty line */
	int minor, status;
	bool chunked, has_length, close, keep;
	uint64_t length;
	int64_t wait_ns;
	char reason[64], location[128], accepts[64];
};

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
static bool take_header(struct head *head, const char *name, const char *value)
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
	} else if (!g_ascii_strcasecmp(name, "Connection")) {
		head->close = has_word(value, "close");
		head->keep = has_word(value, "keep-alive");
	} else if (!g_ascii_strcasecmp(name, "Retry-After")) {
		head->wait_ns = read_retry_after(value);
	} else if (!g_ascii_strcasecmp(name, "Location")) {
		words_copy(head->location, sizeof(head->location), (const uint8_t *)value, strlen(value));
	} else if (!g_ascii_strcasecmp(name, "Accept-Encoding")) {
		words_copy(head->accepts, sizeof(head->accepts), (const uint8_t *)value, strlen(value));
	}
	return true;
}

static bool read_status_line(struct head *head, const char *line)
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
static bool read_headers(struct head *head, const uint8_t *text, const uint8_t *end)
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

static enum reply_kind read_head(struct slice in, struct head *head, struct reply *reply)
{
	const uint8_t *end;
	char words[64];

	memset(head, 0, sizeof(*head));
	if (in.size == 0)
		return REPLY_PARTIAL;
	if (memcmp(in.data, "HTTP/", MIN(in.size, 5)) != 0) {
		reply->fault = FAULT_NOT_HTTP;
		if (in.size >= 4 && words_readable(in.data, MIN(in.size, 16))) {
			words_copy(words, sizeof(words), in.data, in.size);
			snprintf(reply->words, sizeof(reply->words),
				"the peer answers \"%s\", which is not HTTP", words);
			return REPLY_GARBAGE;
		}
		return say(reply, "the peer does not speak HTTP");
	}
	end = memmem(in.data, in.size, "\r\n\r\n", 4);
	if (!end)
		return in.size > REPLY_MAX ? say(reply, "the peer's HTTP headers do not end") : REPLY_PARTIAL;
	head->size = (size_t)(end - in.data) + 4;
	if (!read_headers(head, in.data, end))
		return say(reply, "the peer's HTTP headers are malformed");
	return REPLY_GOOD;
}

/* Bodies */

/* Reads a chunk's size line at the front of @in; returns its bytes, 0: more are needed, -1: malformed. */
static int read_chunk_size(struct slice in, uint64_t *size)
{
	const uint8_t *end = memmem(in.data, MIN(in.size, 256), "\r\n", 2);
	int digits = 0;

	if (!end)
		return in.size >= 256 ? -1 : 0;
	*size = 0;
	for (const uint8_t *at = in.data; at < end && g_ascii_isxdigit(*at) && digits < 9; at++, digits++)
		*size = *size * 16 + (uint64_t)g_ascii_xdigit_value((char)*at);
	return digits == 0 || digits > 8 ? -1 : (int)(end - in.data) + 2;
}

/* The lines behind the last chunk, to the empty one. Returns as read_chunk_size. */
static int read_trailer(struct slice in)
{
	size_t used = 0;

	for (;;) {
		const uint8_t *end = memmem(in.data + used, in.size - used, "\r\n", 2);
		size_t line;

		if (!end)
			return in.size - used > REPLY_MAX ? -1 : 0;
		line = (size_t)(end - in.data) - used;
		used += line + 2;
		if (line == 0)
			return (int)used;
	}
}

/* Adds a chunk to the body, as far as there is room. */
static void join(struct slice *body, struct slice chunk, struct httpreply *http)
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
static int64_t read_chunks(struct slice in, struct slice *body, struct httpreply *http)
{
	size_t used = 0;
	uint64_t size;

	for (;;) {
		struct slice rest = {in.data + used, in.size - used};
		int line = read_chunk_size(rest, &size);

		if (line <= 0)
			return line;
		used += (size_t)line;
		rest = (struct slice){in.data + used, in.size - used};
		if (size == 0) {
			int trailer = read_trailer(rest);

			return trailer <= 0 ? trailer : (int64_t)used + trailer;
		}
		if (rest.size < size + 2)
			return 0;
		if (memcmp(rest.data + size, "\r\n", 2) != 0)
			return -1;
		join(body, (struct slice){rest.data, size}, http);
		used += size + 2;
	}
}

/* Finds the body behind the head, and what of @in it takes. One that is too long is not waited for. */
static enum reply_kind read_body(struct slice in, const struct head *head, struct slice *body,
	struct httpreply *http, struct reply *reply)
{
	struct slice rest = {in.data + head->size, in.size - head->size};
	int64_t used = 0;

	if (head->status == 204 || head->status == 304) {
		used = 0;
	} else if (head->chunked) {
		used = read_chunks(rest, body, http);
		if (used < 0)
			return say(reply, "the peer's HTTP body is malformed");
		if (used == 0 && rest.size <= REPLY_MAX)
			return REPLY_PARTIAL;
	} else {
		*body = rest;
		if (!head->has_length || head->length > REPLY_MAX) {
			used = (int64_t)rest.size;
			reply->last = true;
		} else if (rest.size < head->length) {
			return REPLY_PARTIAL;
		} else {
			used = (int64_t)(body->size = head->length);
		}
	}
	reply->last |= head->close || (head->minor == 0 && !head->keep) || (head->chunked && used == 0) ||
		       head->status == 408;
	reply->used = head->size + (size_t)used;
	return REPLY_GOOD;
}

/* What it means */

/* The OpenTelemetry Collector and Jaeger say 400 where 415 is meant. */
static bool is_about_encoding(const struct head *head, struct slice body)
{
	static const char theirs[] = "unsupported Content-Encoding";
	const size_t size = sizeof(theirs) - 1;

	return (head->status == 415 && *head->accepts) ||
	       (head->status == 400 && body.size >= size &&
		       !g_ascii_strncasecmp((const char *)body.data, theirs, size));
}

static enum reply_kind judge(int status)
{
	if (status >= 200 && status < 300)
		return REPLY_GOOD;
	if (status == 400 || status == 413 || status == 422)
		return REPLY_REFUSED;
	if (status == 408 || status == 425 || status == 429 || status >= 500)
		return REPLY_PUT_OFF;
	return REPLY_UNFIT;
}

/* Whether it asks for time; the other bad statuses from 500 on may be the fault of what was posted. */
static bool asks_for_time(const struct head *head)
{
	return head->wait_ns > 0 || head->status < 500;
}

static enum fault fault_of(int status)
{
	switch (status) {
	case 401:
	case 403:
		return FAULT_PERMISSION;
	case 404:
	case 405:
		return FAULT_PATH;
	case 415:
		return FAULT_FORMAT;
	default:
		return FAULT_UNFIT;
	}
}

static const char *advice(enum fault fault)
{
	switch (fault) {
	case FAULT_PERMISSION:
		return "; it wants a permission that we do not have";
	case FAULT_PATH:
		return "; is `path` in [output] right?";
	case FAULT_FORMAT:
		return "; it does not take spans in this form: see `format` and `compression` in [output]";
	case FAULT_ENCODING:
		return "; it does not take them compressed like this: see `compression` in [output]";
	default:
		return "";
	}
}

void httpreply_say(struct reply *reply, const struct httpreply *http, const uint8_t *text, size_t size)
{
	const bool encoding = reply->fault == FAULT_ENCODING && *http->accepts;
	int used = snprintf(reply->words, sizeof(reply->words), "HTTP status %d%s%s%s%s%s%s%s", http->status,
		*http->reason ? " " : "", http->reason, advice(reply->fault), encoding ? "; it accepts " : "",
		encoding ? http->accepts : "", *http->location ? "; redirected to " : "", http->location);

	size = MIN(size, 200);
	if ((size_t)used + 8 >= sizeof(reply->words) || size == 0)
		return;
	used += snprintf(reply->words + used, sizeof(reply->words) - (size_t)used, ": ");
	words_copy(reply->words + used, sizeof(reply->words) - (size_t)used, text, size);
}

static void keep(const struct head *head, struct slice body, struct httpreply *http)
{
	http->status = head->status;
	memcpy(http->reason, head->reason, sizeof(http->reason));
	memcpy(http->location, head->location, sizeof(http->location));
	memcpy(http->accepts, head->accepts, sizeof(http->accepts));
	http->body = body.data;
	http->body_size = body.size;
}

enum reply_kind httpreply_parse(const uint8_t *data, size_t size, struct reply *reply, struct httpreply *http)
{
	struct slice in = {data, size}, body = {0};
	struct head head;
	enum reply_kind kind;
	size_t skipped = 0;
	bool encoding;

	do { /* over what is only said meanwhile, as 100 Continue */
		kind = read_head(in, &head, reply);
		if (kind != REPLY_GOOD)
			return kind;
		if (head.status < 200) {
			skipped += head.size;
			in = (struct slice){in.data + head.size, in.size - head.size};
		}
	} while (head.status < 200 && skipped <= REPLY_MAX);
	if (head.status < 200)
		return say(reply, "the peer does not come to an answer");
	kind = read_body(in, &head, &body, http, reply);
	if (kind != REPLY_GOOD)
		return kind;
	reply->used += skipped;
	encoding = is_about_encoding(&head, body);
	kind = encoding ? REPLY_UNFIT : judge(head.status);
	reply->wait_ns = kind == REPLY_PUT_OFF ? head.wait_ns : 0;
	reply->later = kind == REPLY_PUT_OFF && asks_for_time(&head);
	if (kind == REPLY_UNFIT)
		reply->fault = encoding ? FAULT_ENCODING : fault_of(head.status);
	keep(&head, body, http);
	return kind;
}

enum reply_kind httpreply_read(const uint8_t *data, size_t size, struct reply *reply)
{
	struct httpreply http = {0};
	enum reply_kind kind = httpreply_parse(data, size, reply, &http);

	if (http.status && kind != REPLY_GOOD)
		httpreply_say(reply, &http, http.body, http.body_size);
	return kind;
}
