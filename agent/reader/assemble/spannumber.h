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

/* Nanoseconds, and more than lie between any two times of today's clocks; two of them can be added up. */
#define SPAN_OFFSET_MAX UINT64_C(4000000000000000000)

/* The same of how far a time is from the span's start, which may be any: at most SPAN_OFFSET_MAX. */
static inline const char *span_offset_read(const char *at, const char *end, uint64_t *offset)
{
	const char *first = at;
	uint64_t value = 0;
	unsigned digit;

	for (; at < end && (digit = (unsigned char)*at - (unsigned)'0') <= 9; at++)
		value = value < SPAN_OFFSET_MAX / 10 ? value * 10 + digit : SPAN_OFFSET_MAX;
	*offset = value;
	return at == first ? NULL : at;
}

#endif
