/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes text from a peer, which may be anything, safe for whoever reads it. What is replaced is the same
 * everywhere; by what, is up to the place: '?' in a log, an escape in JSON and on a terminal, a picture in
 * the page and in a label.
 */
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
 * What is shown in the place of a character: itself, unless it controls a terminal or says how other
 * characters run. These are Unicode's control and formatting characters, and its separators of lines and
 * paragraphs; but not the joiners, without which some words and emoji are wrong. Those of ASCII have
 * pictures, as U+241B for ESC; for the others it is U+FFFD.
 */
uint32_t words_shown(uint32_t c);

/* A copy in UTF-8 of what is shown for each character of the text, and U+FFFD for a broken byte; g_free. */
char *words_show(const char *text);

/*
 * Makes text harmless for a terminal, in place: what is not shown as it is, and each byte that is no part of
 * UTF-8, as terminals may take it for a control character, becomes '?'.
 */
void words_clean(char *text, size_t size);

/* Whether a control character of ASCII is in it. */
bool words_have_control(const char *text);

/* Whether these bytes look like readable text. */
bool words_readable(const uint8_t *data, size_t size);

#endif
