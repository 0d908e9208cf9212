/* SPDX-License-Identifier: BSD-2-Clause */
#include "printable.h"

#include <stdbool.h>

#include <glib.h>

static bool is_unprintable(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_CONTROL:
	case G_UNICODE_FORMAT:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
		return true;
	default:
		return false;
	}
}

static void put_escaped(struct buffer *out, gunichar c)
{
	if (c == '\n')
		buffer_printf(out, "\\n");
	else if (c == '\t')
		buffer_printf(out, "\\t");
	else if (c == '\r')
		buffer_printf(out, "\\r");
	else
		buffer_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

void printable_put(struct buffer *out, const char *text, size_t size, size_t max)
{
	size_t at = 0;

	while (at < size && (!max || at < max)) {
		const char *here = text + at;
		gunichar c = (unsigned char)*here < 0x80
				     ? (gunichar)*here
				     : g_utf8_get_char_validated(here, (gssize)(size - at));

		if (c >= (gunichar)-2) {
			buffer_put(out, "\xef\xbf\xbd", 3);
			at++;
			continue;
		}
		if (is_unprintable(c))
			put_escaped(out, c);
		else
			buffer_put(out, here, (size_t)g_unichar_to_utf8(c, NULL));
		at += (size_t)g_unichar_to_utf8(c, NULL);
	}
	if (at < size)
		buffer_printf(out, "… (%zu bytes more)", size - at);
}

char *printable_copy(const char *text, size_t size, size_t max)
{
	struct buffer out = {0};

	printable_put(&out, text, size, max);
	buffer_put(&out, "", 1);
	return (char *)out.data;
}

int printable_width(const char *text)
{
	int width = 0;

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c = g_utf8_get_char(text);

		if (g_unichar_iszerowidth(c))
			continue;
		width += g_unichar_iswide(c) ? 2 : 1;
	}
	return width;
}
