/* SPDX-License-Identifier: BSD-2-Clause */
/* Copying a few bytes, of varying length, without a call. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t copy_some(char *to, const char *from, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, from, size);
	memcpy(to, &word, size);
	return word;
}

/* More than 16 bytes. */
uint64_t copy_long(char *to, const char *from, size_t size);

/*
 * Copies @size bytes to where they are not. Returns them or-ed together, each into some byte of the result:
 * it tells whether a bit was set in any.
 *
 * It copies whole words; the last one ends at the end, and overlaps what was copied already.
 */
static inline uint64_t copy_few(char *to, const char *from, size_t size)
{
	if (size > 16)
		return copy_long(to, from, size);
	if (size >= 8)
		return copy_some(to, from, 8) | copy_some(to + size - 8, from + size - 8, 8);
	if (size >= 4)
		return copy_some(to, from, 4) | copy_some(to + size - 4, from + size - 4, 4);
	if (size >= 2)
		return copy_some(to, from, 2) | copy_some(to + size - 2, from + size - 2, 2);
	return size ? copy_some(to, from, 1) : 0;
}

#endif
