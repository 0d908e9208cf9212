/* SPDX-License-Identifier: BSD-2-Clause */
#include "rows.h"

#include "printable.h"

/* Columns that are lined up; what is wider goes over. */
#define NAME_COLUMNS 48
#define SERVICE_COLUMNS 24
#define BAR_COLUMNS 20

void row_free(void *data)
{
	struct row *row = data;

	g_free(row->prefix);
	g_free(row->name);
	g_free(row->service);
	g_free(row->offset);
	g_free(row->duration);
	g_free(row->remark);
	g_free(row);
}

void rows_paint(struct buffer *out, const struct rows_style *style, const char *colour, const char *text)
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

static struct columns measure(const GPtrArray *rows, int64_t total, const struct rows_style *style)
{
	struct columns columns = {0};
	int all;

	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows, i);

		if (row->detail)
			continue;
		widen(&columns.name, printable_width(row->prefix) + printable_width(row->name), NAME_COLUMNS);
		widen(&columns.service, printable_width(row->service), SERVICE_COLUMNS);
		widen(&columns.kind, printable_width(row->kind), SERVICE_COLUMNS);
		widen(&columns.offset, printable_width(row->offset), SERVICE_COLUMNS);
		widen(&columns.duration, printable_width(row->duration), SERVICE_COLUMNS);
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

static void put_bar(struct buffer *out, int64_t total, const struct row *row)
{
	double scale = (double)BAR_COLUMNS / (double)total;
	int from = (int)((double)row->start * scale);
	int to = (int)(((double)row->start + (double)row->length) * scale + 0.5);

	if (row->length < 0)
		return;
	from = CLAMP(from, 0, BAR_COLUMNS - 1);
	put_spaces(out, from);
	if (to <= from)
		buffer_printf(out, "▏");
	for (int i = from; i < to && i < BAR_COLUMNS; i++)
		buffer_printf(out, "█");
}

static void put_span_row(struct buffer *out, int64_t total, const struct row *row,
	const struct columns *columns, const struct rows_style *style)
{
	buffer_printf(out, "%s", row->prefix);
	rows_paint(out, style, "1", row->name);
	put_spaces(out, columns->name - printable_width(row->prefix) - printable_width(row->name));
	if (columns->service) {
		buffer_printf(out, "  ");
		rows_paint(out, style, "36", row->service);
		put_spaces(out, columns->service - printable_width(row->service));
	}
	if (columns->kind)
		buffer_printf(out, "  %-*s", columns->kind, row->kind);
	put_spaces(out, 2 + columns->offset - printable_width(row->offset));
	buffer_printf(out, "%s", row->offset);
	put_spaces(out, 2 + columns->duration - printable_width(row->duration));
	buffer_printf(out, "%s", row->duration);
	if (columns->bar && row->length >= 0) {
		buffer_printf(out, "  ");
		put_bar(out, total, row);
	}
	if (row->remark) {
		buffer_printf(out, "  ");
		rows_paint(out, style, "33", row->remark);
	}
	buffer_printf(out, "\n");
}

void rows_put(struct buffer *out, const GPtrArray *rows, int64_t total, const struct rows_style *style)
{
	struct columns columns = measure(rows, total, style);

	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows, i);

		if (!row->detail) {
			put_span_row(out, total, row, &columns, style);
			continue;
		}
		buffer_printf(out, "%s", row->prefix);
		rows_paint(out, style, "2", row->name);
		buffer_printf(out, "\n");
	}
}
