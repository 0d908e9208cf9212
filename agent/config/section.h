/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of a configuration, and the outputs that they make. */
#ifndef CONFIG_SECTION_H
#define CONFIG_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "config/keys.h"

/* Its keys are globs, so they are in no table. */
#define SECTION_THRESHOLDS "thresholds"

/* A section as one reads it: where its values are, and its keys. All borrowed. */
struct config_section {
	const char *title; /* as a file has it, without the brackets */
	const char *keys;  /* the section of the table of keys */
	void *values;      /* the struct of its keys' scope */
	struct config_origin *origins;
};

/*
 * The section with that title; one of a new output is made, with every key at its default. Returns 0, or -1
 * with @error saying what is wrong.
 */
int section_find(struct config *config, const char *title, struct config_section *section, char *error,
	size_t error_size);

/* An output's section. */
struct config_section section_of_output(struct output_config *output);

/* An output with every key at its default; output_config_unref is due. */
struct output_config *output_config_create(const char *name);

/* Whether the key, one of outputs, says anything for one of this type. */
bool output_key_fits(const struct output_config *output, const struct config_key *key);

#endif
