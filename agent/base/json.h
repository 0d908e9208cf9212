/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON text, written into a buffer piece by piece. Commas are added automatically; the caller must pair
 * braces and brackets. The only state is the text: a comma is needed unless the last byte opens something, is
 * a colon, or ends a line.
 *
 *     json_open(out, '{');
 *     json_key(out, "name");
 *     json_text(out, "get /");
 *     json_close(out, '}');
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* @bracket is '{' or '['; json_close takes '}' or ']'. */
void json_open(struct buffer *out, char bracket);
void json_close(struct buffer *out, char bracket);

/* A member's name; its value comes next. */
void json_key(struct buffer *out, const char *key);

/*
 * A string of @size bytes, which may include NUL. What words_shown replaces is escaped, invalid UTF-8 becomes
 * U+FFFD.
 */
void json_string(struct buffer *out, const char *text, size_t size);

/* The same for a C string. */
void json_text(struct buffer *out, const char *text);
/* Appends JSON, or a part of it, as it is; but codes in the place of what a terminal might obey, which can
 * only be in its texts. */
void json_copy(struct buffer *out, const char *json, size_t size);

void json_int(struct buffer *out, int64_t value);
void json_bool(struct buffer *out, bool value);
void json_null(struct buffer *out);

/* With at most six digits after the point. Infinity and NaN, which JSON cannot express, become null. */
void json_double(struct buffer *out, double value);

#endif
