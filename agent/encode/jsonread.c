/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/jsonread.h"

#include <string.h>

/* Objects and lists in each other. */
#define DEPTH_MAX 32
/* Stands for what is no character. */
#define REPLACEMENT 0xfffd

static void skip_blanks(struct jsonread *from)
{
	while (from->at < from->end &&
		(*from->at == ' ' || *from->at == '\n' || *from->at == '\t' || *from->at == '\r'))
		from->at++;
}

static char next(struct jsonread *from)
{
	skip_blanks(from);
	return from->failed || from->at == from->end ? '\0' : *from->at;
}

static void fail(struct jsonread *from)
{
	from->failed = true;
	from->at = from->end;
}

static bool take(struct jsonread *from, char c)
{
	if (next(from) != c || !c) {
		fail(from);
		return false;
	}
	from->at++;
	return true;
}

bool jsonread_open(struct jsonread *from, char bracket)
{
	from->inside = false;
	return take(from, bracket);
}

/* To the next item of what ends with @bracket. What is in it has its own end behind it, so we are inside
 * then. */
static bool go_on(struct jsonread *from, char bracket)
{
	char c = next(from);

	if (c == bracket) {
		from->at++;
		from->inside = true;
		return false;
	}
	if (from->inside && !take(from, ','))
		return false;
	from->inside = true;
	return !from->failed;
}

bool jsonread_key(struct jsonread *from, struct text *key)
{
	if (!go_on(from, '}'))
		return false;
	*key = jsonread_text(from);
	return take(from, ':');
}

bool jsonread_element(struct jsonread *from)
{
	return go_on(from, ']');
}

/* Texts */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The four digits behind \u; -1 if they are not there. */
static int32_t take_hex(struct jsonread *from)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		int digit = from->at < from->end ? hex_digit(*from->at) : -1;

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
		from->at++;
	}
	return value;
}

static void put_utf8(struct jsonread *from, uint32_t c)
{
	if (c < 0x80) {
		*from->room++ = (char)c;
		return;
	}
	if (c < 0x800) {
		*from->room++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*from->room++ = (char)(0xe0 | c >> 12);
		*from->room++ = (char)(0x80 | (c >> 6 & 63));
	} else {
		*from->room++ = (char)(0xf0 | c >> 18);
		*from->room++ = (char)(0x80 | (c >> 12 & 63));
		*from->room++ = (char)(0x80 | (c >> 6 & 63));
	}
	*from->room++ = (char)(0x80 | (c & 63));
}

static bool is_high(int32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

static bool is_low(int32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

/* The other half of a pair, if it is what comes; -1 otherwise. */
static int32_t take_low(struct jsonread *from)
{
	struct jsonread ahead = *from;
	int32_t low;

	if (from->end - from->at < 2 || memcmp(from->at, "\\u", 2) != 0)
		return -1;
	ahead.at += 2;
	low = take_hex(&ahead);
	if (!is_low(low))
		return -1;
	from->at = ahead.at;
	return low;
}

/* Behind \u: of a pair that somebody cut in two, as JavaScript does, a half is still a text. */
static void take_unicode(struct jsonread *from)
{
	int32_t c = take_hex(from), low = is_high(c) ? take_low(from) : -1;

	if (c < 0)
		fail(from);
	else if (low >= 0)
		put_utf8(from, (uint32_t)(0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00)));
	else
		put_utf8(from, is_high(c) || is_low(c) ? REPLACEMENT : (uint32_t)c);
}

static void take_escape(struct jsonread *from)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = from->at < from->end ? *from->at++ : '\0';
	const char *found = c ? strchr(letters, c) : NULL;

	if (c == 'u')
		take_unicode(from);
	else if (found)
		*from->room++ = meant[found - letters];
	else
		fail(from);
}

/* From the first escape on; what stands before it, from @first on, is copied. */
static struct text take_escaped(struct jsonread *from, const char *first)
{
	struct text text = {from->room, 0};

	memcpy(from->room, first, (size_t)(from->at - first));
	from->room += from->at - first;
	while (from->at < from->end && *from->at != '"') {
		if ((unsigned char)*from->at < 0x20)
			fail(from);
		else if (*from->at != '\\')
			*from->room++ = *from->at++;
		else if (from->at++)
			take_escape(from);
	}
	text.size = (uint32_t)(from->room - text.data);
	take(from, '"');
	return from->failed ? (struct text){"", 0} : text;
}

struct text jsonread_text(struct jsonread *from)
{
	const char *first;
	struct text text;

	if (!take(from, '"'))
		return (struct text){"", 0};
	first = from->at;
	while (from->at < from->end && *from->at != '"' && *from->at != '\\' &&
		(unsigned char)*from->at >= 0x20)
		from->at++;
	if (from->at < from->end && *from->at == '\\')
		return take_escaped(from, first);
	text = (struct text){first, (uint32_t)(from->at - first)};
	if (from->at == from->end || *from->at != '"') {
		fail(from);
		return (struct text){"", 0};
	}
	from->at++;
	return text;
}

/* Others */

int64_t jsonread_number(struct jsonread *from)
{
	bool negative = next(from) == '-';
	const char *first;
	uint64_t value = 0;

	if (negative)
		from->at++;
	first = from->at;
	for (; from->at < from->end && *from->at >= '0' && *from->at <= '9'; from->at++)
		value = value * 10 + (uint64_t)(*from->at - '0');
	if (from->at == first || from->at - first > 18)
		fail(from);
	return from->failed ? 0 : negative ? -(int64_t)value : (int64_t)value;
}

static bool take_word(struct jsonread *from, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(from->end - from->at) < size || memcmp(from->at, word, size) != 0)
		return false;
	from->at += size;
	return true;
}

bool jsonread_bool(struct jsonread *from)
{
	skip_blanks(from);
	if (take_word(from, "true"))
		return true;
	if (!take_word(from, "false"))
		fail(from);
	return false;
}

bool jsonread_is_null(struct jsonread *from)
{
	return next(from) == 'n';
}

/* A number of any form. */
static void skip_number(struct jsonread *from)
{
	const char *first = from->at;

	while (from->at < from->end && *from->at && strchr("+-.eE0123456789", *from->at))
		from->at++;
	if (from->at == first)
		fail(from);
}

static void skip(struct jsonread *from, int depth)
{
	char c = next(from);
	struct text key;

	if (depth > DEPTH_MAX) {
		fail(from);
	} else if (c == '{' && jsonread_open(from, '{')) {
		while (jsonread_key(from, &key))
			skip(from, depth + 1);
	} else if (c == '[' && jsonread_open(from, '[')) {
		while (jsonread_element(from))
			skip(from, depth + 1);
	} else if (c == '"') {
		jsonread_text(from);
	} else if (!take_word(from, "null") && !take_word(from, "true") && !take_word(from, "false")) {
		skip_number(from);
	}
}

void jsonread_skip(struct jsonread *from)
{
	skip(from, 0);
}

bool jsonread_is_over(struct jsonread *from)
{
	skip_blanks(from);
	return !from->failed && from->at == from->end;
}
