/* SPDX-License-Identifier: BSD-2-Clause */
/* Suggestions for a mistyped word. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The one of @count @names that is most similar to @word, or begins with it; NULL if none is similar. */
const char *suggest(const char *word, const char *const *names, size_t count);

#endif
