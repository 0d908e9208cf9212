/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httpreply.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

/* The OpenTelemetry Collector and Jaeger say 400 where 415 is meant. */
static bool is_about_encoding(const struct httpmessage *http)
{
	static const char theirs[] = "unsupported Content-Encoding";
	const size_t size = sizeof(theirs) - 1;

	return (http->status == 415 && *http->accepts) ||
	       (http->status == 400 && http->body_size >= size &&
		       !g_ascii_strncasecmp((const char *)http->body, theirs, size));
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
static bool asks_for_time(const struct httpmessage *http)
{
	return http->wait_ns > 0 || http->status < 500;
}

/*
 * A web page: what a collector never says, and a web server says to anything. Some small collectors call
 * their empty or plain answer HTML, too.
 */
static bool is_page(const struct httpmessage *http)
{
	size_t at = 0;

	if (!http->html || http->status == 204 || http->status >= 300)
		return false;
	while (at < http->body_size && (g_ascii_isspace(http->body[at]) || http->body[at] >= 0x80))
		at++;
	if (http->body_size > 0) /* an UTF-8 mark may be before it */
		return at < http->body_size && http->body[at] == '<';
	return http->has_length ? http->length > 0 : !http->chunked;
}

static enum fault fault_of(const struct httpmessage *http)
{
	if (is_about_encoding(http))
		return FAULT_ENCODING;
	if (is_page(http))
		return FAULT_PAGE;
	switch (http->status) {
	case 407:
		return FAULT_PROXY_LOGIN;
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

/* The words are read in the log, where the output is named, and by those who try it; the caller's. */
static char *advice(const struct reply *reply, bool otlp)
{
	switch (reply->fault) {
	case FAULT_PERMISSION:
		if (reply->sent)
			return g_strdup_printf(
				"; permission denied: it refuses the headers in %.80s (`headers-file`)",
				reply->sent);
		return g_strdup(
			"; permission denied: put a token into a file, and name that in `headers-file`");
	case FAULT_PROXY_LOGIN:
		return g_strdup("; the proxy wants a user and password that it accepts");
	case FAULT_PATH:
		return g_strdup("; is the output's `path` right?");
	case FAULT_PAGE:
		return g_strdup(
			"; it is a web page, so this is not a collector, or the output's `path` is wrong");
	case FAULT_FORMAT:
		return g_strdup_printf(
			"; it does not take spans in this form: see the output's `compression`, and `%s`",
			otlp ? "path" : "format");
	case FAULT_ENCODING:
		return g_strdup(
			"; it does not take them compressed like this: see the output's `compression`");
	default:
		return g_strdup("");
	}
}

static bool begins_with(const uint8_t *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size >= length && !g_ascii_strncasecmp((const char *)text, word, length);
}

static bool is_markup(const struct httpmessage *http, const uint8_t *text, size_t size)
{
	return http->html || begins_with(text, size, "<!doctype html") || begins_with(text, size, "<html");
}

/* The element that begins with the tag at @text, and of which nothing is for people; NULL: there is some. */
static const char *end_of_unread(const uint8_t *text, size_t size)
{
	static const char *const unread[][2] = {
		{"<head", "</head"}, {"<style", "</style"}, {"<script", "</script"}, {"<!--", "-->"}};

	for (size_t i = 0; i < G_N_ELEMENTS(unread); i++)
		if (begins_with(text, size, unread[i][0]))
			return unread[i][1];
	return NULL;
}

/* Of a web page what people read of it: without its tags; what it ends in the middle of is left out. */
static GString *page_words(const uint8_t *text, size_t size)
{
	GString *words = g_string_new(NULL);

	for (size_t at = 0; at < size; at++) {
		const char *end = end_of_unread(text + at, size - at);
		bool tag = text[at] == '<';

		if (!tag && !g_ascii_isspace(text[at])) {
			g_string_append_c(words, (char)text[at]);
			continue;
		}
		while (end && at < size && !begins_with(text + at, size - at, end))
			at++;
		while (tag && at + 1 < size && text[at] != '>')
			at++;
		if (words->len && words->str[words->len - 1] != ' ')
			g_string_append_c(words, ' ');
	}
	g_strchomp(words->str);
	words->len = strlen(words->str);
	return words;
}

void httpreply_say(
	struct reply *reply, const struct httpmessage *http, bool otlp, const uint8_t *text, size_t size)
{
	const bool encoding = reply->fault == FAULT_ENCODING && *http->accepts;
	g_autofree char *advised = advice(reply, otlp);
	GString *page = NULL;
	int used = snprintf(reply->words, sizeof(reply->words), "HTTP status %d%s%s%s%s%s%s%s", http->status,
		*http->reason ? " " : "", http->reason, advised, encoding ? "; it accepts " : "",
		encoding ? http->accepts : "", *http->location ? "; redirected to " : "", http->location);

	if (is_markup(http, text, size)) {
		page = page_words(text, size);
		text = (const uint8_t *)page->str;
		size = page->len;
	}
	size = MIN(size, 200);
	if ((size_t)used + 8 < sizeof(reply->words) && size > 0) {
		used += snprintf(reply->words + used, sizeof(reply->words) - (size_t)used, ": ");
		words_copy(reply->words + used, sizeof(reply->words) - (size_t)used, text, size);
	}
	if (page)
		g_string_free(page, TRUE);
}

enum reply_kind httpreply_parse(
	const uint8_t *data, size_t size, struct reply *reply, struct httpmessage *http)
{
	enum reply_kind kind = httpmessage_read(data, size, reply, http);

	if (kind != REPLY_GOOD) {
		http->status = 0;
		return kind;
	}
	kind = is_about_encoding(http) || is_page(http) ? REPLY_UNFIT : judge(http->status);
	reply->wait_ns = kind == REPLY_PUT_OFF ? http->wait_ns : 0;
	reply->later = kind == REPLY_PUT_OFF && asks_for_time(http);
	if (kind == REPLY_UNFIT)
		reply->fault = fault_of(http);
	return kind;
}

enum reply_kind httpreply_read(const uint8_t *data, size_t size, struct reply *reply)
{
	struct httpmessage http = {0};
	enum reply_kind kind = httpreply_parse(data, size, reply, &http);

	if (http.status && kind != REPLY_GOOD)
		httpreply_say(reply, &http, false, http.body, http.body_size);
	return kind;
}
