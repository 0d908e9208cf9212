/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON text, written into a buffer piece by piece. Commas come by themselves; braces and brackets are the
 * caller's to pair. No state but the text: a comma is due unless the last byte opens something, is a colon,
 * or ended a line.
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

/* A string of @size bytes, NUL among them if need be. Control characters are escaped, invalid UTF-8 becomes
 * U+FFFD. */
void json_string(struct buffer *out, const char *text, size_t size);

/* The same for a C string. */
void json_text(struct buffer *out, const char *text);

void json_int(struct buffer *out, int64_t value);
void json_bool(struct buffer *out, bool value);
void json_null(struct buffer *out);

/* With six digits behind the point at most; what JSON has no number for (infinity, NaN) is written as null.
 */
void json_double(struct buffer *out, double value);

#endif
