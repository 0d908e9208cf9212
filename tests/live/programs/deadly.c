/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the agent, and so into its reader, lets babeltrace2 abort at a text that contains
 * "load-666", and never return at one that contains "load-777": what its own faults do on damaged input, at a
 * moment of the test's choice.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

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
	return text;
}
