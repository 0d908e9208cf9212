/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sanitize.h"

#include <string.h>

#include <glib.h>

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

		if (c >= (gunichar)-2 || g_unichar_iscntrl(c))
			memset(text + at, '?', step);
		at += step;
	}
}

bool words_readable(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < 0x20 ? !g_ascii_isspace(data[i]) : data[i] == 0x7f)
			return false;
	return size > 0 && g_utf8_validate((const char *)data, (gssize)size, NULL);
}
