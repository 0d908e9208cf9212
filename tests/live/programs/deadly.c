/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the agent, and so into its reader, lets babeltrace2 abort at a text that contains
 * "load-666", and never return at one that contains "load-777": what its own faults do on damaged input, at a
 * moment of the test's choice. At one that contains "load-888" it waits for as long as there is a file of the
 * name in BLKIN_WAITS, and makes one whose name ends in .here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <babeltrace2/babeltrace.h>

static void wait_for_test(const char *path)
{
	char here[4096];
	FILE *file;

	snprintf(here, sizeof(here), "%s.here", path);
	file = fopen(here, "w");
	if (file)
		fclose(file);
	while (access(path, F_OK) == 0)
		usleep(10000);
}

const char *bt_field_string_get_value(const bt_field *field)
{
	static const char *(*real)(const bt_field *field);
	const char *text;

	if (!real)
		real = (const char *(*)(const bt_field *))dlsym(RTLD_NEXT, "bt_field_string_get_value");
	text = real(field);
	if (strstr(text, "load-666"))
		abort();
	while (strstr(text, "load-777"))
		;
	if (strstr(text, "load-888") && getenv("BLKIN_WAITS"))
		wait_for_test(getenv("BLKIN_WAITS"));
	return text;
}
