/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/suggest.h"

#include <string.h>

#include <glib.h>

/* Longer words are not looked at. */
#define WORD_MAX 64

/* How many letters have to be changed, added or removed to turn @a into @b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], length = strlen(b);

	for (size_t i = 0; i <= length; i++)
		row[i] = i;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < length; k++) {
			size_t change = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			row[k + 1] = MIN(change, MIN(row[k], diagonal) + 1);
		}
	}
	return row[length];
}

const char *suggest(const char *word, const char *const *names, size_t count)
{
	const char *nearest = NULL;
	size_t best, length = strlen(word);

	if (!length || length > WORD_MAX)
		return NULL;
	best = 2 + length / 5;
	for (size_t i = 0; i < count; i++) {
		size_t changes = strlen(names[i]) > WORD_MAX ? WORD_MAX : distance(word, names[i]);

		/* A word that has nothing in common is no suggestion. */
		if (strncmp(word, names[i], length) == 0)
			changes = 0;
		if (changes > best || changes >= strlen(names[i]))
			continue;
		if (!nearest || changes < best)
			nearest = names[i];
		best = changes;
	}
	return nearest;
}
