/* SPDX-License-Identifier: BSD-2-Clause */
/* What is taken up after a crash. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "files_rig.h"

/* A child writes, and is killed. If it has a child itself then, that has its files open for so long. */
static void write_and_die_later(const char *lines, unsigned ms)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		write_lines(lines);
		if (ms && fork() == 0) {
			g_usleep(ms * 1000);
			_exit(0);
		}
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void write_and_die(const char *lines)
{
	write_and_die_later(lines, 0);
}

static void write_and_die_with(const struct filewriter_options *with, const char *lines)
{
	start_writer(with);
	write_and_die(lines);
	filewriter_free(&writer);
}

/* It is finished at the next start, and what comes again is not written again: once from the spool, and once
 * more from what the session recorded. */
START_TEST(taken_up_after_a_kill)
{
	struct filewriter_options with = files_options();

	with.rotate_size = 12;
	write_and_die_with(&with, "one two two"); /* unfinished, as the child left it */
	start_writer(&with);
	assert_files(false, "one two two ");
	ck_assert_uint_eq(writer.left.files, 1);
	ck_assert_uint_eq(write_lines("two three"), 1);
	ck_assert_uint_eq(write_lines("one two two"), 3);
	ck_assert_uint_eq(write_lines("one four"), 1);
	stop_writer();
	assert_files(false, "one two two |three four ");
}
END_TEST

/* So it is while a child of the one that was killed still has it open. */
START_TEST(taken_up_from_a_child)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	write_and_die_later("one two", 150);
	filewriter_free(&writer);
	start_writer(&with);
	assert_files(false, "one two ");
	ck_assert_uint_eq(writer.left.files, 1);
	stop_writer();
}
END_TEST

/* The last file was finished before the kill, and its lines come again all the same. */
START_TEST(taken_up_after_a_rotation)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	write_lines("one two");
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	filewriter_free(&writer);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("two three"), 1);
	stop_writer();
	assert_files(false, "one two |three ");
}
END_TEST

/* One that is killed while it takes up what another left behind leaves that to the next. */
START_TEST(killed_while_it_takes_up)
{
	struct filewriter_options with = files_options();

	leave_file(".zipkin-20200101T000000Z-1.jsonl.part", "one\ntwo\n");
	start_writer(&with);
	assert_files(false, "one two ");
	filewriter_free(&writer);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("one two three"), 2);
	stop_writer();
	assert_files(false, "one two |three ");
}
END_TEST

/* It stops before all that waits has come again: the next one knows the lines, too. */
START_TEST(stopped_before_all_came_again)
{
	struct filewriter_options with = files_options();

	write_and_die_with(&with, "one two");
	start_writer(&with);
	ck_assert_uint_eq(write_lines("one three"), 1);
	ck_assert_int_eq(filewriter_close(&writer, true), 0);
	filewriter_free(&writer);
	assert_files(true, "");
	start_writer(&with);
	ck_assert_uint_eq(write_lines("two three four"), 2);
	stop_writer();
	assert_files(false, "one two |three |four ");
}
END_TEST

/* From the spool, and from what was recorded: neither is in a file yet. */
START_TEST(comes_twice_after_a_kill)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	ck_assert_uint_eq(write_lines("one one"), 0);
	filewriter_free(&writer);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("two three"), 0);
	ck_assert_uint_eq(write_lines("three two four"), 2);
	stop_writer();
	assert_files(false, "one one |two three four ");
}
END_TEST

/* Spans that are on record are known, whatever their lines are now; also when their file is gone. */
START_TEST(known_by_their_identities)
{
	struct filewriter_options with = files_options();

	with.record = record_path();
	with.rotate_size = 8;
	start_writer(&with);
	write_lines("a1 b1");
	write_lines("c1 d1");
	write_and_die("e1");
	filewriter_free(&writer);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("b2 x1 c2"), 2);
	ck_assert_uint_eq(write_lines("x2 e2 c3 a2"), 4);
	stop_writer();
	assert_files(false, "a1 b1 |c1 d1 |e1 |x1 ");
	/* after a good end, too: whether that is in the checkpoint nobody knows */
	files_remove_lines();
	start_writer(&with);
	ck_assert_uint_eq(write_lines("x3 e3 y1"), 2);
	stop_writer();
	assert_files(false, "y1 ");
}
END_TEST

