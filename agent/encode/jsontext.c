/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/jsontext.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"
#include "base/utf8.h"

#define ONES UINT64_C(0x0101010101010101)
#define HIGH UINT64_C(0x8080808080808080)

/* Has the high bit where a byte of @word is 0; above the lowest of them, it may be wrong. */
static inline uint64_t zeros(uint64_t word)
{
	return (word - ONES) & ~word & HIGH;
}

/* Has the high bit where a byte needs more than to be copied. What stands above the lowest such bit may be
 * wrong. */
static inline uint64_t specials(uint64_t word)
{
	uint64_t controls = (word - ONES * 0x20) & ~word & HIGH;

	return controls | zeros(word ^ (ONES * '"')) | zeros(word ^ (ONES * '\\')) | (word & HIGH);
}

/* Copies up to the first byte that needs more; returns how many bytes it copied. */
static size_t copy_plain(char *to, const char *text, size_t size)
{
	size_t at = 0;

	for (; at + 8 <= size; at += 8) {
		uint64_t found, word;

		memcpy(&word, text + at, 8);
		memcpy(to + at, &word, 8);
		found = specials(word);
		if (found)
			return at + (size_t)__builtin_ctzll(found) / 8;
	}
	for (; at < size; at++) {
		unsigned char c = (unsigned char)text[at];

		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			break;
		to[at] = (char)c;
	}
	return at;
}

static char *put_code(char *to, uint32_t code)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = digits[code >> shift & 15];
	return to;
}

static char *put_escape(char *to, unsigned char c)
{
	const char *letter = c == '\n' ? "n" : c == '\t' ? "t" : c == '\r' ? "r" : NULL;

	if (c < 0x20 && !letter)
		return put_code(to, c);
	*to++ = '\\';
	*to++ = letter ? *letter : (char)c;
	return to;
}

/* Copies characters that are not ASCII; those are escaped that would control who reads them. */
static char *put_characters(char *to, const char *text, const char *end)
{
	for (const char *next; text < end; text = next) {
		gunichar c = g_utf8_get_char(text);

		next = g_utf8_next_char(text);
		if (words_shown(c) == c) {
			memcpy(to, text, (size_t)(next - text));
			to += next - text;
		} else if (c < 0x10000) {
			to = put_code(to, c);
		} else { /* a pair */
			to = put_code(to, 0xd800 + ((c - 0x10000) >> 10));
			to = put_code(to, 0xdc00 + (c & 0x3ff));
		}
	}
	return to;
}

/* The same of bytes that are not all UTF-8. */
static char *put_repaired(char *to, const char *text, size_t size)
{
	char *repaired = g_malloc(UTF8_REPAIRED_MAX(size));

	to = put_characters(to, repaired, repaired + utf8_repair(repaired, text, size));
	g_free(repaired);
	return to;
}

/* Copies what is not ASCII, up to the next byte that is. */
static char *put_wide(char *to, const char **text, const char *end, bool *bad)
{
	const char *first = *text, *at = first;
	size_t size;

	while (at < end && (unsigned char)*at >= 0x80)
		at++;
	*text = at;
	size = (size_t)(at - first);
	if (!utf8_valid(first, size)) {
		*bad = true;
		return put_repaired(to, first, size);
	}
	return put_characters(to, first, at);
}

char *jsontext_put(char *to, const char *text, size_t size, unsigned *repaired)
{
	const char *end = text + size;
	bool bad = false;

	*to++ = '"';
	for (;;) {
		size_t plain = copy_plain(to, text, (size_t)(end - text));

		to += plain;
		text += plain;
		if (text == end)
			break;
		if ((unsigned char)*text >= 0x80)
			to = put_wide(to, &text, end, &bad);
		else
			to = put_escape(to, (unsigned char)*text++);
	}
	*repaired += bad;
	*to++ = '"';
	return to;
}
