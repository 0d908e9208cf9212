/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from a peer, made fit for a terminal: it cannot move the cursor, change colours or reverse the line.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>

#include "buffer.h"

/*
 * Appends @size bytes of @text. Control and formatting characters become \n, \t, \x1b or \u202e and the like,
 * invalid UTF-8 becomes U+FFFD. Of what is longer than @max bytes (0: no limit) the rest is told by its size.
 */
void printable_put(struct buffer *out, const char *text, size_t size, size_t max);

/* The same as a string, the caller's to g_free. */
char *printable_copy(const char *text, size_t size, size_t max);

/* Columns that a printable string takes. */
int printable_width(const char *text);

#endif
