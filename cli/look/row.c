/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/row.h"

#include <limits.h>

#include <glib.h>

#include "look/fit.h"
#include "printable.h"

struct row row_begin(struct buffer *out, const struct trace_style *style)
{
	bool cuts = style->width > 0 && !style->folding.wide;

	return (struct row){out, style, cuts ? style->width : INT_MAX};
}

static void put_spaces(struct row *row, int count)
{
	count = MIN(count, row->left);
	if (count <= 0)
		return;
	buffer_printf(row->out, "%*s", count, "");
	row->left -= count;
}

/* In @colour, if the style has colours. */
static void paint(struct buffer *out, const struct trace_style *style, const char *colour, const char *text)
{
	if (style->colour && *text)
		buffer_printf(out, "\033[%sm%s\033[0m", colour, text);
	else
		buffer_printf(out, "%s", text);
}

/* Appends what fits of it. */
static void put_text(struct row *row, const char *colour, const char *text)
{
	struct buffer fitted = {0};

	if (row->left <= 0 || !*text)
		return;
	row->left -= fit_put(&fitted, text, row->left);
	buffer_put(&fitted, "", 1);
	if (colour)
		paint(row->out, row->style, colour, (const char *)fitted.data);
	else
		buffer_put(row->out, fitted.data, fitted.size - 1);
	buffer_free(&fitted);
}

void row_put(struct row *row, const char *colour, const char *text, int width)
{
	put_text(row, colour, text);
	put_spaces(row, width - printable_width(text));
}

void row_put_right(struct row *row, const char *colour, const char *text, int width)
{
	put_spaces(row, width - printable_width(text));
	put_text(row, colour, text);
}

void row_put_cut(struct row *row, const char *colour, const char *text, int width)
{
	struct buffer cut = {0};

	if (row->left == INT_MAX || printable_width(text) <= width || row->left <= width) {
		row_put(row, colour, text, width);
		return;
	}
	fit_put(&cut, text, width);
	buffer_put(&cut, "", 1);
	row_put(row, colour, (const char *)cut.data, width);
	buffer_free(&cut);
}
