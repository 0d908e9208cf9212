/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that fit the screen. */
#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>
#include <stdio.h>

/* So many columns, where nobody looks who has a width. */
#define WRAP_DEFAULT 100

/* The columns of the terminal that @out is; WRAP_DEFAULT if it is none. */
size_t wrap_width(FILE *out);

/*
 * Prints UTF-8 text, whose lines are broken at spaces where they are longer than @width. What is broken off
 * stands below the line's words: those behind "-> ", or behind a label and two spaces or more.
 */
void wrap_print(FILE *out, const char *text, size_t width);

#endif
