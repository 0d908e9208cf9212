/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanvalue.h"

#include <string.h>

#include "core/value.h"
#include "reader/assemble/tagtype.h"

/* What a backslash and the character stand for; -1: nothing. */
static int meaning(char c)
{
	switch (c) {
	case '\\':
		return '\\';
	case 'n':
		return '\n';
	case '0':
		return '\0';
	case 'e':
		return '=';
	case 'c':
		return ',';
	default:
		return -1;
	}
}

static struct text unescape(const char *at, const char *end, struct buffer *texts)
{
	char *begin = (char *)buffer_reserve(texts, (size_t)(end - at)), *to = begin;

	while (at < end) {
		int byte = *at == '\\' && end - at > 1 ? meaning(at[1]) : -1;

		*to++ = byte >= 0 ? (char)byte : *at;
		at += byte >= 0 ? 2 : 1;
	}
	texts->size += (size_t)(to - begin);
	return (struct text){begin, (uint32_t)(to - begin)};
}

struct text span_text_read(const char *at, const char *end, struct buffer *texts)
{
	if (at == end || !memchr(at, '\\', (size_t)(end - at)))
		return (struct text){at, (uint32_t)(end - at)};
	return unescape(at, end, texts);
}

static bool is_scalar(char letter)
{
	return letter && strchr("tidbn", letter);
}

static void read_scalar(struct tag *tag, char letter, const char *at, const char *end, struct buffer *texts)
{
	tag->value = letter == 't' ? span_text_read(at, end, texts) : (struct text){at, (uint32_t)(end - at)};
	tag_set_type(tag, letter);
}

/* Each value ends with a comma; what is behind the last one is no value. */
static void read_list(struct tag *tag, char letter, const char *at, const char *end, struct buffer *texts)
{
	struct buffer value = {0}; /* of one, while the list grows */
	size_t begin = texts->size;
	const char *comma;

	while (at < end && (comma = memchr(at, ',', (size_t)(end - at)))) {
		struct tag one = {{"", 0}, {"", 0}, TAG_TEXT};

		value.size = 0;
		read_scalar(&one, letter, at, comma, &value);
		value_put(texts, false, &one);
		at = comma + 1;
	}
	buffer_free(&value);
	tag->type = TAG_LIST;
	tag->value = (struct text){(const char *)texts->data + begin, (uint32_t)(texts->size - begin)};
}

bool span_value_read(struct tag *tag, const char *at, const char *end, struct buffer *texts)
{
	bool list = at < end && *at == '[';
	const char *letter = at + list, *key = letter + 1, *equals;

	if (key >= end || !is_scalar(*letter))
		return false;
	equals = memchr(key, '=', (size_t)(end - key));
	if (!equals)
		return false;
	*tag = (struct tag){.key = span_text_read(key, equals, texts)};
	if (list)
		read_list(tag, *letter, equals + 1, end, texts);
	else
		read_scalar(tag, *letter, equals + 1, end, texts);
	return true;
}
