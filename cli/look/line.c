/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "look/row.h"
#include "look/wanted.h"
#include "printable.h"

#define TIME_COLUMNS 12
#define DURATION_COLUMNS 9
#define SERVICE_COLUMNS 14
#define NAME_COLUMNS 20
#define VALUE_MAX_SHOWN 1000

static void put_text(struct row *line, const char *colour, const char *text, int width)
{
	g_autofree char *shown = printable_copy(text, strlen(text), VALUE_MAX_SHOWN);

	row_put(line, colour, shown, width);
}

static void put_when(struct row *line, const struct span2 *span)
{
	int64_t end = span->timestamp + span->duration;
	time_t second = (time_t)(end / 1000000);
	char text[64], when[32] = "-";
	struct tm local;

	if (span->timestamp && localtime_r(&second, &local) && strftime(when, sizeof(when), "%T", &local))
		snprintf(text, sizeof(text), "%s.%03d ", when, (int)(end / 1000 % 1000));
	else
		snprintf(text, sizeof(text), "- ");
	row_put(line, "2", text, TIME_COLUMNS + 1);
}

static void put_duration(struct row *line, const struct span2 *span)
{
	struct buffer time = {0};

	if (span->duration)
		printable_put_time(&time, span->duration);
	else
		buffer_printf(&time, "-");
	buffer_put(&time, "", 1);
	row_put_right(line, NULL, (const char *)time.data, DURATION_COLUMNS);
	buffer_free(&time);
}

static void put_trace(struct row *line, const struct span2 *span)
{
	char text[48];

	if (span->trace_id_high)
		snprintf(text, sizeof(text), "  %016" PRIx64 "%016" PRIx64, span->trace_id_high,
			span->trace_id);
	else
		snprintf(text, sizeof(text), "  %016" PRIx64, span->trace_id);
	row_put(line, "2", text, 0);
}

static void put_tag(struct row *line, const struct span2_tag *tag)
{
	bool error = !strcmp(tag->key, "error");
	struct buffer text = {0};

	printable_put(&text, tag->key, strlen(tag->key), VALUE_MAX_SHOWN);
	buffer_printf(&text, "=");
	printable_put(&text, tag->value, tag->value_size, VALUE_MAX_SHOWN);
	buffer_put(&text, "", 1);
	row_put(line, NULL, "  ", 0);
	row_put(line, error ? "31" : NULL, (const char *)text.data, 0);
	buffer_free(&text);
}

void line_put(struct buffer *out, const struct span2 *span, const struct trace_style *style)
{
	struct row line = row_begin(out, style);
	bool error = wanted_has_error(span);

	put_when(&line, span);
	put_duration(&line, span);
	row_put(&line, "1;31", error ? " ✗ " : "   ", 0);
	put_text(&line, "36", span->local && span->local->service ? span->local->service : "-",
		SERVICE_COLUMNS);
	row_put(&line, NULL, "  ", 0);
	put_text(&line, error ? "1;31" : "1", span->name ? span->name : "(no name)", NAME_COLUMNS);
	if (span->kind) {
		row_put(&line, NULL, "  ", 0);
		row_put(&line, NULL, span2_kind_name(span->kind), 0);
	}
	put_trace(&line, span);
	for (guint i = 0; i < span->tags->len; i++)
		put_tag(&line, &g_array_index(span->tags, struct span2_tag, i));
	buffer_printf(out, "\n");
}
