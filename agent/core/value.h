/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists and maps as values of tags (core/span.h): their values, one after the other. Each is
 *     u8      its enum tag_type
 *     number  how long its key is, and the key: in maps only
 *     number  how long its value is, and the value, as that of a tag of the type
 * with numbers as varints. No thread, no state.
 */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "core/span.h"

/* Nested deeper, a value is none: whoever reads one may do so by recursion. */
#define VALUE_DEPTH_MAX 32

/* Appends a value; a list has no keys. */
void value_put(struct buffer *out, bool in_map, const struct tag *value);

/* Begins a value that is a list or a map, whose values come next; value_close ends it, and wants what this
 * returns. Some bytes may move then: none before the value. */
size_t value_open(struct buffer *out, bool in_map, struct text key, enum tag_type type);
void value_close(struct buffer *out, size_t begin);

/* Takes the next value off @rest, the value of a TAG_LIST or TAG_MAP; false: there is none, or what is left
 * is damaged, and then @rest is not empty. It borrows from @rest. */
bool value_next(struct text *rest, bool in_map, struct tag *value);

#endif
