/* SPDX-License-Identifier: BSD-2-Clause */
/* What is taken up after a crash. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "files_rig.h"

/* A child writes, and is killed. */
static void write_and_die(const char *lines)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		write_lines(lines);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* It is finished at the next start, and what comes again is not written again: each line as often as it was
 * there. */
START_TEST(taken_up_after_a_kill)
{
	struct filewriter_options with = files_options();

	with.rotate_size = 12;
	start_writer(&with);
	write_and_die("one two two");
	filewriter_free(&writer); /* unfinished, as the child left it */
	start_writer(&with);
	assert_files(false, "one two two ");
	ck_assert_uint_eq(writer.left.files, 1);
	ck_assert_uint_eq(write_lines("two three"), 1);
	ck_assert_uint_eq(write_lines("one two two"), 2);
	ck_assert_uint_eq(write_lines("one"), 0);
	stop_writer();
	assert_files(false, "one two two |three two |one ");
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

	start_writer(&with);
	write_and_die("one two");
	filewriter_free(&writer);
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
	tcase_add_test(cases, killed_while_it_takes_up);
	tcase_add_test(cases, stopped_before_all_came_again);
	tcase_add_test(cases, comes_twice_after_a_kill);
	tcase_add_test(cases, directory_changes);
	tcase_add_test(cases, half_a_line_is_cut_off);
	tcase_add_test(cases, nothing_is_known_after_a_good_end);
	tcase_add_test(cases, two_at_once);
	return cases;
}
