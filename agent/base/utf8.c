/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/utf8.h"

#include <string.h>

/* Eight bytes at a time. */
size_t utf8_ascii_run(const char *text, size_t size)
{
	size_t at = 0;

	for (; size - at >= 8; at += 8) {
		uint64_t word;

		memcpy(&word, text + at, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	while (at < size && !(text[at] & 0x80))
		at++;
	return at;
}

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length of the valid sequence at @text, 0 if there is none. RFC 3629, section 4. */
static size_t sequence(const unsigned char *text, size_t size)
{
	unsigned char first = text[0], low = 0x80, high = 0xbf;
	size_t length = first < 0x80   ? 1
			: first < 0xc2 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
			: first < 0xf5 ? 4
				       : 0;

	if (length < 2 || length > size)
		return length > size ? 0 : length;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!continues(text[i]))
			return 0;
	return length;
}

bool utf8_valid(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	while (size) {
		size_t run = utf8_ascii_run((const char *)at, size);

		if (run == size)
			return true;
		at += run;
		size -= run;
		run = sequence(at, size);
		if (!run)
			return false;
		at += run;
		size -= run;
	}
	return true;
}

size_t utf8_repair(char *to, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + size;
	char *out = to;

	while (at < end) {
		size_t run = sequence(at, (size_t)(end - at));

		memcpy(out, run ? (const char *)at : "\xef\xbf\xbd", run ? run : 3);
		out += run ? run : 3;
		at += run ? run : 1;
	}
	return (size_t)(out - to);
}
