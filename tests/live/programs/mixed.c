/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads libraries, in this order, and lets each record; those that the program is linked with come first.
 *
 *     mixed [LIBRARY FUNCTION]...
 */
#include "mixed.h"

#include <dlfcn.h>
#include <stdio.h>

static int load(const char *library, const char *function, void (**record)(void))
{
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (loaded)
		*(void **)record = dlsym(loaded, function);
	if (loaded && *record)
		return 0;
	fprintf(stderr, "mixed: %s\n", dlerror());
	return -1;
}

int main(int argc, char **argv)
{
	void (*record[4])(void);
	int count = 0;

#ifdef LINKED
	record[count++] = LINKED;
#endif
	for (int i = 1; i + 1 < argc && count < 4; i += 2)
		if (load(argv[i], argv[i + 1], &record[count++]) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		record[i]();
	return 0;
}
