/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8 from programs, which may be invalid. */
#ifndef ENCODE_UTF8_H
#define ENCODE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most bytes that utf8_repair writes for @size bytes. */
#define UTF8_REPAIRED_MAX(size) ((size)*3)

static inline uint64_t utf8_move_word(char *to, const char *text, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, text, size);
	memcpy(to, &word, size);
	return word;
}

/*
 * Copies the text, and returns whether it is all ASCII, as most texts are; most are also short. It copies
 * whole words; the last one ends at the end, and overlaps what was copied already.
 */
static inline bool utf8_copy_ascii(char *to, const char *text, size_t size)
{
	uint64_t bits = 0;
	size_t at = 0;

	if (size >= 8) {
		for (; at + 8 < size; at += 8)
			bits |= utf8_move_word(to + at, text + at, 8);
		bits |= utf8_move_word(to + size - 8, text + size - 8, 8);
	} else if (size >= 4) {
		bits = utf8_move_word(to, text, 4) | utf8_move_word(to + size - 4, text + size - 4, 4);
	} else {
		for (; at < size; at++)
			bits |= utf8_move_word(to + at, text + at, 1);
	}
	return !(bits & UINT64_C(0x8080808080808080));
}

/* Whether the bytes are valid UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_valid(const char *text, size_t size);

/* Copies the text with U+FFFD for each byte that is part of no valid sequence; returns the bytes written. */
size_t utf8_repair(char *to, const char *text, size_t size);

#endif
