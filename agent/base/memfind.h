/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memchr for a byte that is usually near, like the next line break in a span's text: there, the function call
 * costs the most.
 */
#ifndef BASE_MEMFIND_H
#define BASE_MEMFIND_H

#include <stddef.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Finds the byte before @end; NULL if there is none. */
static inline const char *find_near(const char *at, const char *end, char byte)
{
#ifdef __SSE2__
	for (; end - at >= 16; at += 16) {
		__m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8(byte));
		int found = _mm_movemask_epi8(same);

		if (found)
			return at + __builtin_ctz((unsigned)found);
	}
#endif
	return memchr(at, byte, (size_t)(end - at));
}

#endif
