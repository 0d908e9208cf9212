/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/asciijson.h"

#include <glib.h>

#include "base/utf8.h"

/* Escapes the character at @text; returns its size. */
static size_t put_escape(struct buffer *out, const uint8_t *text, size_t size)
{
	const char *character = (const char *)text;
	gunichar code = g_utf8_get_char_validated(character, (gssize)size);

	if (code > 0x10ffff) { /* -1 or -2 */
		buffer_put(out, "\\ufffd", 6);
		return 1;
	}
	if (code < 0x10000)
		buffer_printf(out, "\\u%04x", code);
	else
		buffer_printf(
			out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
	return (size_t)(g_utf8_next_char(character) - character);
}

void asciijson_put(struct buffer *out, const uint8_t *json, size_t size)
{
	while (size > 0) {
		size_t plain = utf8_ascii_run((const char *)json, size);

		buffer_put(out, json, plain);
		if (plain < size)
			plain += put_escape(out, json + plain, size - plain);
		json += plain;
		size -= plain;
	}
}
