/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables of the environment in the values of a configuration: ${NAME}; ${NAME:-TEXT}, which is TEXT where
 * the variable is empty or not set; and $${ for ${ itself.
 */
#ifndef CONFIG_EXPAND_H
#define CONFIG_EXPAND_H

#include <stddef.h>

/* The caller's to g_free; NULL, with a sentence in @error, if a variable is not set, or is not text. */
char *expand_value(const char *value, char *error, size_t error_size);

/* What expand_value turns into @value; the caller's to g_free. */
char *expand_quote(const char *value);

#endif
