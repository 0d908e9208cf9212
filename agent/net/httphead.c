/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httphead.h"

#include <string.h>

#include <glib.h>

struct slice {
	const char *at;
	size_t size;
};

static int refuse(struct httphead *head, int status, const char *why)
{
	head->why = why;
	return status;
}

static bool is(struct slice text, const char *word)
{
	return strlen(word) == text.size && g_ascii_strncasecmp(text.at, word, text.size) == 0;
}

static struct slice strip(struct slice text)
{
	while (text.size && strchr(" \t", text.at[0])) {
		text.at++;
		text.size--;
	}
	while (text.size && strchr(" \t", text.at[text.size - 1]))
		text.size--;
	return text;
}

/* What is before the character, or all; @rest becomes what is behind it. */
static struct slice cut(struct slice text, char at, struct slice *rest)
{
	const char *found = text.size ? memchr(text.at, at, text.size) : NULL;
	size_t size = found ? (size_t)(found - text.at) : text.size;

	*rest = found ? (struct slice){found + 1, text.size - size - 1} : (struct slice){text.at + size, 0};
	return (struct slice){text.at, size};
}

/* A token of RFC 9110. */
static bool is_token(struct slice text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!g_ascii_isalnum(text.at[i]) && (!text.at[i] || !strchr("!#$%&'*+-.^_`|~", text.at[i])))
			return false;
	return text.size;
}

/* No control characters: a lone CR or LF ends a line for some, and a NUL all. */
static bool is_text(struct slice text)
{
	for (size_t i = 0; i < text.size; i++)
		if (((unsigned char)text.at[i] < ' ' && text.at[i] != '\t') || text.at[i] == 0x7f)
			return false;
	return true;
}

/* The first line */

/* What is too long is cut, and then is none that is known: those are all shorter. */
static void copy(char *to, size_t room, struct slice text)
{
	size_t size = MIN(text.size, room - 1);

	memcpy(to, text.at, size);
	to[size] = '\0';
}

/* A proxy's way to say it has the server in front. */
static struct slice without_server(struct slice target)
{
	static const char *const schemes[] = {"http://", "https://"};
	static const struct slice root = {"/", 1};

	for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++) {
		size_t size = strlen(schemes[i]);
		const char *path;

		if (target.size < size || g_ascii_strncasecmp(target.at, schemes[i], size) != 0)
			continue;
		path = memchr(target.at + size, '/', target.size - size);
		if (!path)
			return root;
		return (struct slice){path, target.size - (size_t)(path - target.at)};
	}
	return target;
}

static int take_version(struct httphead *head, struct slice version)
{
	const char *at = version.at;

	if (version.size != 8 || memcmp(at, "HTTP/", 5) != 0 || !g_ascii_isdigit(at[5]) || at[6] != '.' ||
		!g_ascii_isdigit(at[7]))
		return refuse(head, 400, "it does not speak HTTP");
	head->minor = at[7] > '0';
	if (at[5] == '1')
		return 0;
	return refuse(head, 505,
		!strcmp(head->method, "PRI")
			? "it speaks HTTP/2, as gRPC does, for which OTLP has another port (4317)"
			: "it speaks another version of HTTP than 1");
}

static int take_first(struct httphead *head, struct slice line)
{
	struct slice method, target, query, version;

	head->begun = true;
	method = cut(line, ' ', &line);
	target = cut(line, ' ', &version);
	if (!is_token(method) || !target.size || !is_text(target) || memchr(target.at, '\t', target.size))
		return refuse(head, 400, "it does not speak HTTP");
	if (method.size >= sizeof(head->method))
		return refuse(head, 501, "its method is none that is known");
	copy(head->method, sizeof(head->method), method);
	copy(head->path, sizeof(head->path), without_server(cut(target, '?', &query)));
	return take_version(head, version);
}

/* Headers: each returns 0, or the status of a refusal. */

static int take_length(struct httphead *head, struct slice value)
{
	head->length = 0;
	for (size_t i = 0; i < value.size; i++) {
		if (!g_ascii_isdigit(value.at[i]) || head->length > (UINT64_MAX - 9) / 10)
			return refuse(head, 400, "its Content-Length is no number");
		head->length = head->length * 10 + (uint64_t)(value.at[i] - '0');
	}
	head->has_length = true;
	return value.size ? 0 : refuse(head, 400, "its Content-Length is no number");
}

