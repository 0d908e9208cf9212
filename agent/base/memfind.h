/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memchr for a byte that is usually near, like the next line break in a span's text: there, the function call
 * costs the most.
 */
#ifndef BASE_MEMFIND_H
#define BASE_MEMFIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__
static inline bool has_16(const char *at, const char *end)
{
	return (uintptr_t)at <= (uintptr_t)end - 16; /* of which a loop computes the right side once */
}

/* A bit for each of 16 bytes that is one of two. */
static inline unsigned find_in_16(const char *at, char one, char other)
{
	__m128i block = _mm_loadu_si128((const __m128i *)at);

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(
		_mm_cmpeq_epi8(block, _mm_set1_epi8(one)), _mm_cmpeq_epi8(block, _mm_set1_epi8(other))));
}
#endif

/* Finds the byte before @end; NULL if there is none. */
static inline const char *find_near(const char *at, const char *end, char byte)
{
#ifdef __SSE2__
	for (; has_16(at, end); at += 16) {
		unsigned found = find_in_16(at, byte, byte);

		if (__builtin_expect(found != 0, 1))
			return at + __builtin_ctz(found);
	}
#endif
	return memchr(at, byte, (size_t)(end - at));
}

/* Finds the first of two bytes, of which one is there. */
static inline const char *find_either(const char *at, const char *end, char one, char other)
{
#ifdef __SSE2__
	for (; has_16(at, end); at += 16) {
		unsigned found = find_in_16(at, one, other);

		if (__builtin_expect(found != 0, 1))
			return at + __builtin_ctz(found);
	}
#endif
	while (*at != one && *at != other)
		at++;
	return at;
}

/* The same of a byte that is there. */
static inline const char *find_sure(const char *at, const char *end, char byte)
{
	return find_either(at, end, byte, byte);
}

#endif
