/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in the lines of a span's text (blkin/span.h). No state. */
#ifndef READER_ASSEMBLE_SPANNUMBER_H
#define READER_ASSEMBLE_SPANNUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads decimal digits up to @end; returns where they end, or NULL if there are none or more than 18. */
static inline const char *span_number_read(const char *at, const char *end, uint64_t *number)
{
	const char *first = at;
	uint64_t value = 0;
	unsigned digit;

	for (; at < end && (digit = (unsigned char)*at - (unsigned)'0') <= 9; at++)
		value = value * 10 + digit;
	*number = value;
	return at == first || at - first > 18 ? NULL : at;
}

#endif
