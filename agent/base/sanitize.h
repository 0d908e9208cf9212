/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer's words, which may be anything, made fit for the reader of a log. */
#ifndef BASE_SANITIZE_H
#define BASE_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies them: whole characters that fit, '?' for what is not printable, nothing to end a line with. They end
 * at a NUL or after @size bytes. @message becomes a string of less than @message_size bytes.
 */
void words_copy(char *message, size_t message_size, const uint8_t *words, size_t size);

/* Whether these bytes look as if a person should read them. */
bool words_readable(const uint8_t *data, size_t size);

#endif
