/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/globs.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

char **globs_split(const char *text)
{
	g_autofree char *copy = g_strstrip(g_strdup(text));
	char **list = g_strsplit(copy, ",", -1);

	for (char **glob = list; *glob; glob++)
		g_strstrip(*glob);
	return list;
}

bool globs_have(char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/* What is wrong with one of them, or NULL. */
static const char *fault(const char *glob)
{
	if (!*glob)
		return "has an empty name";
	if (strlen(glob) >= GLOB_SIZE)
		return "has a name of more than 255 characters";
	for (; *glob; glob++) {
		if (strchr("?[]", *glob))
			return "has a wildcard that LTTng does not know: its only one is `*`";
		if (!g_ascii_isgraph(*glob) || strchr("\"'`\\;", *glob))
			return "has a character that no event's name has";
	}
	return NULL;
}

static const char *fault_of_symbol(const char *name)
{
	const char *wrong = fault(name);

	if (!wrong && strchr(name, '*'))
		return "has a `*`, though each function is named by itself";
	for (; *name && !wrong; name++)
		if (!g_ascii_isalnum(*name) && !strchr("_.", *name))
			return "has a character that no function's name has";
	return wrong;
}

/* @what must be separated by commas, of which @find says what is wrong with one. */
static int check(
	const char *text, const char *(*find)(const char *name), const char *what, char *error, size_t size)
{
	g_auto(GStrv) list = globs_split(text);
	const char *wrong = g_strv_length(list) > GLOBS_MAX ? "has more than 64 names" : NULL;

	for (size_t i = 0; list[i] && !wrong; i++)
		wrong = globs_have(list, i, list[i]) ? "has a name twice" : find(list[i]);
	if (wrong)
		snprintf(error, size, "%s; it must be names of %s", wrong, what);
	return wrong ? -1 : 0;
}

int globs_check(const char *text, char *error, size_t size)
{
	return check(
		text, fault, "events, separated by commas, in which `*` stands for anything", error, size);
}

int globs_check_symbols(const char *text, char *error, size_t size)
{
	return check(text, fault_of_symbol, "functions of the kernel, separated by commas", error, size);
}

/* What comes behind the prefix can be anything, so a `*` within it is enough. */
static bool reaches(const char *glob, const char *prefix)
{
	while (*prefix && *glob == *prefix) {
		glob++;
		prefix++;
	}
	return !*prefix || *glob == '*';
}

char *globs_reaching(const char *text, const char *prefix)
{
	g_auto(GStrv) list = globs_split(text);

	for (char **glob = list; *glob; glob++)
		if (reaches(*glob, prefix))
			return g_strdup(*glob);
	return NULL;
}
