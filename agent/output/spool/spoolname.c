/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoolname.h"

#include <string.h>

#include <glib.h>

#include "core/kind.h"

#define STEM "spool"
#define SPOOL ".db"
#define TALLY ".tally"

bool spoolname_is_good(const char *output)
{
	size_t size;

	lane_kind(output, &size);
	if (size == 0 || strlen(output) > SPOOLNAME_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isalnum(output[i]) && output[i] != '-' && output[i] != '_')
			return false;
	return true;
}

static char *name_of(const char *output, const char *ending)
{
	size_t size;
	enum kind kind = lane_kind(output, &size);
	const char *dot = kind == KIND_SPANS ? "" : ".", *word = kind == KIND_SPANS ? "" : kind_name(kind);
	g_autofree char *name = g_strndup(output, size);

	if (strcmp(name, SPOOLNAME_DEFAULT) == 0)
		return g_strconcat(STEM, dot, word, ending, NULL);
	return g_strconcat(STEM "-", name, dot, word, ending, NULL);
}

static char *path_of(const char *directory, const char *output, const char *ending)
{
	g_autofree char *name = name_of(output, ending);

	return g_build_filename(directory, name, NULL);
}

char *spoolname_spool(const char *directory, const char *output)
{
	return path_of(directory, output, SPOOL);
}

char *spoolname_counts(const char *directory, const char *output)
{
	return path_of(directory, output, TALLY);
}

/* What is named again as it was is one of ours. */
char *spoolname_output(const char *file)
{
	g_autofree char *stem = NULL, *lane = NULL, *again = NULL;
	char *kind;

	if (!g_str_has_prefix(file, STEM) || !g_str_has_suffix(file, SPOOL))
		return NULL;
	stem = g_strndup(file, strlen(file) - strlen(SPOOL));
	kind = strchr(stem, '.');
	if (kind)
		*kind++ = '\0';
	lane = g_strjoin(
		":", stem[strlen(STEM)] == '-' ? stem + strlen(STEM "-") : SPOOLNAME_DEFAULT, kind, NULL);
	if (!spoolname_is_good(lane))
		return NULL;
	again = name_of(lane, SPOOL);
	return strcmp(again, file) == 0 ? g_steal_pointer(&lane) : NULL;
}
