/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of the configuration: from the text of a file into struct config, and back. */
#ifndef CONFIG_CONFIGVALUE_H
#define CONFIG_CONFIGVALUE_H

#include <stddef.h>

#include "config/config.h"
#include "config/configkeys.h"

void config_value_set_default(struct config *config, const struct config_key *key);

/* Frees what the value owns, if it owns anything. */
void config_value_free(struct config *config, const struct config_key *key);

/* Sets the key; returns 0, or -1 with the value as it was and @error saying what it should be. */
int config_value_set(struct config *config, const struct config_key *key, const char *text, char *error,
	size_t error_size);

/* The value as a file would have it; the caller's to g_free. */
char *config_value_print(const struct config *config, const struct config_key *key);

#endif
