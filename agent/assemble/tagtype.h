/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of tags, as blkin/span.h marks them: a key begins with '#' and a letter. "#i" is an integer, "#d" a
 * floating-point number, "#b" a truth value; "#s" is in front of a text's key that begins with '#' itself.
 */
#ifndef ASSEMBLE_TAGTYPE_H
#define ASSEMBLE_TAGTYPE_H

#include "core/span.h"

/* tag_read's, of a key that begins with '#'. */
struct tag tag_read_marked(struct text key, struct text value);

/* The tag, without its mark. A value that is not of its type makes a text of it, whose key has the mark. */
static inline struct tag tag_read(struct text key, struct text value)
{
	if (!key.size || *key.data != '#')
		return (struct tag){key, value, TAG_TEXT};
	return tag_read_marked(key, value);
}

#endif
