/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "look/fit.h"
#include "printable.h"

/* Names get this many columns at least, before a figure is shown; and no more than that, where there is no
 * screen. */
#define NAMES_MIN 20
#define NAME_MAX_COLUMNS 60

static const struct column {
	const char *title;
	int width, importance; /* the lowest is left out first */
	enum ranking_key key;
	bool of_programs;
} columns[] = {
	{"SPANS/S", 8, 8, RANKING_RATE, true},
	{"SPANS", 10, 1, RANKING_COUNT, true},
	{"MEAN", 8, 4, RANKING_MEAN, true},
	{"P50", 8, 2, RANKING_P50, false},
	{"P99", 8, 7, RANKING_P99, false},
	{"MAX", 8, 3, RANKING_MAX, true},
	{"ERRORS", 7, 6, RANKING_ERRORS, true},
	{"TIME", 6, 5, RANKING_SHARE, true},
};

#define COLUMNS G_N_ELEMENTS(columns)

struct layout {
	bool shown[COLUMNS];
	int group, name; /* widths */
};

/* Figures */

static void put_scaled(struct buffer *out, double value)
{
	static const char *const units[] = {"", "k", "M", "G", "T"};
	size_t unit = 0;

	if (value < 9.95) {
		buffer_printf(out, "%.1f", value);
		return;
	}
	for (; value >= 99950 && unit + 1 < G_N_ELEMENTS(units); unit++)
		value /= 1000;
	buffer_printf(out, "%.0f%s", value, units[unit]);
}

static void put_time(struct buffer *out, double us)
{
	if (isnan(us))
		buffer_printf(out, "-");
	else if (us < 9.995)
		buffer_printf(out, "%.2f µs", us);
	else if (us >= 60e6)
		buffer_printf(out, us < 3600e6 ? "%.0f min" : "%.0f h", us / (us < 3600e6 ? 60e6 : 3600e6));
	else
		printable_put_time(out, (int64_t)(us + 0.5));
}

static void put_value(struct buffer *out, const struct figures *figures, enum ranking_key key)
{
	switch (key) {
	case RANKING_RATE:
		put_scaled(out, figures->rate);
		break;
	case RANKING_COUNT:
		buffer_printf(out, "%" PRIu64, figures->count);
		break;
	case RANKING_ERRORS:
		buffer_printf(out, figures->errors ? "%" PRIu64 : "-", figures->errors);
		break;
	case RANKING_SHARE:
		buffer_printf(out, "%.1f %%", figures->share * 100);
		break;
	case RANKING_MEAN:
		put_time(out, figures->mean);
		break;
	case RANKING_P50:
		put_time(out, figures->p50);
		break;
	case RANKING_P99:
		put_time(out, figures->p99);
		break;
	default:
		put_time(out, figures->max);
	}
	buffer_put(out, "", 1);
}

/* Layout */

static int width_of(const struct layout *layout)
{
	int width = layout->group + 1 + layout->name;

	for (size_t i = 0; i < COLUMNS; i++)
		width += layout->shown[i] ? columns[i].width + 1 : 0;
	return width;
}

static void leave_one_out(struct layout *layout)
{
	size_t least = COLUMNS;

	for (size_t i = 0; i < COLUMNS; i++)
		if (layout->shown[i] &&
			(least == COLUMNS || columns[i].importance < columns[least].importance))
			least = i;
	if (least < COLUMNS)
		layout->shown[least] = false;
}

static bool shows_any(const struct layout *layout)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (layout->shown[i])
			return true;
	return false;
}

/* The names share what the figures leave; neither gets more than its longest text. */
static void share_names(struct layout *layout, int longest_group, int longest_name, int room)
{
	layout->group = MIN(longest_group, MAX(room * 2 / 5, room - 1 - longest_name));
	layout->name = MAX(1, MIN(longest_name, room - 1 - layout->group));
}

static struct layout lay_out(const struct table *table)
{
	struct layout layout = {.group = NAMES_MIN * 2 / 5, .name = NAMES_MIN * 3 / 5};
	int group = (int)strlen("PROGRAM"), name = (int)strlen("PID USER"), room;

	for (size_t i = 0; i < COLUMNS; i++)
		layout.shown[i] = !table->programs || columns[i].of_programs;
	for (guint i = 0; i < table->rows->len; i++) {
		const struct ranked *row = &g_array_index(table->rows, struct ranked, i);

		group = MAX(group, MIN(printable_width(row->group), NAME_MAX_COLUMNS));
		name = MAX(name, MIN(printable_width(row->name), NAME_MAX_COLUMNS));
	}
	if (!table->width) {
		layout.group = group;
		layout.name = name;
		return layout;
	}
	while (width_of(&layout) > table->width && shows_any(&layout))
		leave_one_out(&layout);
	room = table->width - (width_of(&layout) - layout.group - 1 - layout.name);
	share_names(&layout, group, name, MAX(room, 4));
	return layout;
}

/* Drawing */

static void put_names(struct buffer *out, const struct layout *layout, const char *group, const char *name)
{
	fit_put_left(out, group, layout->group);
	buffer_printf(out, " ");
	fit_put_left(out, name, layout->name);
}

static void draw_titles(struct buffer *out, const struct table *table, const struct layout *layout)
{
	if (table->colour)
		buffer_printf(out, "\033[7m");
	put_names(
		out, layout, table->programs ? "PROGRAM" : "SERVICE", table->programs ? "PID USER" : "SPAN");
	for (size_t i = 0; i < COLUMNS; i++) {
		bool marked = columns[i].key == table->key && table->colour;

		if (!layout->shown[i])
			continue;
		buffer_printf(out, marked ? " \033[1m" : " ");
		fit_put_right(out, columns[i].title, columns[i].width);
		if (marked)
			buffer_printf(out, "\033[22m");
	}
	buffer_printf(out, table->colour ? "\033[0m\n" : "\n");
}

static void draw_row(
	struct buffer *out, const struct table *table, const struct layout *layout, const struct ranked *row)
{
	struct buffer value = {0};

	put_names(out, layout, row->group, row->name);
	for (size_t i = 0; i < COLUMNS; i++) {
		bool red = table->colour && columns[i].key == RANKING_ERRORS && row->figures.errors;

		if (!layout->shown[i])
			continue;
		value.size = 0;
		put_value(&value, &row->figures, columns[i].key);
		buffer_printf(out, red ? " \033[1;31m" : " ");
		fit_put_right(out, (const char *)value.data, columns[i].width);
		if (red)
			buffer_printf(out, "\033[0m");
	}
	buffer_printf(out, "\n");
	buffer_free(&value);
}

void table_draw(struct buffer *out, const struct table *table)
{
	struct layout layout = lay_out(table);

	draw_titles(out, table, &layout);
	for (guint i = table->first; i < table->rows->len && i - table->first < table->count; i++)
		draw_row(out, table, &layout, &g_array_index(table->rows, struct ranked, i));
}