static int take_transfer(struct httphead *head, struct slice value)
{
	head->chunked = true;
	return is(value, "chunked") ? 0
				    : refuse(head, 501, "its Transfer-Encoding is another one than chunked");
}

static int take_connection(struct httphead *head, struct slice value)
{
	while (value.size) {
		struct slice word = strip(cut(value, ',', &value));

		head->asks_close |= is(word, "close");
		head->asks_keep |= is(word, "keep-alive");
	}
	return 0;
}

static int take_expect(struct httphead *head, struct slice value)
{
	head->expects = is(value, "100-continue");
	return head->expects ? 0 : refuse(head, 417, "it expects something else than 100-continue");
}

static void take_word(char *to, size_t room, struct slice value)
{
	struct slice parameters;

	copy(to, room, strip(cut(value, ';', &parameters)));
	for (; *to; to++)
		*to = g_ascii_tolower(*to);
}

static int take_type(struct httphead *head, struct slice value)
{
	take_word(head->type, sizeof(head->type), value);
	return 0;
}

static int take_encoding(struct httphead *head, struct slice value)
{
	take_word(head->encoding, sizeof(head->encoding), value);
	return 0;
}

/* Other than what agents say, it means nothing. */
static int take_via(struct httphead *head, struct slice value)
{
	while (value.size && head->via_count < HTTPHEAD_VIA_MAX) {
		struct slice word = strip(cut(value, ',', &value));
		uint64_t number = 0;

		for (size_t i = 0; i < word.size && number <= UINT64_MAX >> 4; i++)
			number = number << 4 | (uint64_t)MAX(g_ascii_xdigit_value(word.at[i]), 0);
		head->via[head->via_count] = number;
		head->via_count += number != 0;
	}
	return 0;
}

static int take_host(struct httphead *head, struct slice value)
{
	(void)head;
	(void)value;
	return 0;
}

#define HOST 0

static const struct {
	const char *name;
	int (*take)(struct httphead *head, struct slice value);
	bool often; /* it may come more than once */
} headers[] = {
	[HOST] = {"host", take_host},
	{"content-length", take_length},
	{"transfer-encoding", take_transfer},
	{"connection", take_connection, true},
	{"content-type", take_type},
	{"content-encoding", take_encoding},
	{"expect", take_expect},
	{HTTPHEAD_VIA, take_via, true},
};

/* One that is said twice is none, even if it says the same: who is before this server may go by the other. */
static int take_header(struct httphead *head, struct slice line)
{
	struct slice value, name = cut(line, ':', &value);

	for (unsigned i = 0; i < G_N_ELEMENTS(headers); i++) {
		if (!is(name, headers[i].name))
			continue;
		if (head->seen & 1U << i && !headers[i].often)
			return refuse(head, 400, "one of its headers comes twice");
		head->seen |= 1U << i;
		return headers[i].take(head, strip(value));
	}
	return 0;
}

bool httphead_is_header(const char *line, size_t size)
{
	struct slice text = {line, size}, value, name = cut(text, ':', &value);

	return name.size < size && is_token(name) && is_text(value);
}

int httphead_take(struct httphead *head, const char *line, size_t size)
{
	if (!head->begun)
		return take_first(head, (struct slice){line, size});
	if (!httphead_is_header(line, size))
		return refuse(head, 400, "a line of its head is no header");
	return take_header(head, (struct slice){line, size});
}

int httphead_finish(struct httphead *head)
{
	if (head->chunked && head->has_length)
		return refuse(head, 400, "its body has a length, and is in chunks, too");
	if (head->minor == 0 && head->chunked)
		return refuse(head, 400, "it speaks HTTP/1.0, which has no chunks");
	if (head->minor == 1 && !(head->seen & 1U << HOST))
		return refuse(head, 400, "it has no Host");
	head->expects &= head->minor == 1;
	head->close = head->asks_close || (head->minor == 0 && !head->asks_keep);
	head->keep = head->minor == 0 && !head->close;
	return 0;
}
