/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading JSON (RFC 8259), value by value: the caller knows what has to come. The first thing that is wrong
 * sets `failed`, and from there on nothing comes any more.
 *
 *     while (jsonread_key(&from, &key)) {
 *             if (is(key, "port"))
 *                     port = jsonread_number(&from);
 *             else
 *                     jsonread_skip(&from);
 *     }
 */
#ifndef ENCODE_JSONREAD_H
#define ENCODE_JSONREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct jsonread {
	const char *at, *end;
	char *room; /* for texts with escapes: as many bytes as are read will do */
	bool failed;
	bool inside; /* an object or list, of which something was read */
};

/* Opens an object or a list: @bracket is '{' or '['. False if there is none. */
bool jsonread_open(struct jsonread *from, char bracket);

/* Goes to the next member of the object, and takes its key; false at its end, which is taken too. */
bool jsonread_key(struct jsonread *from, struct text *key);

/* Goes to the next element of the list; false at its end, which is taken too. */
bool jsonread_element(struct jsonread *from);

/* The text borrows from what is read, or from the room. */
struct text jsonread_text(struct jsonread *from);

/* A whole number that fits; anything else fails. */
int64_t jsonread_number(struct jsonread *from);

bool jsonread_bool(struct jsonread *from);

/* Whether the next value is null, which stays there. */
bool jsonread_is_null(struct jsonread *from);

/* Goes over any value. */
void jsonread_skip(struct jsonread *from);

/* Whether all of it was read, and was as it should be. */
bool jsonread_is_over(struct jsonread *from);

#endif
