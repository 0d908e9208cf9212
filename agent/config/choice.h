/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of which a key takes one, or several with commas: "a|b|c" in the table of keys. */
#ifndef CONFIG_CHOICE_H
#define CONFIG_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Which of the words it is, or -1. */
int choice_find(const char *words, const char *value);

/* Words with commas between them: a bit for each. False if one is none of @words, or there is none. */
bool choice_parse_words(const char *words, const char *value, uint64_t *number);

/* The other way round; the caller's. */
char *choice_print_words(const char *words, uint64_t number);

/* "a, b or c"; the caller's. */
char *choice_list(const char *words);

/* The word that was meant by @value, which is none of them; NULL if nothing is near. Valid until the next
 * call. */
const char *choice_suggest(const char *words, const char *value);

#endif
