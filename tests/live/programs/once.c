/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An executable of two units, two shared libraries (one in C++) and a plugin that all include the header, and
 * record the same things once each.
 *
 *     once PLUGIN
 */
#include <stdio.h>

#include "once.h"

int main(int argc, char **argv)
{
	void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*record)(void);

	if (!plugin) {
		fprintf(stderr, "usage: once PLUGIN: %s\n", argc == 2 ? dlerror() : "no plugin given");
		return 64;
	}
	*(void **)&record = dlsym(plugin, "once_plugin");
	if (!record)
		return 1;
	once_record("executable");
	once_unit();
	once_a();
	once_b();
	record();
	dlclose(plugin);
	return 0;
}
