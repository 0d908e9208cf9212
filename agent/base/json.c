/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include <glib.h>

#include "base/sanitize.h"

static void put_comma(struct buffer *out)
{
	if (out->size && !strchr("{[:\n", out->data[out->size - 1]))
		buffer_put(out, ",", 1);
}

void json_open(struct buffer *out, char bracket)
{
	put_comma(out);
	buffer_put(out, &bracket, 1);
}

void json_close(struct buffer *out, char bracket)
{
	buffer_put(out, &bracket, 1);
}

void json_key(struct buffer *out, const char *key)
{
	json_text(out, key);
	buffer_put(out, ":", 1);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* What does not fit into four digits has two codes. */
static void put_code(struct buffer *out, gunichar c)
{
	if (c < 0x10000)
		buffer_printf(out, "\\u%04x", c);
	else
		buffer_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
}

/*
 * Writes the character at @text, of at most @size bytes, which needs escaping; returns how many bytes it has.
 */
static size_t put_special(struct buffer *out, const char *text, size_t size)
{
	gunichar c =
		(unsigned char)*text < 0x80 ? (gunichar)*text : g_utf8_get_char_validated(text, (gssize)size);
	size_t used = 1;

	if (c == '"' || c == '\\') {
		buffer_printf(out, "\\%c", (char)c);
	} else if (c == '\n') {
		buffer_put(out, "\\n", 2);
	} else if (c == '\t') {
		buffer_put(out, "\\t", 2);
	} else if (c >= (gunichar)-2) {
		buffer_put(out, "\xef\xbf\xbd", 3);
	} else if (words_shown(c) != c) {
		/* some terminals obey those of C1, too */
		used = (size_t)g_unichar_to_utf8(c, NULL);
		put_code(out, c);
	} else {
		used = (size_t)g_unichar_to_utf8(c, NULL);
		buffer_put(out, text, used);
	}
	return used;
}

void json_string(struct buffer *out, const char *text, size_t size)
{
	size_t at = 0;

	put_comma(out);
	buffer_put(out, "\"", 1);
	while (at < size) {
		size_t run = at;

		while (run < size && is_plain((unsigned char)text[run]))
			run++;
		buffer_put(out, text + at, run - at);
		at = run;
		if (at < size)
			at += put_special(out, text + at, size - at);
	}
	buffer_put(out, "\"", 1);
}

void json_text(struct buffer *out, const char *text)
{
	json_string(out, text, strlen(text));
}

void json_copy(struct buffer *out, const char *json, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t plain = at;

		while (plain < size && (unsigned char)json[plain] < 0x7f)
			plain++;
		buffer_put(out, json + at, plain - at);
		at = plain;
		if (at < size)
			at += put_special(out, json + at, size - at);
	}
}

void json_int(struct buffer *out, int64_t value)
{
	put_comma(out);
	buffer_printf(out, "%" PRId64, value);
}

void json_bool(struct buffer *out, bool value)
{
	put_comma(out);
	buffer_printf(out, value ? "true" : "false");
}

void json_null(struct buffer *out)
{
	put_comma(out);
	buffer_printf(out, "null");
}

/* JSON always uses a point, whatever the locale says. */
void json_double(struct buffer *out, double value)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE + 320];

	put_comma(out);
	if (isfinite(value))
		buffer_printf(out, "%s", g_ascii_formatd(digits, sizeof(digits), "%.6f", value));
	else
		buffer_put(out, "null", 4);
}
