/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanhead.h"

#include <string.h>

#include <glib.h>

#include "base/hexdigits.h"
#include "base/memfind.h"
#include "core/text.h"

/* The upper half of a trace id, in lower-case hexadecimal digits. */
#define HIGH "high="
#define HIGH_DIGITS 16
#define HIGH_SIZE (strlen(HIGH) + HIGH_DIGITS)

static bool read_kind(struct span_head *head, const char *at, size_t size)
{
	static const char *const kinds[] = {"local", "client", "server", "producer", "consumer"};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (text_is((struct text){at, (uint32_t)size}, kinds[i])) {
			head->kind = (enum span_kind)i;
			return true;
		}
	}
	return false;
}

/* A word that follows the kind. */
static bool read_word(struct span_head *head, const char *at, size_t size)
{
	const struct text word = {at, (uint32_t)size};

	if (text_is(word, "shared"))
		head->shared = true;
	else if (text_is(word, "debug"))
		head->debug = true;
	else
		return size == HIGH_SIZE && memcmp(at, HIGH, strlen(HIGH)) == 0 &&
		       hex_read_digits(at + strlen(HIGH), HIGH_DIGITS, &head->trace_id_high);
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
