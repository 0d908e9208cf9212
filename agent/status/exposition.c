/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/exposition.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

#define TOTAL "_total"

/* Which form */

/* A media range's weight: its parameter q, from 0 to 1. */
static double weight_of(const char *range)
{
	g_auto(GStrv) parameters = g_strsplit(range, ";", -1);

	for (char **parameter = parameters; *parameter; parameter++) {
		const char *text = g_strstrip(*parameter);

		if (g_str_has_prefix(text, "q="))
			return CLAMP(g_ascii_strtod(text + 2, NULL), 0, 1);
	}
	return 1;
}

static bool names_type(const char *range, const char *type)
{
	size_t size = strlen(type);

	return g_ascii_strncasecmp(range, type, size) == 0 && strchr("; \t", range[size]);
}

/* The greatest weight of a type's versions that we speak; 0: it is not wanted. */
static double weight_for(char **ranges, const char *type, const char *version)
{
	double most = 0;

	for (char **range = ranges; *range; range++) {
		const char *said = strstr(*range, "version=");

		if (names_type(*range, type) && (!said || g_str_has_prefix(said + 8, version)))
			most = MAX(most, weight_of(*range));
	}
	return most;
}

enum exposition exposition_wanted(const char *accept)
{
	g_auto(GStrv) ranges = g_strsplit(accept ? accept : "", ",", -1);
	double open;

	for (char **range = ranges; *range; range++)
		g_strstrip(*range);
	open = weight_for(ranges, "application/openmetrics-text", "1.");
	return open > 0 && open >= weight_for(ranges, "text/plain", "0.0.4") ? EXPOSITION_OPENMETRICS
									     : EXPOSITION_TEXT;
}

const char *exposition_type(enum exposition form)
{
	return form == EXPOSITION_OPENMETRICS ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					      : "text/plain; version=0.0.4; charset=utf-8";
}

/* Writing */

/* OpenMetrics names a counter without its end. */
static int head_size(enum exposition form, const char *name, const char *type)
{
	bool cut =
		form == EXPOSITION_OPENMETRICS && !strcmp(type, "counter") && g_str_has_suffix(name, TOTAL);

	return (int)(strlen(name) - (cut ? strlen(TOTAL) : 0));
}

void exposition_head(
	struct buffer *out, enum exposition form, const char *name, const char *type, const char *help)
{
	int size = head_size(form, name, type);

	buffer_printf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", size, name, help, size, name, type);
}

void exposition_label(struct buffer *out, const char *text)
{
	g_autofree char *shown = words_show(text);

	for (const char *at = shown; *at; at++) {
		if (*at == '"' || *at == '\\')
			buffer_put(out, "\\", 1);
		buffer_put(out, at, 1);
	}
}

/* Converting */

/* "# TYPE name type", to which the HELP before it belongs. */
struct head {
	char *name, *help, *type;
};

static void clear_head(struct head *head)
{
	g_free(head->name);
	g_free(head->help);
	g_free(head->type);
	*head = (struct head){0};
}

/* Reads a line of a head; true once the head is whole. */
static bool take_head(struct head *head, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 4);
	bool type = !strcmp(words[1], "TYPE");

	if (type) {
		head->type = g_strdup(words[3]);
		return true;
	}
	clear_head(head);
	head->name = g_strdup(words[2]);
	head->help = g_strdup(words[3]);
	return false;
}

/* The names that gauges have: a counter whose name without its end is one of them cannot be called so. */
static GHashTable *gauges_of(char **lines)
{
	GHashTable *gauges = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (; *lines; lines++)
		if (g_str_has_prefix(*lines, "# TYPE ") && g_str_has_suffix(*lines, " gauge"))
			g_hash_table_add(gauges, g_strndup(*lines + 7, strlen(*lines) - 13));
	return gauges;
}

static void convert_head(struct buffer *out, const struct head *head, GHashTable *gauges)
{
	g_autofree char *stem =
		g_strndup(head->name, (size_t)head_size(EXPOSITION_OPENMETRICS, head->name, head->type));
	bool taken = strcmp(stem, head->name) != 0 && g_hash_table_contains(gauges, stem);

	exposition_head(out, EXPOSITION_OPENMETRICS, head->name, taken ? "unknown" : head->type, head->help);
}

/* A bucket's bound is a number with a point there: le="1.0". */
static void convert_sample(struct buffer *out, const char *line)
{
	const char *bound = strstr(line, "le=\""), *end = bound ? strchr(bound + 4, '"') : NULL;

	if (end && strcspn(bound + 4, ".e+\"") == (size_t)(end - bound - 4))
		buffer_printf(out, "%.*s.0%s\n", (int)(end - line), line, end);
	else
		buffer_printf(out, "%s\n", line);
}

void exposition_convert(struct buffer *out, const struct buffer *text)
{
	g_autofree char *all = g_strndup((const char *)text->data, text->size);
	g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
	g_autoptr(GHashTable) gauges = gauges_of(lines);
	struct head head = {0};

	for (char **line = lines; *line; line++) {
		if (**line == '#' && take_head(&head, *line))
			convert_head(out, &head, gauges);
		else if (**line && **line != '#')
			convert_sample(out, *line);
	}
	clear_head(&head);
}
