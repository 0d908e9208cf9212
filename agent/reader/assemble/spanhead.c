/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanhead.h"

#include <string.h>

#include <glib.h>

#include "base/memfind.h"

#define HIGH_DIGITS 16

static bool is_word(const char *at, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(at, word, size) == 0;
}

static bool read_kind(struct span_head *head, const char *at, size_t size)
{
	static const char *const kinds[] = {"local", "client", "server", "producer", "consumer"};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (is_word(at, size, kinds[i])) {
			head->kind = (enum span_kind)i;
			return true;
		}
	}
	return false;
}

/* The upper half of a trace id, in lower-case hex digits. */
static bool read_high(struct span_head *head, const char *at, size_t size)
{
	if (size != HIGH_DIGITS)
		return false;
	for (size_t i = 0; i < size; i++) {
		int digit = g_ascii_isupper(at[i]) ? -1 : g_ascii_xdigit_value(at[i]);

		if (digit < 0)
			return false;
		head->trace_id_high = head->trace_id_high << 4 | (uint64_t)digit;
	}
	return true;
}

/* A word that follows the kind. */
static bool read_word(struct span_head *head, const char *at, size_t size)
{
	if (is_word(at, size, "shared"))
		head->shared = true;
	else if (is_word(at, size, "debug"))
		head->debug = true;
	else
		return size > 5 && memcmp(at, "high=", 5) == 0 && read_high(head, at + 5, size - 5);
	return true;
}

/* "KIND", then words, each after a comma. */
static bool read_words(struct span_head *head, const char *at, const char *end)
{
	const char *comma = find_near(at, end, ','), *word_end = comma ? comma : end;

	if (!read_kind(head, at, (size_t)(word_end - at)))
		return false;
	while (word_end < end) {
		at = word_end + 1;
		comma = find_near(at, end, ',');
		word_end = comma ? comma : end;
		if (!read_word(head, at, (size_t)(word_end - at)))
			return false;
	}
	return true;
}

bool span_head_read(struct span_head *head, struct text line, struct endpoint_cache *cache)
{
	const char *end = line.data + line.size, *space;

	space = find_near(line.data, end, ' ');
	head->shared = head->debug = false;
	head->trace_id_high = 0;
	if (!space || !read_words(head, line.data, space) ||
		!endpoint_cache_read(cache, &head->local, space + 1, end))
		return false;
	if (cache && !head->trace_id_high) /* which is another one in each trace */
		endpoint_cache_keep_head(cache, head, line);
	return true;
}
