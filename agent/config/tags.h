/* SPDX-License-Identifier: BSD-2-Clause */
/* An output's `tags`: KEY=VALUE, several with commas between them. */
#ifndef CONFIG_TAGS_H
#define CONFIG_TAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/span.h"

#define TAGS_MAX 16
#define TAGS_KEY_MAX 64
#define TAGS_VALUE_MAX 256

struct tags {
	size_t count;
	struct tag of[TAGS_MAX]; /* their texts borrow */
};

/* Returns 0, or -1 with @error saying what is wrong. */
int tags_parse(struct tags *tags, const char *text, char *error, size_t size);

/* What is wrong with a key; NULL: nothing. */
const char *tags_key_fault(struct text key);

/* A key of these tags that OTLP's resources have from the agent itself, so that the tag would not do; or
 * NULL. */
const char *tags_find_resource_key(const char *text);

#endif
