/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with a point, in the fewest digits that read back the same, as the client writes them. */
#ifndef BASE_SHORTEST_H
#define BASE_SHORTEST_H

#include <stddef.h>

#define SHORTEST_ROOM 32

/* Returns the text's size. */
size_t shortest_print(char text[SHORTEST_ROOM], double value);

/*
 * How a number that is not finite is called, as in the JSON of Protocol Buffers: "NaN", "Infinity" or
 * "-Infinity"; NULL if it is finite.
 */
const char *shortest_word(double value);

#endif
