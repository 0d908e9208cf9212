/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sanitize.h"

#include <string.h>

#include <glib.h>

#define REPLACEMENT 0xfffd
/* U+2400 is the picture of NUL, and so on. */
#define PICTURES 0x2400
#define PICTURE_DEL 0x2421
#define NON_JOINER 0x200c
#define JOINER 0x200d

uint32_t words_shown(uint32_t c)
{
	if (c < 0x20)
		return PICTURES + c;
	if (c < 0x7f)
		return c;
	if (c == 0x7f)
		return PICTURE_DEL;
	switch (g_unichar_type(c)) {
	case G_UNICODE_FORMAT:
		return c == NON_JOINER || c == JOINER ? c : REPLACEMENT;
	case G_UNICODE_CONTROL:
	case G_UNICODE_LINE_SEPARATOR:
	case G_UNICODE_PARAGRAPH_SEPARATOR:
		return REPLACEMENT;
	default:
		return c;
	}
}

char *words_show(const char *text)
{
	GString *shown = g_string_new(NULL);

	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		bool valid = c < (gunichar)-2;

		g_string_append_unichar(shown, valid ? words_shown(c) : REPLACEMENT);
		text = valid ? g_utf8_next_char(text) : text + 1;
	}
	return g_string_free(shown, FALSE);
}

void words_copy(char *message, size_t message_size, const uint8_t *words, size_t size)
{
	size_t used = 0;

	while (size > 0 && *words) {
		gunichar c = g_utf8_get_char_validated((const char *)words, (gssize)size);
		bool valid = c != (gunichar)-1 && c != (gunichar)-2;
		size_t step =
			valid ? (size_t)(g_utf8_next_char((const char *)words) - (const char *)words) : 1;
		bool keep = valid && g_unichar_isprint(c);

		if (used + (keep ? step : 1) >= message_size)
			break;
		if (keep)
			memcpy(message + used, words, step);
		else
			message[used] = valid && g_unichar_isspace(c) ? ' ' : '?';
		used += keep ? step : 1;
		words += step;
		size -= step;
	}
	while (used > 0 && message[used - 1] == ' ')
		used--;
	if (message_size > 0)
		message[used] = '\0';
}

void words_clean(char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		gunichar c = (unsigned char)text[at] < 0x80
				     ? (gunichar)(unsigned char)text[at]
				     : g_utf8_get_char_validated(text + at, (gssize)(size - at));
		size_t step = c >= (gunichar)-2 ? 1 : (size_t)g_unichar_to_utf8(c, NULL);

		if (c >= (gunichar)-2 || words_shown(c) != c)
			memset(text + at, '?', step);
		at += step;
	}
}

bool words_have_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

bool words_readable(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < 0x20 ? !g_ascii_isspace(data[i]) : data[i] == 0x7f)
			return false;
	return size > 0 && g_utf8_validate((const char *)data, (gssize)size, NULL);
}
