/* SPDX-License-Identifier: BSD-2-Clause */
#include "traces/trace_lines.h"

#include <limits.h>

#include "look/row.h"
#include "printable.h"

/* Width of the aligned columns; on a terminal, wider text is cut. */
#define NAME_COLUMNS 48
#define NAME_COLUMNS_MIN 16
#define SERVICE_COLUMNS_MIN 8
#define SERVICE_COLUMNS 24
#define BAR_COLUMNS 20

void trace_line_free(void *data)
{
	struct trace_line *line = data;

	g_free(line->prefix);
	g_free(line->name);
	g_free(line->service);
	g_free(line->offset);
	g_free(line->duration);
	g_free(line->remark);
	g_free(line);
}

/* Columns of a trace's lines. */
struct columns {
	int name, service, kind, offset, duration;
	bool bar;
};

static void widen(int *column, int width, int most)
{
	if (width > *column)
		*column = width < most ? width : most;
}

static int width_of(const struct columns *columns)
{
	return columns->name + columns->service + columns->kind + columns->offset + columns->duration +
	       2 * ((columns->service > 0) + (columns->kind > 0) + (columns->offset > 0) + 1);
}

static void shrink(int *column, int excess, int least)
{
	if (excess > 0)
		*column = MIN(*column, MAX(*column - excess, least));
}

/* Names give way first, then services; then columns are left out, but for the name and the duration. */
static void narrow(struct columns *columns, int width)
{
	shrink(&columns->name, width_of(columns) - width, NAME_COLUMNS_MIN);
	shrink(&columns->service, width_of(columns) - width, SERVICE_COLUMNS_MIN);
	if (width_of(columns) > width)
		columns->kind = 0;
	if (width_of(columns) > width)
		columns->offset = 0;
	shrink(&columns->service, width_of(columns) - width, 0);
	shrink(&columns->name, width_of(columns) - width, 1);
}

static struct columns measure(const GPtrArray *lines, int64_t total, const struct trace_style *style)
{
	struct columns columns = {0};
	int all;

	for (guint i = 0; i < lines->len; i++) {
		const struct trace_line *line = g_ptr_array_index(lines, i);

		if (line->detail)
			continue;
		widen(&columns.name, printable_width(line->prefix) + printable_width(line->name),
			NAME_COLUMNS);
		widen(&columns.service, printable_width(line->service), SERVICE_COLUMNS);
		widen(&columns.kind, printable_width(line->kind), SERVICE_COLUMNS);
		widen(&columns.offset, printable_width(line->offset), SERVICE_COLUMNS);
		widen(&columns.duration, printable_width(line->duration), SERVICE_COLUMNS);
	}
	all = columns.name + columns.service + columns.kind + columns.offset + columns.duration + 5 * 2 +
	      BAR_COLUMNS;
	columns.bar = all <= style->width && total > 0;
	if (style->width && !style->folding.wide)
		narrow(&columns, style->width);
	return columns;
}

static void put_spaces(struct buffer *out, int spaces)
{
	if (spaces > 0)
		buffer_printf(out, "%*s", spaces, "");
}

static void put_bar(struct buffer *out, int64_t total, const struct trace_line *line)
{
	double scale = (double)BAR_COLUMNS / (double)total;
	int from = (int)((double)line->start * scale);
	int to = (int)(((double)line->start + (double)line->length) * scale + 0.5);

	if (line->length < 0)
		return;
	from = CLAMP(from, 0, BAR_COLUMNS - 1);
	put_spaces(out, from);
	if (to <= from)
		buffer_printf(out, "▏");
	for (int i = from; i < to && i < BAR_COLUMNS; i++)
		buffer_printf(out, "█");
}

/* The guides on the way to a deep span: if they leave no room for its name, those of the outermost are left
 * out. */
static void put_prefix(struct row *row, const char *prefix, int most)
{
	int width = printable_width(prefix);

	if (row->left == INT_MAX || width <= most || most < 1) {
		row_put(row, NULL, prefix, 0);
		return;
	}
	for (; width > most - 1; width--)
		prefix = g_utf8_next_char(prefix);
	row_put(row, NULL, "‹", 0);
	row_put(row, NULL, prefix, 0);
}

static void put_name(struct row *row, const struct trace_line *line, const struct columns *columns)
{
	int before = row->left, prefix = printable_width(line->prefix);
	bool fits = prefix + printable_width(line->name) <= columns->name;

	put_prefix(row, line->prefix, fits ? prefix : columns->name - NAME_COLUMNS_MIN / 2);
	prefix = before - row->left;
	row_put_cut(row, line->error ? "1;31" : "1", line->name, MAX(0, columns->name - prefix));
}

static void put_span_line(struct buffer *out, int64_t total, const struct trace_line *line,
	const struct columns *columns, const struct trace_style *style)
{
	struct row row = row_begin(out, style);

	put_name(&row, line, columns);
	if (columns->service) {
		row_put(&row, NULL, "  ", 0);
		row_put_cut(&row, "36", line->service, columns->service);
	}
	if (columns->kind) {
		row_put(&row, NULL, "  ", 0);
		row_put(&row, NULL, line->kind, columns->kind);
	}
	if (columns->offset)
		row_put_right(&row, NULL, line->offset, 2 + columns->offset);
	row_put_right(&row, NULL, line->duration, 2 + columns->duration);
	if (columns->bar && line->length >= 0) {
		struct buffer bar = {0};

		put_bar(&bar, total, line);
		buffer_put(&bar, "", 1);
		row_put(&row, NULL, "  ", 0);
		row_put(&row, line->error ? "31" : NULL, (const char *)bar.data,
			line->remark ? BAR_COLUMNS : 0);
		buffer_free(&bar);
	}
	if (line->remark) {
		row_put(&row, NULL, "  ", 0);
		row_put(&row, "33", line->remark, 0);
	}
	buffer_printf(out, "\n");
}

static void put_detail(struct buffer *out, const struct trace_line *line, const struct trace_style *style)
{
	struct row row = row_begin(out, style);

	put_prefix(&row, line->prefix, style->width / 2);
	row_put(&row, line->error ? "31" : "2", line->name, 0);
	buffer_printf(out, "\n");
}

void trace_lines_put(
	struct buffer *out, const GPtrArray *lines, int64_t total, const struct trace_style *style)
{
	struct columns columns = measure(lines, total, style);

	for (guint i = 0; i < lines->len; i++) {
		const struct trace_line *line = g_ptr_array_index(lines, i);

		if (line->detail)
			put_detail(out, line, style);
		else
			put_span_line(out, total, line, &columns, style);
	}
}
