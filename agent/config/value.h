/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of the configuration: from the text of a file into the struct of their scope (@values), and back. */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/keys.h"

/* Sets every key of @scope to its default; frees what such values own. */
void config_values_init(void *values, enum config_scope scope);
void config_values_clear(void *values, enum config_scope scope);

/* Sets the key; returns 0, or -1 with the value as it was: explain.h says what it should be. */
int config_value_set(void *values, const struct config_key *key, const char *text);

/* Reads a number with its unit, a level, a choice or words; returns false if it is none. */
bool config_number_parse(const struct config_key *key, const char *value, uint64_t *number);

/* The reverse; the caller's to g_free. */
char *config_number_print(const struct config_key *key, uint64_t number);

/* Whether the text has what other configuration files strip from a value: quotes around it, or a comment
 * behind a path. */
bool config_text_trap(const char *text);

/* Sets the key to its value in @from. */
void config_value_copy(void *values, const struct config_key *key, const void *from);

bool config_value_equal(const struct config_key *key, const void *one, const void *other);

/* The value as a file would have it; the caller's to g_free. */
char *config_value_print(const void *values, const struct config_key *key);

#endif
