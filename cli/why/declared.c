/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "why/declared.h"

#include <string.h>

/* Linux has more than three hundred on each machine. */
#define CALLS_MANY 150
/* More than the metadata of all that a kernel has. */
#define METADATA_MAX (64 << 20)

/* The file is text, or packets of text. */
static unsigned count_calls(const char *text, size_t size)
{
	static const char entry[] = "\"syscall_entry_";
	const char *at = text, *end = text + size;
	unsigned count = 0;

	while ((at = memmem(at, (size_t)(end - at), entry, sizeof(entry) - 1))) {
		at += sizeof(entry) - 1;
		count++;
	}
	return count;
}

static bool declares_all_calls(const char *folder)
{
	g_autofree char *path = g_build_filename(folder, "metadata", NULL);
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);

	if (!file || !g_mapped_file_get_contents(file) || g_mapped_file_get_length(file) > METADATA_MAX)
		return false;
	return count_calls(g_mapped_file_get_contents(file), g_mapped_file_get_length(file)) >= CALLS_MANY;
}

bool declared_all_calls(const GPtrArray *traces)
{
	for (guint i = 0; i < traces->len; i++)
		if (declares_all_calls(traces->pdata[i]))
			return true;
	return false;
}