/* What waits in the spool is merged: one batch may have it from before the kill, and made again. */
START_TEST(comes_twice_in_one_batch)
{
	struct filewriter_options with = files_options();

	write_and_die_with(&with, "one");
	start_writer(&with);
	ck_assert_uint_eq(write_lines("two three two one"), 2);
	stop_writer();
	assert_files(false, "one |two three ");
	files_remove_lines();
	with.record = record_path();
	start_writer(&with);
	ck_assert_uint_eq(write_lines("a1 b1 a2 c1 b2"), 2);
	stop_writer();
	assert_files(false, "a1 b1 c1 ");
}
END_TEST

/* What went on record is in no file if the agent died before it was, or only a part of it is. */
START_TEST(on_record_and_not_written)
{
	/* once more if the next one dies as soon as it has taken up the file */
	int deaths = _i;

	struct filewriter_options with = files_options();
	const uint64_t identities[] = {'b', 'c', 'd'};
	char name[FILENAMES_SIZE];
	g_autofree char *path = NULL;
	FILE *file;

	with.record = record_path();
	start_writer(&with);
	write_lines("a1");
	written_begin(&writer.written, &writer.part, identities, 3);
	filename_print(&writer.part.name, name);
	path = g_build_filename(directory, name, NULL);
	file = fopen(path, "a");
	fputs("b1\nc", file);
	fclose(file);
	do {
		filewriter_free(&writer);
		start_writer(&with);
	} while (deaths--);
	ck_assert_uint_eq(write_lines("a2 b2 c2 d2"), 2);
	stop_writer();
	assert_files(false, "a1 b1 |c2 d2 ");
	/* and where nobody can say, it counts as not written */
	start_writer(&with);
	written_begin(&writer.written, &writer.part, identities + 1, 2);
	ck_assert_uint_eq(write_lines("e1"), 0);
	written_begin(&writer.written, &writer.part, (const uint64_t[]){'f'}, 1);
	filewriter_free(&writer);
	files_remove_lines();
	start_writer(&with);
	ck_assert_uint_eq(write_lines("e2 f2 g2"), 1);
	stop_writer();
}
END_TEST

/* A write that fails leaves nothing on record. */
START_TEST(a_failure_is_on_record)
{
	struct filewriter_options with = files_options();
	const struct rlimit small = {4004, RLIM_INFINITY}; /* larger than the record */
	g_autofree char *large = g_strnfill(4000, 'a');
	const uint64_t identities[] = {'b', 'c'};
	const uint32_t sizes[] = {2, 2};
	const struct filewriter_lines lines = {(const uint8_t *)"b1c1", sizes, identities, 2};
	const struct filewriter_lines more = {
		(const uint8_t *)"d1e1", sizes, (const uint64_t[]){'d', 'e'}, 2};
	struct rlimit limit;
	uint32_t known = 0;

	with.record = record_path();
	start_writer(&with);
	write_lines(large);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_FSIZE, &small);
	ck_assert_int_eq(filewriter_write(&writer, &lines, &known), EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	filewriter_free(&writer);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("a2 b2 c2"), 1);
	/* nor is it known to the one that tries again */
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){7, RLIM_INFINITY});
	ck_assert_int_eq(filewriter_write(&writer, &more, &known), EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(filewriter_write(&writer, &more, &known), 0);
	ck_assert_uint_eq(known, 0);
	stop_writer();
}
END_TEST

/* The record is bounded, and what is damaged of it counts for nothing. */
START_TEST(record_is_bounded)
{
	struct filewriter_options with = files_options();
	g_autofree char *old = g_strconcat(record_path(), ".old", NULL);
	static uint64_t identities[50000];
	struct stat file;

	with.record = record_path();
	start_writer(&with);
	for (uint64_t n = 0; n < 20; n++) {
		for (uint64_t i = 0; i < G_N_ELEMENTS(identities); i++)
			identities[i] = 1000 + n * G_N_ELEMENTS(identities) + i;
		written_begin(&writer.written, &writer.part, identities, G_N_ELEMENTS(identities));
		writer.part.size++;
	}
	filewriter_free(&writer);
	ck_assert(stat(record_path(), &file) == 0 && file.st_size <= 1 << 20);
	ck_assert(stat(old, &file) == 0 && file.st_size <= 1 << 20);
	ck_assert_int_eq(truncate(old, file.st_size - 1), 0);
	start_writer(&with);
	ck_assert(known_has(&writer.identities, 1000 + 18 * G_N_ELEMENTS(identities)));
	ck_assert(!known_has(&writer.identities, 1000));
	stop_writer();
}
END_TEST

