/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the lines of a trace: aligned columns, bars, colours. trace_print.h decides on their contents. */
#ifndef TRACES_TRACE_LINES_H
#define TRACES_TRACE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

/* What is left out of a trace. Zeros: nothing, but for what does not fit the terminal. */
struct trace_folding {
	bool wide;            /* nor that */
	unsigned depth;       /* spans deeper than that; 0: none */
	int64_t min_duration; /* those without a span that took so long, µs */
};

struct trace_style {
	bool colour;
	int width; /* columns of the terminal; 0: not one, and no bars */
	struct trace_folding folding;
};

/* A line of a span, its columns as text; or of an annotation or tag, with only prefix and name. */
struct trace_line {
	bool detail;
	bool error; /* it stands out */
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
void trace_line_free(void *line);

/* Appends @lines (of struct trace_line) of a trace that took @total µs. */
void trace_lines_put(
	struct buffer *out, const GPtrArray *lines, int64_t total, const struct trace_style *style);

/* Appends @text in @colour (the part between "ESC [" and "m"), if the style has colours. */
void trace_lines_paint(
	struct buffer *out, const struct trace_style *style, const char *colour, const char *text);

#endif
