/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes as newer lines of a span's text have them (blkin/marks.h): a letter that says what type it
 * is, a key, '=', and a value. In keys and texts, a backslash and a letter stand for what a line cannot hold.
 * A list has '[' before the letter of its values, each of which ends with a comma.
 */
#ifndef READER_ASSEMBLE_SPANVALUE_H
#define READER_ASSEMBLE_SPANVALUE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "core/span.h"

/* The most that the texts within so many bytes need. */
#define SPANVALUE_TEXTS(size) (4 * (size_t)(size) + 128)

/*
 * Reads a text with escapes up to @end: it is borrowed, or written to @texts, which has room, so that nothing
 * moves. A backslash that begins no escape is one.
 */
struct text span_text_read(const char *at, const char *end, struct buffer *texts);

/* Reads an attribute up to @end, in the same way; false if it is none. */
bool span_value_read(struct tag *tag, const char *at, const char *end, struct buffer *texts);

#endif
