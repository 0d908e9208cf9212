/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a value, and what was meant: for people who know other configuration files. */
#ifndef CONFIG_EXPLAIN_H
#define CONFIG_EXPLAIN_H

#include <stddef.h>

#include "config/keys.h"
#include "config/outputtype.h"

/*
 * Says what @text should be, which config_value_set refused: "is not valid: it must be ...". @type is that of
 * the output whose key it is, an enum config_output, or OUTPUT_NO_TYPE.
 */
void explain_value(const struct config_key *key, const char *text, int type, char *error, size_t size);

/* "is for type kafka, but the type is http": of a key that does not go with the type; the caller's. */
char *explain_misfit(const struct config_key *key, int type);

/* The key that says the same for the type, as "; write `brokers`"; "" if there is none; the caller's. */
char *explain_instead(const struct config_key *key, int type);

/* What was meant by a key that the section has not, as "; did you mean `keep`?"; the caller's. */
char *explain_name(const char *section, const char *name, int type);

#endif
