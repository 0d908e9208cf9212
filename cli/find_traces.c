/* SPDX-License-Identifier: BSD-2-Clause */
#include "find_traces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More levels than LTTng writes. */
#define DEPTH_MAX 16

static bool is_dir(const char *path)
{
	struct stat file;

	return lstat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

static bool is_file(const char *path)
{
	struct stat file;

	return lstat(path, &file) == 0 && S_ISREG(file.st_mode);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in @path, sorted; empty if it cannot be read. */
static GPtrArray *folders(const char *path)
{
	GPtrArray *inside = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		char *child = g_build_filename(path, name, NULL);

		if (is_dir(child))
			g_ptr_array_add(inside, child);
		else
			g_free(child);
	}
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(inside, by_name);
	return inside;
}

/* A trace that is named twice is read once. */
static void add_once(const char *path, GPtrArray *found)
{
	char *real = realpath(path, NULL);

	if (!real || g_ptr_array_find_with_equal_func(found, real, g_str_equal, NULL))
		free(real);
	else
		g_ptr_array_add(found, real);
}

/* Returns whether there is a trace in @path, whether or not it was found before. */
static bool find(const char *path, int depth, GPtrArray *found)
{
	char *metadata = g_build_filename(path, "metadata", NULL);
	bool any = is_file(metadata);
	GPtrArray *inside;

	g_free(metadata);
	if (any) {
		add_once(path, found);
	} else if (depth < DEPTH_MAX) {
		inside = folders(path);
		for (guint i = 0; i < inside->len; i++)
			any |= find(inside->pdata[i], depth + 1, found);
		g_ptr_array_unref(inside);
	}
	return any;
}

/* A folder with metadata in it is a trace, whatever else is in it. */
static void add_closed(const char *path, int depth, GPtrArray *closed)
{
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	GPtrArray *inside;

	if (is_file(metadata) || depth >= DEPTH_MAX)
		return;
	if (access(path, R_OK | X_OK) != 0) {
		g_ptr_array_add(closed, g_strdup_printf("%s: %s", strerror(errno), path));
		return;
	}
	inside = folders(path);
	for (guint i = 0; i < inside->len; i++)
		add_closed(inside->pdata[i], depth + 1, closed);
	g_ptr_array_unref(inside);
}

void find_closed(const char *dir, GPtrArray *closed)
{
	add_closed(dir, 0, closed);
}

int find_traces(const char *dir, GPtrArray *found, bool quiet)
{
	struct stat file;
	const char *why;

	if (stat(dir, &file) != 0)
		why = strerror(errno);
	else if (!S_ISDIR(file.st_mode))
		why = "not a folder, and not called *.jsonl";
	else if (!find(dir, 0, found))
		why = "there is no CTF trace in it (a folder with a file `metadata`), and no file *.jsonl of "
		      "spans";
	else
		return 0;
	if (!quiet)
		fprintf(stderr, "blkin import: %s: %s\n", dir, why);
	return -1;
}
