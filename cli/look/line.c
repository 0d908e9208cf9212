/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/line.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "look/fit.h"
#include "look/wanted.h"
#include "printable.h"

#define TIME_COLUMNS 12
#define DURATION_COLUMNS 9
#define SERVICE_COLUMNS 14
#define NAME_COLUMNS 20
#define VALUE_MAX_SHOWN 1000

/* What is appended, and how many columns are left. */
struct line {
	struct buffer *out;
	const struct trace_style *style;
	int left;
};

/* Appends text of its width at least, if that is above 0, and as much of it as there is room for. */
static void put(struct line *line, const char *colour, const char *text, int width)
{
	struct buffer fitted = {0};
	int columns = MAX(printable_width(text), width);

	if (line->left <= 0)
		return;
	columns = MIN(columns, line->left);
	fit_put_left(&fitted, text, columns);
	buffer_put(&fitted, "", 1);
	trace_lines_paint(line->out, line->style, colour, (const char *)fitted.data);
	line->left -= columns;
	buffer_free(&fitted);
}

static void put_text(struct line *line, const char *colour, const char *text, int width)
{
	g_autofree char *shown = printable_copy(text, strlen(text), VALUE_MAX_SHOWN);

	put(line, colour, shown, width);
}

static void put_when(struct line *line, const struct span2 *span)
{
	int64_t end = span->timestamp + span->duration;
	time_t second = (time_t)(end / 1000000);
	char text[64], when[32] = "-";
	struct tm local;

	if (span->timestamp && localtime_r(&second, &local) && strftime(when, sizeof(when), "%T", &local))
		snprintf(text, sizeof(text), "%s.%03d ", when, (int)(end / 1000 % 1000));
	else
		snprintf(text, sizeof(text), "- ");
	put(line, "2", text, TIME_COLUMNS + 1);
}

static void put_duration(struct line *line, const struct span2 *span)
{
	struct buffer time = {0}, text = {0};

	if (span->duration)
		printable_put_time(&time, span->duration);
	else
		buffer_printf(&time, "-");
	buffer_put(&time, "", 1);
	fit_put_right(&text, (const char *)time.data,
		MAX(DURATION_COLUMNS, printable_width((const char *)time.data)));
	buffer_put(&text, "", 1);
	put(line, "0", (const char *)text.data, DURATION_COLUMNS);
	buffer_free(&time);
	buffer_free(&text);
}

static void put_trace(struct line *line, const struct span2 *span)
{
	char text[48];

	if (span->trace_id_high)
		snprintf(text, sizeof(text), "  %016" PRIx64 "%016" PRIx64, span->trace_id_high,
			span->trace_id);
	else
		snprintf(text, sizeof(text), "  %016" PRIx64, span->trace_id);
	put(line, "2", text, 0);
}

static void put_tag(struct line *line, const struct span2_tag *tag)
{
	bool error = !strcmp(tag->key, "error");
	struct buffer text = {0};

	printable_put(&text, tag->key, strlen(tag->key), VALUE_MAX_SHOWN);
	buffer_printf(&text, "=");
	printable_put(&text, tag->value, tag->value_size, VALUE_MAX_SHOWN);
	buffer_put(&text, "", 1);
	put(line, "0", "  ", 0);
	put(line, error ? "31" : "0", (const char *)text.data, 0);
	buffer_free(&text);
}

void line_put(struct buffer *out, const struct span2 *span, const struct trace_style *style)
{
	struct line line = {out, style, style->width ? style->width : INT_MAX};
	bool error = wanted_has_error(span);

	put_when(&line, span);
	put_duration(&line, span);
	put(&line, "1;31", error ? " ✗ " : "   ", 0);
	put_text(&line, "36", span->local && span->local->service ? span->local->service : "-",
		SERVICE_COLUMNS);
	put(&line, "0", "  ", 0);
	put_text(&line, error ? "1;31" : "1", span->name ? span->name : "(no name)", NAME_COLUMNS);
	if (span->kind) {
		put(&line, "0", "  ", 0);
		put(&line, "0", span2_kind_name(span->kind), 0);
	}
	put_trace(&line, span);
	for (guint i = 0; i < span->tags->len; i++)
		put_tag(&line, &g_array_index(span->tags, struct span2_tag, i));
	buffer_printf(out, "\n");
}
