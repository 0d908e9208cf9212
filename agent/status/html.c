/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

#define REPLACEMENT 0xfffd
#define SHORT_NAME 120

void html_put(struct buffer *out, const char *html)
{
	buffer_put(out, html, strlen(html));
}

static const char *entity_of(gunichar c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_text(struct buffer *out, const char *text)
{
	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		bool valid = c < (gunichar)-2;
		const char *entity = valid ? entity_of(c) : NULL;
		char bytes[6];

		if (entity)
			html_put(out, entity);
		else
			buffer_put(out, bytes,
				(size_t)g_unichar_to_utf8(valid ? words_shown(c) : REPLACEMENT, bytes));
		text = valid ? g_utf8_next_char(text) : text + 1;
	}
}

void html_shown(struct buffer *out, const char *text, size_t size, size_t most)
{
	size_t shown = MIN(size, most);
	g_autofree char *copy = g_strndup(text, shown);

	while (shown < size && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
		shown--;
	for (size_t i = 0; i < shown; i++)
		copy[i] = (char)(text[i] ? text[i] : '\1');
	copy[shown] = '\0';
	html_put(out, "<bdi>");
	html_text(out, copy);
	html_put(out, shown < size ? "…</bdi>" : "</bdi>");
}

void html_name(struct buffer *out, const char *name, const char *none)
{
	if (!name || !*name) {
		buffer_printf(out, "<i>%s</i>", none);
		return;
	}
	html_put(out, "<bdi>");
	html_text(out, name);
	html_put(out, "</bdi>");
}

void html_short_name(struct buffer *out, const char *name, const char *none)
{
	if (name && *name)
		html_shown(out, name, strlen(name), SHORT_NAME);
	else
		html_name(out, NULL, none);
}

void html_query(struct buffer *out, const char *text)
{
	g_autofree char *escaped = g_uri_escape_string(text, NULL, FALSE);

	html_text(out, escaped);
}

/* Three digits that say something. */
static void put_digits(struct buffer *out, double value, const char *unit)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];
	const char *format = value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f";

	buffer_printf(out, "%s%s", g_ascii_formatd(digits, sizeof(digits), format, value), unit);
}

void html_time(struct buffer *out, double us)
{
	if (isnan(us))
		html_put(out, "–");
	else if (us < 999.5)
		put_digits(out, us, " µs");
	else if (us < 999500)
		put_digits(out, us / 1e3, " ms");
	else
		put_digits(out, us / 1e6, " s");
}

void html_count(struct buffer *out, uint64_t count)
{
	if (count >= 1000) {
		html_count(out, count / 1000);
		buffer_printf(out, ",%03d", (int)(count % 1000));
	} else {
		buffer_printf(out, "%d", (int)count);
	}
}

void html_rate(struct buffer *out, double rate)
{
	if (rate >= 999.5)
		html_count(out, (uint64_t)(rate + 0.5));
	else
		put_digits(out, rate, "");
}
