/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoollist.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "output/spool/spoolcounts.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolname.h"

static void free_found(void *data)
{
	struct spool_found *found = data;

	g_free(found->output);
	g_free(found->path);
	g_free(found);
}

static bool is_listed(const GPtrArray *list, const char *output)
{
	for (guint i = 0; i < list->len; i++) {
		const struct spool_found *found = g_ptr_array_index(list, i);

		if (strcmp(found->output, output) == 0)
			return true;
	}
	return false;
}

/* Returns the output whose spool has this name; also if a crash came before the new file got that name. */
static char *output_of(const char *name)
{
	g_autofree char *spool = g_strdup(name);

	if (g_str_has_suffix(spool, SPOOLNAME_NEW))
		spool[strlen(spool) - strlen(SPOOLNAME_NEW)] = '\0';
	return spoolname_output(spool);
}

static void add(GPtrArray *list, const char *directory, const char *name)
{
	char *output = output_of(name);
	struct spool_found *found;
	g_autofree char *spool_counts_path = NULL;
	struct spool_counts counts = {0};

	if (!output || is_listed(list, output)) {
		g_free(output);
		return;
	}
	spool_counts_path = spoolname_counts(directory, output);
	found = g_new0(struct spool_found, 1);
	found->output = output;
	found->path = spoolname_spool(directory, output);
	found->bytes = spoolfile_bytes(found->path);
	found->counted = spool_counts_look(spool_counts_path, &counts);
	found->batches = counts.batches;
	found->spans = counts.spans;
	g_ptr_array_add(list, found);
}

static int by_output(const void *a, const void *b)
{
	const struct spool_found *const *left = a, *const *right = b;
	bool left_default = strcmp((*left)->output, SPOOLNAME_DEFAULT) == 0;
	bool right_default = strcmp((*right)->output, SPOOLNAME_DEFAULT) == 0;

	if (left_default != right_default)
		return left_default ? -1 : 1;
	return strcmp((*left)->output, (*right)->output);
}

GPtrArray *spoollist_read(const char *directory)
{
	DIR *dir = opendir(directory);
	GPtrArray *list;
	struct dirent *entry;

	if (!dir)
		return NULL;
	list = g_ptr_array_new_with_free_func(free_found);
	while ((entry = readdir(dir)))
		add(list, directory, entry->d_name);
	closedir(dir);
	g_ptr_array_sort(list, by_output);
	return list;
}
