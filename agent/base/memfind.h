/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memchr for a byte that is usually near, like the next line break in a span's text: there, the function call
 * costs the most.
 */
#ifndef BASE_MEMFIND_H
#define BASE_MEMFIND_H

#include <stddef.h>
#include <stdint.h>
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

/* Goes from one occurrence of a byte to the next: many are found at once. */
struct finder {
	const char *text, *end; /* where to look */
	const char *from;       /* what is not looked at yet */
	const char *block;      /* what is, and */
	uint64_t found;         /* a bit for each byte of it that is one */
	char byte;
};

#ifdef __SSE2__
static inline uint64_t find_in_16(const char *at, char byte)
{
	__m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8(byte));

	return (unsigned)_mm_movemask_epi8(same);
}

/* The last bytes, fewer than 16: with those before them, if there are any. */
static inline uint64_t find_in_rest(const struct finder *finder, size_t rest)
{
	const char *at = finder->end - rest;
	uint64_t found = 0;

	if (finder->end - finder->text >= 16)
		return find_in_16(finder->end - 16, finder->byte) >> (16 - rest);
	for (size_t i = 0; i < rest; i++)
		found |= (uint64_t)(at[i] == finder->byte) << i;
	return found;
}

/* Looks at up to 64 bytes. */
static inline void finder_fill(struct finder *finder)
{
	size_t left = (size_t)(finder->end - finder->from), at = 0;

	finder->block = finder->from;
	if (left > 64)
		left = 64;
	if (left == 64) { /* without a loop's own steps */
		finder->found = find_in_16(finder->block, finder->byte) |
				find_in_16(finder->block + 16, finder->byte) << 16 |
				find_in_16(finder->block + 32, finder->byte) << 32 |
				find_in_16(finder->block + 48, finder->byte) << 48;
		finder->from += left;
		return;
	}
	for (; at + 16 <= left; at += 16)
		finder->found |= find_in_16(finder->block + at, finder->byte) << at;
	if (at < left)
		finder->found |= find_in_rest(finder, left - at) << at;
	finder->from += left;
}
#else
static inline void finder_fill(struct finder *finder)
{
	size_t left = (size_t)(finder->end - finder->from);
	const char *at = memchr(finder->from, finder->byte, left);

	finder->block = at;
	finder->found = at != NULL;
	finder->from = at ? at + 1 : finder->end;
}
#endif

static inline struct finder finder_of(const char *text, size_t size, char byte)
{
	return (struct finder){.text = text, .from = text, .end = text + size, .byte = byte};
}

/* The next one; NULL: there is none. */
static inline const char *finder_next(struct finder *finder)
{
	const char *at;

	while (!finder->found) {
		if (finder->from == finder->end)
			return NULL;
		finder_fill(finder);
	}
	at = finder->block + __builtin_ctzll(finder->found);
	finder->found &= finder->found - 1;
	return at;
}

#endif
