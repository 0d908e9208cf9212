/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of spans, for tests. */
#ifndef TEXTS_H
#define TEXTS_H

#include <check.h>
#include <string.h>

#include "core/text.h"

static inline struct text literal(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

static inline void assert_text(struct text one, struct text other)
{
	ck_assert_uint_eq(one.size, other.size);
	ck_assert(!one.size || !memcmp(one.data, other.data, one.size));
}

#endif
