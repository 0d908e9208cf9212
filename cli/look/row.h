/* SPDX-License-Identifier: BSD-2-Clause */
/* A line that is put together from pieces in colours, and ends at the edge of the screen. */
#ifndef LOOK_ROW_H
#define LOOK_ROW_H

#include "base/buffer.h"
#include "look/style.h"

struct row {
	struct buffer *out;
	const struct trace_style *style;
	int left; /* columns */
};

/* Begins one of the style's width. */
struct row row_begin(struct buffer *out, const struct trace_style *style);

/*
 * Appends printable text, with spaces up to @width columns if it has fewer, and as much of it as there is
 * room for. @colour is what stands between "ESC [" and "m"; NULL: none.
 */
void row_put(struct row *row, const char *colour, const char *text, int width);

/* The same with the spaces before it. */
void row_put_right(struct row *row, const char *colour, const char *text, int width);

/* The same, where text that is wider than @width is cut to it, unless the style is wide or has no width. */
void row_put_cut(struct row *row, const char *colour, const char *text, int width);

#endif
