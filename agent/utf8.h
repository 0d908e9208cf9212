/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8 from programs that may write anything. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that utf8_repair may write for @size bytes. */
#define UTF8_REPAIRED_MAX(size) ((size)*3)

/* Whether the bytes are valid UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_valid(const char *text, size_t size);

/* Copies the text with U+FFFD for each byte that is part of no valid sequence; returns the bytes written. */
size_t utf8_repair(char *to, const char *text, size_t size);

#endif
