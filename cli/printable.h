/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for people. Text from a peer is made safe for a terminal: it cannot move the cursor, change colours or
 * reverse the line.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Appends @size bytes of @text. Control and formatting characters become \n, \t, \x1b or \u202e and the like,
 * invalid UTF-8 becomes U+FFFD. Of a text longer than @max bytes (0: no limit), the size of the rest is
 * shown.
 */
void printable_put(struct buffer *out, const char *text, size_t size, size_t max);

/* The same as a string, which the caller frees with g_free. */
char *printable_copy(const char *text, size_t size, size_t max);

/* The width of a printable string in columns. */
int printable_width(const char *text);

/* Appends @us in readable units: "850 µs", "12.3 ms", "4.05 s", "2 min 5 s". */
void printable_put_time(struct buffer *out, int64_t us);

#endif
