/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/fit.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include <glib.h>

#include "printable.h"

static int width_of(gunichar c)
{
	return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

int fit_put(struct buffer *out, const char *text, int columns)
{
	int width = 0;

	if (printable_width(text) <= columns) {
		buffer_put(out, text, strlen(text));
		return printable_width(text);
	}
	for (; *text && columns > 0; text = g_utf8_next_char(text)) {
		int more = width_of(g_utf8_get_char(text));

		if (width + more > columns - 1)
			break;
		buffer_put(out, text, (size_t)(g_utf8_next_char(text) - text));
		width += more;
	}
	if (columns > 0)
		buffer_printf(out, "…");
	return width + (columns > 0);
}

static void put_spaces(struct buffer *out, int count)
{
	if (count > 0)
		buffer_printf(out, "%*s", count, "");
}

void fit_put_left(struct buffer *out, const char *text, int columns)
{
	put_spaces(out, columns - fit_put(out, text, columns));
}

void fit_put_right(struct buffer *out, const char *text, int columns)
{
	put_spaces(out, columns - printable_width(text));
	fit_put(out, text, columns);
}

bool fit_has_utf8(void)
{
	static int has = -1;

	if (has < 0) {
		setlocale(LC_CTYPE, "");
		has = !strcmp(nl_langinfo(CODESET), "UTF-8");
	}
	return has;
}

/* What stands for a character: as wide as it is. */
static const char *ascii_of(gunichar c)
{
	static const struct {
		gunichar is;
		char as[2];
	} known[] = {{0x2502, "|"}, {0x251c, "|"}, {0x2514, "`"}, {0x2500, "-"}, {0x2026, "~"}, {0xb5, "u"},
		{0x2588, "#"}, {0x258f, "|"}, {0xd7, "x"}, {0x2717, "!"}, {0x2039, "<"}, {0x203a, ">"},
		{0x25be, "v"}, {0x25b4, "^"}};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (known[i].is == c)
			return known[i].as;
	return g_unichar_iszerowidth(c) ? "" : g_unichar_iswide(c) ? "??" : "?";
}

void fit_locale(struct buffer *text)
{
	struct buffer ascii = {0};
	size_t at = 0;

	if (fit_has_utf8())
		return;
	while (at < text->size) {
		const char *here = (const char *)text->data + at;
		gunichar c = g_utf8_get_char_validated(here, (gssize)(text->size - at));

		if (c < 0x80 || c >= (gunichar)-2) {
			buffer_put(&ascii, c < 0x80 ? here : "?", 1);
			at++;
			continue;
		}
		buffer_put(&ascii, ascii_of(c), strlen(ascii_of(c)));
		at += (size_t)(g_utf8_next_char(here) - here);
	}
	buffer_free(text);
	*text = ascii;
}
