/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines that a trace is drawn with: columns lined up, bars, colours. What they say, the tree decides. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

struct rows_style {
	bool colour;
	int width; /* columns of the terminal; 0: not one, and no bars */
};

/* A line of a span, its columns as text; or of an annotation or tag, then with nothing but prefix and name.
 */
struct row {
	bool detail;
	char *prefix;
	char *name;
	char *service;
	const char *kind;
	char *offset;
	char *duration;
	char *remark;          /* NULL: none */
	int64_t start, length; /* for the bar; length -1: none */
};

/* For GPtrArray's free function. */
void row_free(void *row);

/* Appends @rows (of struct row) of a trace that took @total µs. */
void rows_put(struct buffer *out, const GPtrArray *rows, int64_t total, const struct rows_style *style);

/* Appends @text in @colour (what stands between "ESC [" and "m"), if the style has colours. */
void rows_paint(struct buffer *out, const struct rows_style *style, const char *colour, const char *text);

#endif
