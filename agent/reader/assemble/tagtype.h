/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of tags, as blkin/span.h marks them: a key begins with '#' and a letter. "#i" is an integer, "#d" a
 * floating-point number, "#b" a truth value; "#s" is in front of a text's key that begins with '#' itself.
 */
#ifndef READER_ASSEMBLE_TAGTYPE_H
#define READER_ASSEMBLE_TAGTYPE_H

#include "core/span.h"

/* Reads the mark of a tag whose key begins with '#', and takes it off. */
void tag_read_mark(struct tag *tag);

/*
 * Sets the type that @letter means: 't' a text, 'i', 'd' and 'b' as above, 'n' none. A value that is not of
 * it is a text.
 */
void tag_set_type(struct tag *tag, char letter);

/* The tag, without its mark. A value that is not of its type makes a text of it, whose key has the mark. */
static inline void tag_read(struct tag *tag, struct text key, struct text value)
{
	*tag = (struct tag){key, value, TAG_TEXT};
	if (key.size && *key.data == '#')
		tag_read_mark(tag);
}

#endif
