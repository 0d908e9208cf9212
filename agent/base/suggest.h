/* SPDX-License-Identifier: BSD-2-Clause */
/* What a mistyped word was meant to be. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The one of @count @names that is nearest to @word, or that begins with it; NULL if none is near. */
const char *suggest(const char *word, const char *const *names, size_t count);

#endif
