/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/tailfilter.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

static const char malformed[] = "the question is malformed: the `blkin` that asks is of another version";

static void put_text(struct buffer *query, const char *key, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1),
			*escaped = g_uri_escape_string(valid, NULL, FALSE);

	if (*text)
		buffer_printf(query, "&%s=%s", key, escaped);
}

void tail_filter_put(struct buffer *query, const struct tail_filter *filter)
{
	buffer_printf(query, "min-duration=%" PRId64, filter->min_duration);
	put_text(query, "service", filter->service);
	put_text(query, "name", filter->name);
	if (filter->errors)
		buffer_printf(query, "&errors=1");
	if (filter->trace)
		buffer_printf(query, "&trace=%" PRIx64, filter->trace);
}

static bool get_field(const char *key, const char *value, struct tail_filter *filter)
{
	guint64 number;

	if (!strcmp(key, "service"))
		return g_strlcpy(filter->service, value, TAIL_FILTER_TEXT_MAX) < TAIL_FILTER_TEXT_MAX;
	if (!strcmp(key, "name"))
		return g_strlcpy(filter->name, value, TAIL_FILTER_TEXT_MAX) < TAIL_FILTER_TEXT_MAX;
	if (!strcmp(key, "errors"))
		return filter->errors = !strcmp(value, "1");
	if (!strcmp(key, "trace"))
		return g_ascii_string_to_unsigned(value, 16, 1, UINT64_MAX, &filter->trace, NULL);
	if (strcmp(key, "min-duration") != 0 ||
		!g_ascii_string_to_unsigned(value, 10, 0, INT64_MAX, &number, NULL))
		return false;
	filter->min_duration = (int64_t)number;
	return true;
}

const char *tail_filter_get(const char *query, struct tail_filter *filter)
{
	g_autoptr(GHashTable) parameters =
		g_uri_parse_params(query ? query : "", -1, "&", G_URI_PARAMS_NONE, NULL);
	gpointer key, value;
	GHashTableIter at;

	*filter = (struct tail_filter){0};
	if (!parameters)
		return malformed;
	g_hash_table_iter_init(&at, parameters);
	while (g_hash_table_iter_next(&at, &key, &value))
		if (!get_field(key, value, filter))
			return malformed;
	return NULL;
}

bool tail_filter_matches(const char *pattern, const char *text)
{
	g_autofree char *folded = g_utf8_casefold(pattern, -1), *valid = g_utf8_make_valid(text, -1),
			*its = g_utf8_casefold(valid, -1);

	return g_pattern_match_simple(folded, its);
}
