/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/library.h"

#include <dlfcn.h>
#include <stdio.h>

/* Its soname is the same in all Debians; the package's, too. */
#define FILE_NAME "librdkafka.so.1"
#define PACKAGE "librdkafka1"

const struct kafka_library *rd;

static struct kafka_library library;

/* dlsym returns data's pointers, and ISO C has no way from those to functions' but through memory. */
static bool find(void *handle, const char *name, void *function)
{
	return (*(void **)function = dlsym(handle, name)) != NULL;
}

bool library_load(struct kafka_why *why)
{
	void *handle = rd ? NULL : dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	bool good = handle != NULL;

	if (rd)
		return true;
#define FUNCTION(name) good = good && find(handle, "rd_kafka_" #name, &library.name);
	KAFKA_FUNCTIONS(FUNCTION)
#undef FUNCTION
	if (good) {
		rd = &library;
		return true;
	}
	why->fault = FAULT_LIBRARY;
	snprintf(why->words, sizeof(why->words), "%s cannot be loaded: %s", FILE_NAME,
		handle ? "it is too old" : "the package " PACKAGE " is not installed");
	if (handle)
		dlclose(handle);
	return false;
}
