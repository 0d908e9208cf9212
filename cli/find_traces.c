/* SPDX-License-Identifier: BSD-2-Clause */
#include "find_traces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "output/file/filenames.h"

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

/* What @is wanted of all in the folder, as paths, sorted; empty if it cannot be read. */
static GPtrArray *list(const char *folder, bool (*is)(const char *path))
{
	GPtrArray *inside = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (is(path))
			g_ptr_array_add(inside, g_steal_pointer(&path));
	}
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(inside, by_name);
	return inside;
}

/* What is named twice is read once. What cannot be reached is left to who reads it, and then says why not. */
static void add_once(const char *path, GPtrArray *found)
{
	char *real = realpath(path, NULL);

	if (!real)
		real = strdup(path);
	if (!real || g_ptr_array_find_with_equal_func(found, real, g_str_equal, NULL))
		free(real);
	else
		g_ptr_array_add(found, real);
}

/* Traces */

/* Returns whether there is one in @path, whether or not it was found before. */
static bool find(const char *path, int depth, GPtrArray *found)
{
	char *metadata = g_build_filename(path, "metadata", NULL);
	bool any = is_file(metadata);
	GPtrArray *inside;

	g_free(metadata);
	if (any) {
		add_once(path, found);
	} else if (depth < DEPTH_MAX) {
		inside = list(path, is_dir);
		for (guint i = 0; i < inside->len; i++)
			any |= find(inside->pdata[i], depth + 1, found);
		g_ptr_array_unref(inside);
	}
	return any;
}

/* A folder with metadata in it is a trace, whatever else is in it. */
static bool any_closed(const char *path, int depth)
{
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	g_autoptr(GPtrArray) inside = NULL;
	bool any = false;

	if (is_file(metadata) || depth >= DEPTH_MAX)
		return false;
	if (access(path, R_OK | X_OK) != 0) {
		log_error("%s: %s", strerror(errno), path);
		return true;
	}
	inside = list(path, is_dir);
	for (guint i = 0; i < inside->len; i++)
		any |= any_closed(inside->pdata[i], depth + 1);
	return any;
}

bool find_closed(const char *dir)
{
	return any_closed(dir, 0);
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

/* Files of spans */

/* A file by its name alone, also behind a link. What an output wrote of other items has no spans. */
static bool is_lines(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct filename file;

	return *name != '.' && g_str_has_suffix(name, ".jsonl") &&
	       (!filename_parse(name, &file) || filelines_kind(file.lines) == KIND_SPANS);
}

static bool is_lines_or_dir(const char *path)
{
	return is_lines(path) || (strrchr(path, '/')[1] != '.' && is_dir(path));
}

static bool find_lines_below(const char *path, int depth, GPtrArray *found)
{
	GPtrArray *inside = list(path, is_lines_or_dir);
	bool any = false;

	for (guint i = 0; i < inside->len; i++) {
		const char *child = inside->pdata[i];

		if (!is_dir(child)) {
			add_once(child, found);
			any = true;
		} else if (depth < DEPTH_MAX) {
			any |= find_lines_below(child, depth + 1, found);
		}
	}
	g_ptr_array_unref(inside);
	return any;
}

bool find_lines(const char *path, GPtrArray *found)
{
	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return find_lines_below(path, 0, found);
	if (!g_str_has_suffix(path, ".jsonl") || !g_file_test(path, G_FILE_TEST_EXISTS))
		return false;
	add_once(path, found);
	return true;
}
