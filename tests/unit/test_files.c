/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of lines: their names, rotation and bounds, and what happens if they cannot be written. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"

#include "files_rig.h"
#include "run.h"

START_TEST(names)
{
	static const char *const others[] = {"", "zipkin", "zipkin-20261123T012643Z-1.jsonl.part",
		".zipkin-20261123T012643Z-1.jsonl", "zipkin-20261123T012643Z-01.jsonl",
		"zipkin-20261123T012643Z-1.jsonl.gz", "zipkin-20261123T012643Z-1.jsonl ",
		"zipkin-20261199T012643Z-1.jsonl", "zipkin-20261123T012643Z--1.jsonl"};
	struct filename name = {.begun = 1795397203, .number = 12};
	struct filename parsed;
	char text[FILENAMES_SIZE];

	filename_print(&name, text);
	ck_assert_str_eq(text, "zipkin-20261123T012643Z-12.jsonl");
	ck_assert(filename_parse(text, &parsed));
	ck_assert(parsed.begun == name.begun && parsed.number == 12 && !parsed.part);
	name.part = true;
	filename_print(&name, text);
	ck_assert_str_eq(text, ".zipkin-20261123T012643Z-12.jsonl.part");
	ck_assert(filename_parse(text, &parsed) && parsed.part);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		ck_assert_msg(!filename_parse(others[i], &parsed), "%s", others[i]);
}
END_TEST

START_TEST(is_finished_at_the_end)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	write_lines("one two");
	write_lines("three");
	assert_files(true, "one two three ");
	assert_files(false, "");
	stop_writer();
	assert_files(true, "");
	assert_files(false, "one two three ");
}
END_TEST

START_TEST(without_lines_nothing_stays)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	ck_assert_int_eq(filewriter_due(&writer), INT64_MAX);
	stop_writer();
	assert_files(true, "");
	assert_files(false, "");
}
END_TEST

/* No file is larger, but one of a larger batch; and their order is that of their names. */
START_TEST(rotation_by_size)
{
	struct filewriter_options with = files_options();

	with.rotate_size = 8;
	start_writer(&with);
	write_lines("one");
	write_lines("two");
	write_lines("3");
	write_lines("much-longer-than-that");
	write_lines("4");
	for (int i = 0; i < 12; i++)
		write_lines("sixteen");
	stop_writer();
	assert_files(false, "one two |3 |much-longer-than-that |4 |sixteen |sixteen |sixteen |sixteen "
			    "|sixteen |sixteen |sixteen |"
			    "sixteen |sixteen |sixteen |sixteen |sixteen ");
}
END_TEST

START_TEST(rotation_by_time)
{
	struct filewriter_options with = files_options();
	int64_t before = clock_monotonic();

	with.rotate_ns = 60 * NS_PER_SECOND;
	start_writer(&with);
	write_lines("one");
	ck_assert_int_ge(filewriter_due(&writer), before + with.rotate_ns);
	ck_assert_int_le(filewriter_due(&writer), clock_monotonic() + with.rotate_ns);
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	ck_assert_int_eq(filewriter_due(&writer), INT64_MAX);
	assert_files(true, "");
	assert_files(false, "one ");
	stop_writer();
	assert_files(false, "one ");
}
END_TEST

START_TEST(total_size)
{
	struct filewriter_options with = files_options();
	g_autofree char *other = g_build_filename(directory, "another.jsonl", NULL);

	leave_file("zipkin-20200101T000000Z-2.jsonl", "second\n");
	leave_file("zipkin-20200101T000000Z-10.jsonl", "tenth\n");
	leave_file("another.jsonl", "not ours\n");
	with.rotate_size = 8;
	with.total_size = 16;
	start_writer(&with);
	write_lines("one two");
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	ck_assert_uint_eq(writer.removed, 1);
	assert_files(false, "tenth |one two ");
	write_lines("four");
	stop_writer();
	assert_files(false, "one two |four ");
	ck_assert_int_eq(access(other, F_OK), 0);
}
END_TEST

/* The clock was set back: new files are not removed in the place of those that seem to be newer. */
START_TEST(total_size_and_the_future)
{
	struct filewriter_options with = files_options();

	leave_file("zipkin-20200101T000000Z-1.jsonl", "old\n");
	leave_file("zipkin-20990101T000000Z-1.jsonl", "future\n");
	leave_file("zipkin-20990101T000000Z-2.jsonl", "future2\n");
	with.rotate_size = 8;
	with.total_size = 16;
	start_writer(&with);
	write_lines("one");
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	assert_files(false, "old |one |future2 ");
	write_lines("two");
	stop_writer();
	assert_files(false, "old |one |two ");
}
END_TEST

