/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/wish.h"

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

void wish_put(struct buffer *query, const struct wish *wish)
{
	buffer_printf(query, "min-duration=%" PRId64, wish->min_duration);
	put_text(query, "service", wish->service);
	put_text(query, "name", wish->name);
	if (wish->errors)
		buffer_printf(query, "&errors=1");
	if (wish->trace)
		buffer_printf(query, "&trace=%" PRIx64, wish->trace);
}

static bool get_field(const char *key, const char *value, struct wish *wish)
{
	guint64 number;

	if (!strcmp(key, "service"))
		return g_strlcpy(wish->service, value, WISH_TEXT_MAX) < WISH_TEXT_MAX;
	if (!strcmp(key, "name"))
		return g_strlcpy(wish->name, value, WISH_TEXT_MAX) < WISH_TEXT_MAX;
	if (!strcmp(key, "errors"))
		return wish->errors = !strcmp(value, "1");
	if (!strcmp(key, "trace"))
		return g_ascii_string_to_unsigned(value, 16, 1, UINT64_MAX, &wish->trace, NULL);
	if (strcmp(key, "min-duration") != 0 ||
		!g_ascii_string_to_unsigned(value, 10, 0, INT64_MAX, &number, NULL))
		return false;
	wish->min_duration = (int64_t)number;
	return true;
}

const char *wish_get(const char *query, struct wish *wish)
{
	g_autoptr(GHashTable) parameters =
		g_uri_parse_params(query ? query : "", -1, "&", G_URI_PARAMS_NONE, NULL);
	gpointer key, value;
	GHashTableIter at;

	*wish = (struct wish){0};
	if (!parameters)
		return malformed;
	g_hash_table_iter_init(&at, parameters);
	while (g_hash_table_iter_next(&at, &key, &value))
		if (!get_field(key, value, wish))
			return malformed;
	return NULL;
}

bool wish_matches(const char *pattern, const char *text)
{
	g_autofree char *folded = g_utf8_casefold(pattern, -1), *valid = g_utf8_make_valid(text, -1),
			*its = g_utf8_casefold(valid, -1);

	return g_pattern_match_simple(folded, its);
}
