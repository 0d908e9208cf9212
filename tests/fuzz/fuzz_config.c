/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration file. One that is taken is taken again, with the same values, as it is printed. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "config/config.h"
#include "config/load.h"

static char *print(const struct config *config, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	config_print(config, out);
	fclose(out);
	return text;
}

/* Without the comments, which say where a value came from. */
static void strip(char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	char *to = text;

	for (char **line = lines; *line; line++)
		if (**line != '#')
			to += sprintf(to, "%s\n", *line);
	*to = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *path = fuzz_write("agent.conf", data, size);
	struct config config, again;
	char *first, *second;
	size_t bytes;

	if (config_load(&config, path, false) != 0) {
		config_free(&config);
		return 0;
	}
	first = print(&config, &bytes);
	g_free(fuzz_write("agent.conf", (const uint8_t *)first, bytes));
	fuzz_hold(config_load(&again, path, false) == 0, "what is printed can be read");
	second = print(&again, &bytes);
	strip(first);
	strip(second);
	fuzz_hold(strcmp(first, second) == 0, "and says the same");
	free(first);
	free(second);
	config_free(&again);
	config_free(&config);
	return 0;
}
