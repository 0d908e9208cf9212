/* SPDX-License-Identifier: BSD-2-Clause */
/* Borrowed text: not NUL-terminated, any bytes except NUL. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *data;
	uint32_t size;
};

static inline bool text_is_equal(struct text one, struct text other)
{
	return one.size == other.size && (!one.size || !memcmp(one.data, other.data, one.size));
}

static inline bool text_is(struct text text, const char *word)
{
	return text_is_equal(text, (struct text){word, (uint32_t)strlen(word)});
}

#endif
