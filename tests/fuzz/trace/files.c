/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/files.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "fuzz.h"

static void free_file(void *data)
{
	struct trace_file *file = data;

	g_byte_array_unref(file->bytes);
	g_free(file->name);
	g_free(file);
}

trace_files *trace_create(void)
{
	return g_ptr_array_new_with_free_func(free_file);
}

void trace_add(trace_files *trace, const char *name, const void *bytes, size_t size)
{
	struct trace_file *file = g_new0(struct trace_file, 1);

	file->name = g_strdup(name);
	file->bytes = g_byte_array_sized_new((guint)size);
	g_byte_array_append(file->bytes, bytes, (guint)size);
	g_ptr_array_add(trace, file);
}

trace_files *trace_copy(const trace_files *trace)
{
	trace_files *copy = trace_create();

	for (guint i = 0; i < trace->len; i++) {
		const struct trace_file *file = trace->pdata[i];

		trace_add(copy, file->name, file->bytes->data, file->bytes->len);
	}
	return copy;
}

struct trace_file *trace_find(const trace_files *trace, const char *name)
{
	for (guint i = 0; i < trace->len; i++) {
		struct trace_file *file = trace->pdata[i];

		if (strcmp(file->name, name) == 0)
			return file;
	}
	return NULL;
}

bool trace_is_name(const char *name)
{
	if (g_str_has_prefix(name, "index/"))
		name += strlen("index/");
	return *name && strlen(name) < 100 && *name != '.' && !strpbrk(name, "/ \n");
}

/* Reading */

static trace_files *unpack(const char *text, gsize size)
{
	trace_files *trace = trace_create();
	const char *end = text + size;

	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));
		g_autofree char *head = line ? g_strndup(text, (gsize)(line - text)) : NULL;
		char *space = head ? strrchr(head, ' ') : NULL;
		guint64 bytes = 0;

		if (space)
			*space = '\0';
		if (!space || !trace_is_name(head) ||
			!g_ascii_string_to_unsigned(
				space + 1, 10, 0, (guint64)(end - line - 1), &bytes, NULL)) {
			g_ptr_array_unref(trace);
			return NULL;
		}
		trace_add(trace, head, line + 1, (size_t)bytes);
		text = line + 1 + bytes;
	}
	return trace;
}

static void add_folder(trace_files *trace, const char *folder, const char *prefix)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *entry;

	while (dir && (entry = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, entry, NULL);
		g_autofree char *name = g_strconcat(prefix, entry, NULL), *text = NULL;
		gsize size;

		if (g_file_test(path, G_FILE_TEST_IS_REGULAR) &&
			g_file_get_contents(path, &text, &size, NULL))
			trace_add(trace, name, text, size);
	}
	if (dir)
		g_dir_close(dir);
}

static int by_name(const void *a, const void *b)
{
	const struct trace_file *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

trace_files *trace_read(const char *path)
{
	g_autofree char *text = NULL, *index = g_build_filename(path, "index", NULL);
	trace_files *trace;
	gsize size;

	if (!g_file_test(path, G_FILE_TEST_IS_DIR))
		return g_file_get_contents(path, &text, &size, NULL) ? unpack(text, size) : NULL;
	trace = trace_create();
	add_folder(trace, path, "");
	add_folder(trace, index, "index/");
	g_ptr_array_sort(trace, by_name);
	return trace;
}

/* Writing */

void trace_write(const trace_files *trace, const char *path)
{
	FILE *out = fopen(path, "w");

	fuzz_hold(out != NULL, "a file of the corpus can be written");
	for (guint i = 0; i < trace->len; i++) {
		const struct trace_file *file = trace->pdata[i];

		fprintf(out, "%s %u\n", file->name, file->bytes->len);
		fwrite(file->bytes->data, 1, file->bytes->len, out);
	}
	fclose(out);
}

void trace_write_folder(const trace_files *trace, const char *folder)
{
	g_autofree char *index = g_build_filename(folder, "index", NULL);

	fuzz_hold(g_mkdir_with_parents(index, 0700) == 0, "a folder can be made in /dev/shm");
	for (guint i = 0; i < trace->len; i++) {
		const struct trace_file *file = trace->pdata[i];
		g_autofree char *path = g_build_filename(folder, file->name, NULL);
		FILE *out = fopen(path, "w");

		fuzz_hold(out != NULL, "a file can be made in /dev/shm");
		fwrite(file->bytes->data, 1, file->bytes->len, out);
		fclose(out);
	}
}
