/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of spans, for tests. */
#ifndef TEXTS_H
#define TEXTS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/text.h"

static inline struct text literal(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

static inline void assert_text(struct text first, struct text second)
{
	ck_assert_uint_eq(first.size, second.size);
	ck_assert(!first.size || !memcmp(first.data, second.data, first.size));
}

static inline bool bytes_have(const uint8_t *data, size_t size, const void *what, size_t length)
{
	for (size_t at = 0; at + length <= size; at++)
		if (!memcmp(data + at, what, length))
			return true;
	return false;
}

#endif
