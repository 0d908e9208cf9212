/* SPDX-License-Identifier: BSD-2-Clause */
#include "traces/trace_lines.h"

#include "printable.h"

/* Width of the aligned columns; wider text is not cut off. */
#define NAME_COLUMNS 48
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

void trace_lines_paint(
	struct buffer *out, const struct trace_style *style, const char *colour, const char *text)
{
	if (style->colour && *text)
		buffer_printf(out, "\033[%sm%s\033[0m", colour, text);
	else
		buffer_printf(out, "%s", text);
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

static void put_span_line(struct buffer *out, int64_t total, const struct trace_line *line,
	const struct columns *columns, const struct trace_style *style)
{
	buffer_printf(out, "%s", line->prefix);
	trace_lines_paint(out, style, "1", line->name);
	put_spaces(out, columns->name - printable_width(line->prefix) - printable_width(line->name));
	if (columns->service) {
		buffer_printf(out, "  ");
		trace_lines_paint(out, style, "36", line->service);
		put_spaces(out, columns->service - printable_width(line->service));
	}
	if (columns->kind)
		buffer_printf(out, "  %-*s", columns->kind, line->kind);
	put_spaces(out, 2 + columns->offset - printable_width(line->offset));
	buffer_printf(out, "%s", line->offset);
	put_spaces(out, 2 + columns->duration - printable_width(line->duration));
	buffer_printf(out, "%s", line->duration);
	if (columns->bar && line->length >= 0) {
		buffer_printf(out, "  ");
		put_bar(out, total, line);
	}
	if (line->remark) {
		buffer_printf(out, "  ");
		trace_lines_paint(out, style, "33", line->remark);
	}
	buffer_printf(out, "\n");
}

void trace_lines_put(
	struct buffer *out, const GPtrArray *lines, int64_t total, const struct trace_style *style)
{
	struct columns columns = measure(lines, total, style);

	for (guint i = 0; i < lines->len; i++) {
		const struct trace_line *line = g_ptr_array_index(lines, i);

		if (!line->detail) {
			put_span_line(out, total, line, &columns, style);
			continue;
		}
		buffer_printf(out, "%s", line->prefix);
		trace_lines_paint(out, style, "2", line->name);
		buffer_printf(out, "\n");
	}
}
