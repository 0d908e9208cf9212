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

/* Whether these bytes look like readable text. */
bool words_readable(const uint8_t *data, size_t size);

#endif
