/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an output does to the tags of its spans: `drop-tags` and `redact`, which are globs, with `*` for
 * anything, and `rename-tags`, OLD:NEW; several with commas between them.
 *
 * Globs go for a tag's key, and for the one that it is renamed to. What the output itself adds (`tags`) is
 * spared. So the rules change nothing in what they have made: they can be applied again at any time.
 */
#ifndef CONFIG_TAGRULES_H
#define CONFIG_TAGRULES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/tags.h"

#define TAGRULES_MAX 64 /* of each kind */
#define TAGRULES_GLOB_MAX 255

/* What takes the place of a value. */
#define TAGRULES_REDACTED "[redacted]"

struct tagrules;

/* Return 0, or -1 with @error saying what is wrong: of `drop-tags` and `redact`; and of `rename-tags`. */
int tagrules_check_globs(const char *text, char *error, size_t size);
int tagrules_check_renames(const char *text, char *error, size_t size);

/* What is wrong with valid values together, of `drop-tags` and the key @with: the caller's; NULL: nothing. */
char *tagrules_conflict(const char *drop, const char *rename, const char *redact, const char **with);

/*
 * The rules that these values are, which must be valid; the same ones for the same values, and never freed.
 * NULL: there are none. Any thread.
 */
const struct tagrules *tagrules_intern(
	const char *drop, const char *rename, const char *redact, const char *tags);

/* What becomes of a tag. */
struct tagfate {
	bool dropped, redacted;
	struct text key; /* its new one; that of before, if it is not renamed */
};

struct tagfate tagrules_find(const struct tagrules *rules, struct text key, struct text value);

#endif
