/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/choice.h"

#include <string.h>

#include <glib.h>

#include "base/suggest.h"

int choice_find(const char *words, const char *value)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	int found = -1;

	for (int i = 0; list[i] && found < 0; i++)
		if (!strcmp(list[i], value))
			found = i;
	return found;
}

bool choice_parse_words(const char *words, const char *value, uint64_t *number)
{
	g_auto(GStrv) list = g_strsplit(value, ",", -1);

	*number = 0;
	for (int i = 0; list[i]; i++) {
		int word = choice_find(words, g_strstrip(list[i]));

		if (word < 0)
			return false;
		*number |= UINT64_C(1) << word;
	}
	return *number != 0;
}

char *choice_print_words(const char *words, uint64_t number)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	GString *text = g_string_new(NULL);

	for (int i = 0; list[i]; i++)
		if (number & UINT64_C(1) << i)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "", list[i]);
	return g_string_free(text, FALSE);
}

char *choice_list(const char *words)
{
	const char *last = strrchr(words, '|');
	GString *text = g_string_new_len(words, last ? last - words : (gssize)strlen(words));

	g_string_replace(text, "|", ", ", 0);
	if (last)
		g_string_append_printf(text, " or %s", last + 1);
	return g_string_free(text, FALSE);
}

/* What others call it. A word counts where it is one of the key's. */
static const char *translate(const char *words, const char *value)
{
	static const char *const others[][2] = {{"true", "yes"}, {"on", "yes"}, {"1", "yes"}, {"false", "no"},
		{"off", "no"}, {"0", "no"}, {"off", "none"}, {"no", "none"}, {"disabled", "none"},
		{"json", "json2"}, {"critical", "crit"}, {"verbose", "debug"}, {"trace", "debug"},
		{"v1", "thrift"}, {"v2", "json2"}, {"identity", "none"}};

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (!g_ascii_strcasecmp(value, others[i][0]) && choice_find(words, others[i][1]) >= 0)
			return others[i][1];
	return NULL;
}

const char *choice_suggest(const char *words, const char *value)
{
	g_autofree char *lower = g_ascii_strdown(value, -1);
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	const char *meant = translate(words, value);

	if (!meant)
		meant = suggest(lower, (const char *const *)list, g_strv_length(list));
	return g_intern_string(meant);
}
