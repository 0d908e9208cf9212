/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/tagtype.h"

#include <string.h>

#include <glib.h>

#include "base/digits.h"
#include "base/shortest.h"

/* Longest number that a client writes, with room. */
#define NUMBER_SIZE 40

static bool copy_number(char number[NUMBER_SIZE], struct text value)
{
	if (!value.size || value.size >= NUMBER_SIZE || g_ascii_isspace(value.data[0]))
		return false;
	memcpy(number, value.data, value.size);
	number[value.size] = '\0';
	return true;
}

/* For as many digits as may be too many. */
static __attribute__((noinline)) bool is_long_int(struct text value)
{
	char number[NUMBER_SIZE];

	return copy_number(number, value) && *number != '+' &&
	       g_ascii_string_to_signed(number, 10, INT64_MIN, INT64_MAX, NULL, NULL);
}

/* By hand if it is short: strtol and what GLib does around it take some 300 instructions more. */
static bool is_int(struct text value)
{
	const char *at = value.data, *end = value.data + value.size;

	if (value.size > 18)
		return is_long_int(value);
	at += at < end && *at == '-';
	return digits_only(at, (size_t)(end - at));
}

static bool is_double(struct text value, double *real)
{
	char number[NUMBER_SIZE], *end;

	if (!copy_number(number, value))
		return false;
	*real = g_ascii_strtod(number, &end);
	return end == number + value.size;
}

/* An unsigned number that fits into no int64_t: a text, but the mark is one all the same. */
static bool is_huge(struct text value)
{
	if (value.size < 19 || value.size > 20)
		return false;
	for (uint32_t i = 0; i < value.size; i++)
		if (!g_ascii_isdigit(value.data[i]))
			return false;
	return true;
}

/* What the letter says, if the value is such a one: if it is a double, then @real. */
static enum tag_type type_of(char letter, struct text value, double *real)
{
	switch (letter) {
	case 'i':
		return is_int(value) ? TAG_INT : TAG_TEXT;
	case 'd':
		return is_double(value, real) ? TAG_DOUBLE : TAG_TEXT;
	case 'b':
		return text_is(value, "true") || text_is(value, "false") ? TAG_BOOL : TAG_TEXT;
	default:
		return TAG_TEXT;
	}
}

/* A number that is not finite is a text: in JSON it is none, and each output says it in the same word. */
static void settle_double(struct tag *tag, double real)
{
	const char *word = shortest_word(real);

	if (!word)
		return;
	tag->value = (struct text){word, (uint32_t)strlen(word)};
	tag->type = TAG_TEXT;
}

void tag_read_mark(struct tag *tag)
{
	const struct text *key = &tag->key;
	char letter = key->size >= 2 ? key->data[1] : '\0';
	bool is_text = letter == 's' && key->size >= 3 && key->data[2] == '#';
	double real;

	tag->type = type_of(letter, tag->value, &real);
	if (tag->type == TAG_TEXT && letter == 'i')
		is_text = is_huge(tag->value);
	if (tag->type != TAG_TEXT || is_text)
		tag->key = (struct text){key->data + 2, key->size - 2};
	if (tag->type == TAG_DOUBLE)
		settle_double(tag, real);
}

void tag_set_type(struct tag *tag, char letter)
{
	double real;

	if (letter == 'n') {
		tag->type = TAG_NONE;
		tag->value.size = 0;
		return;
	}
	tag->type = type_of(letter, tag->value, &real);
	if (tag->type == TAG_DOUBLE)
		settle_double(tag, real);
}
