/* SPDX-License-Identifier: BSD-2-Clause */
/* A text as a JSON string, for the encoders: fast, into memory that is there. base/json.h is for all others.
 */
#ifndef ENCODE_JSONTEXT_H
#define ENCODE_JSONTEXT_H

#include <stddef.h>

/* The most bytes that jsontext_put writes for a text of @size bytes. */
#define JSONTEXT_MAX(size) ((size)*6 + 2 + 8)

/*
 * Writes the text with its quotes at @to; returns where it ends. What words_shown replaces is escaped, but
 * for DEL. Bytes that are not UTF-8 become U+FFFD, and then *@repaired is counted up. The bytes behind the
 * end, up to JSONTEXT_MAX, may be overwritten.
 */
char *jsontext_put(char *to, const char *text, size_t size, unsigned *repaired);

#endif
