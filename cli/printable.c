/* SPDX-License-Identifier: BSD-2-Clause */
#include "printable.h"

#include <inttypes.h>

#include <glib.h>

#include "base/sanitize.h"

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
		if (words_shown(c) != c)
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

/* @us in units of @unit µs, with three significant digits. */
static void put_scaled(struct buffer *out, int64_t us, int64_t unit, const char *name)
{
	int64_t hundredths = (us * 100 + unit / 2) / unit, tenths = (us * 10 + unit / 2) / unit;

	if (hundredths < 1000)
		buffer_printf(out, "%" PRId64 ".%02" PRId64 " %s", hundredths / 100, hundredths % 100, name);
	else if (tenths < 1000)
		buffer_printf(out, "%" PRId64 ".%" PRId64 " %s", tenths / 10, tenths % 10, name);
	else
		buffer_printf(out, "%" PRId64 " %s", (us + unit / 2) / unit, name);
}

void printable_put_time(struct buffer *out, int64_t us)
{
	const int64_t second = 1000000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

	if (us < 0) {
		buffer_put(out, "-", 1);
		us = us == INT64_MIN ? INT64_MAX : -us;
	}
	if (us < 1000)
		buffer_printf(out, "%" PRId64 " µs", us);
	else if (us < 999500)
		put_scaled(out, us, 1000, "ms");
	else if (us < minute)
		put_scaled(out, us, second, "s");
	else if (us < hour)
		buffer_printf(out, "%" PRId64 " min %" PRId64 " s", us / minute, us % minute / second);
	else if (us < 2 * day)
		buffer_printf(out, "%" PRId64 " h %" PRId64 " min", us / hour, us % hour / minute);
	else
		buffer_printf(out, "%" PRId64 " d %" PRId64 " h", us / day, us % day / hour);
}
