/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/spoolname.h"

#include <string.h>

#include <glib.h>

#define STEM "spool"
#define SPOOL ".db"
#define TALLY ".tally"

bool spoolname_is_good(const char *output)
{
	size_t size = strlen(output);

	if (size == 0 || size > SPOOLNAME_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isalnum(output[i]) && output[i] != '-' && output[i] != '_')
			return false;
	return true;
}

static char *name_of(const char *output, const char *ending)
{
	if (strcmp(output, SPOOLNAME_DEFAULT) == 0)
		return g_strconcat(STEM, ending, NULL);
	return g_strconcat(STEM "-", output, ending, NULL);
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

char *spoolname_tally(const char *directory, const char *output)
{
	return path_of(directory, output, TALLY);
}

char *spoolname_output(const char *file)
{
	size_t size = strlen(file), around = strlen(STEM "-" SPOOL);
	g_autofree char *output = NULL;

	if (strcmp(file, STEM SPOOL) == 0)
		return g_strdup(SPOOLNAME_DEFAULT);
	if (size <= around || !g_str_has_prefix(file, STEM "-") || !g_str_has_suffix(file, SPOOL))
		return NULL;
	output = g_strndup(file + strlen(STEM "-"), size - around);
	if (!spoolname_is_good(output) || strcmp(output, SPOOLNAME_DEFAULT) == 0)
		return NULL;
	return g_steal_pointer(&output);
}