/* The rest of a line that did not fit is not in the file, nor is the line known to be. */
START_TEST(no_room)
{
	struct filewriter_options with = files_options();
	const struct rlimit small = {10, RLIM_INFINITY};
	uint32_t sizes[] = {3, 20}, known = 0;
	const struct filewriter_lines lines = {(const uint8_t *)"old12345678901234567890", sizes, NULL, 2};
	struct rlimit limit;

	leave_file(".zipkin-20200101T000000Z-1.jsonl.part", "old\n");
	start_writer(&with);
	write_lines("first");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(filewriter_write(&writer, &lines, &known), EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_files(true, "first ");
	ck_assert_uint_eq(known, 0);
	ck_assert_uint_eq(write_lines("old second"), 1);
	stop_writer();
	assert_files(false, "old |first second ");
}
END_TEST

/* It is no place to write to, until it is there again. */
START_TEST(directory_moved)
{
	struct filewriter_options with = files_options();
	g_autofree char *home = g_strdup(directory), *inner = g_build_filename(directory, "inner", NULL),
			*away = g_build_filename(directory, "away", NULL);

	ck_assert_int_eq(mkdir(inner, 0700), 0);
	with.directory = inner;
	start_writer(&with);
	write_lines("one");
	ck_assert_int_eq(rename(inner, away), 0);
	ck_assert_int_eq(filewriter_open(&writer), ENOENT);
	ck_assert_ptr_nonnull(strstr(writer.error, inner));
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	write_lines("two");
	stop_writer();
	g_free(directory);
	directory = g_steal_pointer(&inner);
	assert_files(false, "two ");
	g_free(directory);
	directory = g_steal_pointer(&away);
	assert_files(false, "one ");
	g_free(directory);
	directory = g_steal_pointer(&home);
}
END_TEST

/* What is written into a file that somebody removed is nowhere, and goes into the next. */
START_TEST(file_removed)
{
	struct filewriter_options with = files_options();
	g_autofree char *path = NULL;
	uint32_t size = 3, known = 0;
	const struct filewriter_lines lines = {(const uint8_t *)"two", &size, NULL, 1};
	char name[FILENAMES_SIZE];

	start_writer(&with);
	write_lines("one");
	filename_print(&writer.part.name, name);
	path = g_build_filename(directory, name, NULL);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(filewriter_write(&writer, &lines, &known), ENOENT);
	ck_assert_int_eq(writer.lost, 0);
	write_lines("two");
	ck_assert_int_eq(writer.lost, 1);
	stop_writer();
	assert_files(false, "two ");
}
END_TEST

/* What is cut off is counted line for line; also of a cut while lines are added, and nothing is written
 * twice. */
START_TEST(file_cut)
{
	struct filewriter_options with = files_options();
	char name[FILENAMES_SIZE];
	g_autofree char *path = NULL;

	start_writer(&with);
	write_lines("one two three");
	filename_print(&writer.part.name, name);
	path = g_build_filename(directory, name, NULL);
	ck_assert_int_eq(truncate(path, 6), 0);
	write_lines("four");
	ck_assert_int_eq(writer.lost, 2);
	ck_assert_int_eq(truncate(path, 2), 0);
	ck_assert_int_eq(partfile_append(&writer.part, "five\n", 5, 1, false), 0);
	ck_assert_int_eq(filewriter_open(&writer), 0);
	ck_assert_int_eq(writer.lost, 4); /* there is one line now */
	ck_assert_int_eq(truncate(path, 100), 0);
	write_lines("six");
	ck_assert_int_eq(writer.lost, 4);
	stop_writer();
	assert_files(false, "onfive six ");
}
END_TEST

/* A file that somebody gave another name is his: the next lines go into another. */
START_TEST(file_renamed)
{
	struct filewriter_options with = files_options();
	g_autofree char *path = NULL, *elsewhere = g_build_filename(directory, "mine.jsonl", NULL);
	uint32_t size = 3, known = 0;
	const struct filewriter_lines lines = {(const uint8_t *)"two", &size, NULL, 1};
	char name[FILENAMES_SIZE];

	start_writer(&with);
	write_lines("one");
	filename_print(&writer.part.name, name);
	path = g_build_filename(directory, name, NULL);
	ck_assert_int_eq(rename(path, elsewhere), 0);
	ck_assert_int_eq(filewriter_write(&writer, &lines, &known), ENOENT);
	write_lines("two");
	stop_writer();
	assert_files(false, "two ");
	ck_assert_int_eq(unlink(elsewhere), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files");
	TCase *cases = tcase_create("writer");

	tcase_add_checked_fixture(cases, files_make, files_remove);
	tcase_add_test(cases, names);
	tcase_add_test(cases, is_finished_at_the_end);
	tcase_add_test(cases, without_lines_nothing_stays);
	tcase_add_test(cases, rotation_by_size);
	tcase_add_test(cases, rotation_by_time);
	tcase_add_test(cases, total_size);
	tcase_add_test(cases, total_size_and_the_future);
	tcase_add_test(cases, no_room);
	tcase_add_test(cases, directory_moved);
	tcase_add_test(cases, file_removed);
	tcase_add_test(cases, file_cut);
	tcase_add_test(cases, file_renamed);
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, files_takeup_cases());
	return run_all(srunner_create(suite));
}
