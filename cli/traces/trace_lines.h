/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the lines of a trace: aligned columns, bars, colours. trace_print.h decides on their contents. */
#ifndef TRACES_TRACE_LINES_H
#define TRACES_TRACE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "look/style.h"

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

#endif
