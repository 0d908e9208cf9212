/* SPDX-License-Identifier: BSD-2-Clause */
/* Decimal digits, eight at a time. */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Eight characters, the first of them in the lowest byte; of a digit its value remains. */
static inline uint64_t digits_load(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word) ^ UINT64_C(0x3030303030303030);
}

/* The same of 1 to 8, with some of them again, or zeroes, instead of those that are not there. */
static inline uint64_t digits_load_few(const char *at, size_t size)
{
	uint32_t first, last;
	uint64_t word;

	if (size == 8)
		return digits_load(at);
	if (size < 4) {
		word = (unsigned char)at[0] | (uint64_t)(unsigned char)at[size / 2] << 8 |
		       (uint64_t)(unsigned char)at[size - 1] << 16;
		return word ^ UINT64_C(0x303030);
	}
	memcpy(&first, at, sizeof(first));
	memcpy(&last, at + size - 4, sizeof(last));
	word = ((uint64_t)last << 32 | first) ^ UINT64_C(0x3030303030303030);
	return le64toh(word);
}

/* How many of them are digits, from the first one on. */
static inline unsigned digits_count(uint64_t word)
{
	/* the highest bit of a byte that is above 9; a carry changes only what comes behind it */
	uint64_t others = ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);

	return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The number that the first @count of them make, 1 to 8: pairs of digits, then of pairs, then of those. */
static inline uint64_t digits_value(uint64_t word, unsigned count)
{
	const uint64_t mask = UINT64_C(0x000000ff000000ff);

	word <<= 64 - 8 * count;
	word = word * 10 + (word >> 8);
	return ((word & mask) * (100 + (UINT64_C(1000000) << 32)) +
		       (word >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
	       32;
}

/* Whether these are digits, one at least. */
static inline bool digits_only(const char *at, size_t size)
{
	for (; size > 8; at += 8, size -= 8)
		if (digits_count(digits_load(at)) < 8)
			return false;
	return size && digits_count(digits_load_few(at, size)) == 8;
}

#endif
