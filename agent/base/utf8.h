/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8 from programs, which may be invalid. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy.h"

/* The most bytes that utf8_repair writes for @size bytes. */
#define UTF8_REPAIRED_MAX(size) ((size)*3)

/* Copies the text, and returns whether it is all ASCII, as most texts are; most are also short. */
static inline bool utf8_copy_ascii(char *to, const char *text, size_t size)
{
	return !(copy_few(to, text, size) & UINT64_C(0x8080808080808080));
}

/* How many bytes of ASCII there are before the first that is not. */
size_t utf8_ascii_run(const char *text, size_t size);

/* Whether the bytes are valid UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_valid(const char *text, size_t size);

/* Copies the text with U+FFFD for each byte that is part of no valid sequence; returns the bytes written. */
size_t utf8_repair(char *to, const char *text, size_t size);

#endif
