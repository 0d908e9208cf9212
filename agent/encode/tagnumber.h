/* SPDX-License-Identifier: BSD-2-Clause */
/* What the texts of tags mean that are numbers (core/span.h): whatever the text is, it is some number. */
#ifndef ENCODE_TAGNUMBER_H
#define ENCODE_TAGNUMBER_H

#include <glib.h>

#include "core/span.h"

static __attribute__((unused)) uint64_t int_of(struct text value)
{
	bool negative = value.size && *value.data == '-';
	uint64_t number = 0;

	for (uint32_t i = negative; i < value.size; i++)
		number = number * 10 + (uint64_t)(value.data[i] - '0');
	return negative ? -number : number;
}

static __attribute__((unused)) double double_of(struct text value)
{
	char number[64] = "";

	memcpy(number, value.data, MIN(sizeof(number) - 1, value.size));
	return g_ascii_strtod(number, NULL);
}

static inline bool bool_of(struct text value)
{
	return value.size && *value.data == 't';
}

#endif
