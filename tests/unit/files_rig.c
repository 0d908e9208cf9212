/* SPDX-License-Identifier: BSD-2-Clause */
#include "files_rig.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

char *directory;
struct filewriter writer;

const char *record_path(void)
{
	static char path[256];

	g_snprintf(path, sizeof(path), "%s.written", directory);
	return path;
}

void files_make(void)
{
	directory = g_dir_make_tmp("blkin-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
}

void files_remove(void)
{
	g_autofree char *command = g_strdup_printf("rm -rf %s %s*", directory, record_path());

	ck_assert_int_eq(system(command), 0);
	g_free(directory);
}

struct filewriter_options files_options(void)
{
	return (struct filewriter_options){.directory = directory, .take_up = true};
}

void start_writer(const struct filewriter_options *with)
{
	filewriter_init(&writer, with);
	ck_assert_msg(filewriter_open(&writer) == 0, "%s", writer.error);
}

uint32_t write_lines(const char *lines)
{
	g_auto(GStrv) each = g_strsplit(lines, " ", -1);
	g_autofree char *items = g_strjoinv("", each);
	uint64_t identities[100];
	uint32_t sizes[100], count = g_strv_length(each), known = 0;
	const struct filewriter_lines with = {
		(const uint8_t *)items, sizes, writer.written.path ? identities : NULL, count};

	for (uint32_t i = 0; i < count; i++) {
		sizes[i] = (uint32_t)strlen(each[i]);
		identities[i] = (uint64_t)(uint8_t)each[i][0];
	}
	ck_assert_int_eq(filewriter_open(&writer), 0);
	ck_assert_msg(filewriter_write(&writer, &with, &known) == 0, "%s", writer.error);
	return known;
}

void stop_writer(void)
{
	ck_assert_msg(filewriter_close(&writer, false) == 0, "%s", writer.error);
	filewriter_free(&writer);
}

void assert_files(bool part, const char *expected)
{
	int folder = open(directory, O_RDONLY | O_DIRECTORY);
	GArray *list = filenames_list(folder, KIND_SPANS, part);
	g_autoptr(GString) all = g_string_new(NULL);

	for (guint i = 0; i < list->len; i++) {
		g_autofree char *path = NULL, *text = NULL;
		char name[FILENAMES_SIZE];

		filename_print(&g_array_index(list, struct filename_found, i).name, name);
		path = g_build_filename(directory, name, NULL);
		ck_assert(g_file_get_contents(path, &text, NULL, NULL));
		g_string_append_printf(all, "%s%s", i ? "|" : "", g_strdelimit(text, "\n", ' '));
	}
	ck_assert_str_eq(all->str, expected);
	g_array_unref(list);
	close(folder);
}

void files_remove_lines(void)
{
	g_autofree char *command = g_strdup_printf("rm -f %s/*.jsonl %s/.*.part", directory, directory);

	ck_assert_int_eq(system(command), 0);
}

void leave_file(const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);

	ck_assert(g_file_set_contents(path, text, -1, NULL));
}
