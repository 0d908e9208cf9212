/* SPDX-License-Identifier: BSD-2-Clause */
/* Hexadecimal digits, and sixteen at a time. */
#ifndef BASE_HEXDIGITS_H
#define BASE_HEXDIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define HEX_DIGITS 16

/* Reads so many of them, in lower case; false if one is none. */
static inline bool hex_read_digits(const char *at, size_t digits, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < digits; i++) {
		unsigned digit = (unsigned char)at[i] - (unsigned)'0';
		unsigned letter = (unsigned char)at[i] - (unsigned)'a';

		if (digit > 9 && letter > 5)
			return false;
		*number = *number << 4 | (digit <= 9 ? digit : letter + 10);
	}
	return true;
}

#ifdef __SSE2__
/* The values of 16 digits, in lower case; @good: all of them are such. */
static inline __m128i hex_values(const char *at, __m128i *good)
{
	const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
	const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
	const __m128i letters = _mm_sub_epi8(text, _mm_set1_epi8('a'));
	/* as unsigned numbers: what is left of a number is the less of both */
	const __m128i are_digits = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
	const __m128i are_letters = _mm_cmpeq_epi8(_mm_min_epu8(letters, _mm_set1_epi8(5)), letters);

	*good = _mm_or_si128(are_digits, are_letters);
	return _mm_or_si128(_mm_and_si128(are_digits, digits),
		_mm_and_si128(are_letters, _mm_add_epi8(letters, _mm_set1_epi8(10))));
}

/* The first of two digits is the lower byte of 16 bits, and the upper half of a byte of the number. */
static inline __m128i hex_pairs(__m128i values)
{
	values = _mm_or_si128(_mm_slli_epi16(values, 4), _mm_srli_epi16(values, 8));
	return _mm_and_si128(values, _mm_set1_epi16(0xff));
}

/* Reads two numbers of 16 digits, in lower case; false if a digit is none. */
static inline bool hex_read_two(const char *at, uint64_t *number, const char *other_at, uint64_t *other)
{
	__m128i good, other_good, values = hex_values(at, &good),
				  other_values = hex_values(other_at, &other_good);
	uint64_t bytes[2];

	values = _mm_packus_epi16(hex_pairs(values), hex_pairs(other_values));
	_mm_storeu_si128((__m128i *)(void *)bytes, values);
	*number = be64toh(bytes[0]);
	*other = be64toh(bytes[1]);
	return _mm_movemask_epi8(_mm_and_si128(good, other_good)) == 0xffff;
}
#else
static inline bool hex_read_two(const char *at, uint64_t *number, const char *other_at, uint64_t *other)
{
	return hex_read_digits(at, HEX_DIGITS, number) && hex_read_digits(other_at, HEX_DIGITS, other);
}
#endif

#endif
