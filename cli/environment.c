/* SPDX-License-Identifier: BSD-2-Clause */
#include "environment.h"

#include <string.h>

#include <glib.h>

static void add_line(char *line)
{
	char *value = strchr(line, '=');
	g_autofree char *unquoted = NULL;

	if (!value || strchr("#;", *line))
		return;
	*value++ = '\0';
	g_strstrip(line);
	g_strstrip(value);
	if (strpbrk(value, "\"'\\"))
		unquoted = g_shell_unquote(value, NULL);
	if (*line)
		g_setenv(line, unquoted ? unquoted : value, FALSE);
}

void environment_add(const char *path)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		add_line(g_strstrip(*line));
}