/* Where the path leads to later, another one was killed. */
START_TEST(directory_changes)
{
	struct filewriter_options with = files_options();
	g_autofree char *away = g_strconcat(directory, "-away", NULL);

	leave_file(".zipkin-20200101T000000Z-1.jsonl.part", "one\ntwo\n");
	ck_assert_int_eq(rename(directory, away), 0);
	ck_assert_int_eq(mkdir(directory, 0700), 0);
	start_writer(&with);
	ck_assert_uint_eq(write_lines("zero"), 0);
	ck_assert_int_eq(filewriter_rotate(&writer), 0);
	g_autofree char *other = g_strconcat(directory, "-other", NULL);
	ck_assert_int_eq(rename(directory, other), 0);
	ck_assert_int_eq(rename(away, directory), 0);
	ck_assert_uint_eq(write_lines("two three"), 1);
	stop_writer();
	assert_files(true, "");
	assert_files(false, "one two |three ");
	ck_assert_int_eq(rename(directory, away), 0);
	ck_assert_int_eq(rename(other, directory), 0);
	assert_files(false, "zero ");
	files_remove();
	directory = g_steal_pointer(&away);
}
END_TEST

START_TEST(half_a_line_is_cut_off)
{
	struct filewriter_options with = files_options();
	g_autofree char *large = g_strnfill(200000, 'x'), *text = g_strconcat("one\ntwo\n", large, NULL);

	leave_file(".zipkin-20200101T000000Z-1.jsonl.part", "one\ntw");
	leave_file(".zipkin-20200101T000000Z-2.jsonl.part", "tw");
	leave_file(".zipkin-20200101T000000Z-3.jsonl.part", "");
	leave_file(".zipkin-20200101T000000Z-4.jsonl.part", text);
	leave_file(".zipkin-20200101T000000Z-5.jsonl.part", "three\n");
	start_writer(&with);
	assert_files(false, "one |one two |three ");
	ck_assert_uint_eq(writer.left.files, 3);
	ck_assert_int_eq(writer.left.cut, 2 + 2 + 200000);
	ck_assert_uint_eq(write_lines("one two one one"), 3);
	stop_writer();
	assert_files(false, "one |one two |three |one ");
}
END_TEST

/* After a good end all is on record: the same line is another one. */
START_TEST(nothing_is_known_after_a_good_end)
{
	struct filewriter_options with = files_options();

	start_writer(&with);
	write_lines("one");
	stop_writer();
	start_writer(&with);
	ck_assert_uint_eq(write_lines("one"), 0);
	stop_writer();
	assert_files(false, "one |one ");
}
END_TEST

/* Two write into the same directory, as an import beside an agent: neither takes the other's file. */
START_TEST(two_at_once)
{
	struct filewriter_options with = files_options();
	struct filewriter other;

	start_writer(&with);
	write_lines("one");
	other = writer;
	start_writer(&with);
	ck_assert(!writer.left.left);
	write_lines("two");
	assert_files(true, "one |two ");
	stop_writer();
	writer = other;
	write_lines("three");
	stop_writer();
	assert_files(false, "one three |two ");
}
END_TEST

TCase *files_takeup_cases(void)
{
	TCase *cases = tcase_create("takeup");

	tcase_add_checked_fixture(cases, files_make, files_remove);
	tcase_add_test(cases, taken_up_after_a_kill);
	tcase_add_test(cases, taken_up_after_a_rotation);
	tcase_add_test(cases, taken_up_from_a_child);
	tcase_add_test(cases, killed_while_it_takes_up);
	tcase_add_test(cases, stopped_before_all_came_again);
	tcase_add_test(cases, comes_twice_after_a_kill);
	tcase_add_test(cases, comes_twice_in_one_batch);
	tcase_add_test(cases, known_by_their_identities);
	tcase_add_loop_test(cases, on_record_and_not_written, 0, 3);
	tcase_add_test(cases, a_failure_is_on_record);
	tcase_add_test(cases, record_is_bounded);
	tcase_add_test(cases, directory_changes);
	tcase_add_test(cases, half_a_line_is_cut_off);
	tcase_add_test(cases, nothing_is_known_after_a_good_end);
	tcase_add_test(cases, two_at_once);
	return cases;
}
