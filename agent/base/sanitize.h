/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes text from a peer, which may be anything, safe for a log. */
#ifndef BASE_SANITIZE_H
#define BASE_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies the text, which ends at a NUL or after @size bytes: as many whole characters as fit, '?' for what is
 * not printable, no line break. @message becomes a string of less than @message_size bytes.
 */
void words_copy(char *message, size_t message_size, const uint8_t *words, size_t size);

/*
 * Makes what controls a terminal harmless, in place: each control character, also those of C1 (U+0080 to
 * U+009F), and each byte that is no part of UTF-8, as terminals may take it for one of those, becomes '?'.
 */
void words_clean(char *text, size_t size);

/* Whether these bytes look like readable text. */
bool words_readable(const uint8_t *data, size_t size);

#endif
