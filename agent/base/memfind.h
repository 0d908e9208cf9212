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

/* The same before @end, where bytes up to @limit may be looked at: a line's end is too near, the text's is
 * not. */
static inline const char *find_within(const char *at, const char *end, const char *limit, char byte)
{
	const char *found = find_near(at, limit - at < 16 ? end : limit, byte);

	return found && found < end ? found : NULL;
}

#endif
