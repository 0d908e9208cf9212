/* SPDX-License-Identifier: BSD-2-Clause */
/* The checkpoint's two files with every kind of damage, and their contents: positions, clock steps. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "core/clocksteps.h"
#include "output/checkpointfile.h"
#include "session/position.h"

#include "run.h"

static char folder[] = "/tmp/blkin-XXXXXX";
static struct checkpoint_file *checkpoint;
static struct buffer data;
static char error[512];

static char *slot(int number)
{
	return g_strdup_printf("%s/checkpoint.%d", folder, number);
}

static void reopen(void)
{
	bool locked;

	if (checkpoint)
		checkpoint_file_close(checkpoint);
	checkpoint = checkpoint_file_open(folder, &locked, error, sizeof(error));
	ck_assert_msg(checkpoint != NULL, "%s", error);
}

static void setup(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	error[0] = '\0';
	reopen();
}

static void teardown(void)
{
	g_autofree char *first = slot(0), *second = slot(1);

	checkpoint_file_close(checkpoint);
	checkpoint = NULL;
	buffer_free(&data);
	unlink(first);
	unlink(second);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_text(const char *text)
{
	ck_assert_int_eq(checkpoint_file_write(checkpoint, text, strlen(text), false), 0);
}

static void expect(const char *text)
{
	reopen();
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_FOUND);
	ck_assert_uint_eq(data.size, strlen(text));
	ck_assert_mem_eq(data.data, text, data.size);
}

static void damage(int number, off_t at, char with)
{
	g_autofree char *path = slot(number);
	int file = open(path, O_RDWR);

	ck_assert_int_eq(pwrite(file, &with, 1, at), 1);
	close(file);
}

START_TEST(the_last_one_counts)
{
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_NONE);
	write_text("one");
	expect("one");
	for (int i = 0; i < 5; i++) {
		write_text("two, which is longer");
		expect("two, which is longer");
		write_text("three");
		expect("three");
	}
	ck_assert_int_eq(checkpoint_file_remove(checkpoint), 0);
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_NONE);
	write_text("four");
	expect("four");
}
END_TEST

/* Written in part at every length: the one before counts. */
START_TEST(truncated)
{
	g_autofree char *path = slot(1);
	struct stat stat;
	int file;

	write_text("one");
	write_text("two");
	file = open(path, O_RDWR);
	ck_assert_int_eq(fstat(file, &stat), 0);
	for (off_t size = stat.st_size - 1; size >= 0; size--) {
		ck_assert_int_eq(ftruncate(file, size), 0);
		expect("one");
	}
	close(file);
}
END_TEST

/* Each byte of it flipped: the one before counts; of both: none does, and it says so. */
START_TEST(flipped)
{
	g_autofree char *path = slot(1);
	g_autofree char *whole = NULL;
	gsize size;

	write_text("one");
	write_text("two");
	ck_assert(g_file_get_contents(path, &whole, &size, NULL));
	for (gsize i = 0; i < size; i++) {
		damage(1, (off_t)i, (char)~whole[i]);
		expect("one");
		damage(1, (off_t)i, whole[i]);
		expect("two");
	}
	damage(0, 40, 'x');
	damage(1, (off_t)size - 1, 'x');
	damage(0, 33, 'x');
	reopen();
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_BROKEN);
	ck_assert_str_eq(error, "it is damaged");
	write_text("three");
	expect("three");
}
END_TEST

START_TEST(of_another_version)
{
	write_text("one");
	damage(0, 11, 2);
	reopen();
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_BROKEN);
	ck_assert_str_eq(error, "its version is 2, and this agent's is 1");
}
END_TEST

START_TEST(garbage)
{
	g_autofree char *first = slot(0), *second = slot(1);
	char noise[4096];

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 7919 >> 3);
	ck_assert(g_file_set_contents(first, noise, sizeof(noise), NULL));
	ck_assert(g_file_set_contents(second, "x", 1, NULL));
	reopen();
	ck_assert_int_eq(checkpoint_file_read(checkpoint, &data, error, sizeof(error)), CHECKPOINT_BROKEN);
}
END_TEST

START_TEST(for_one_agent)
{
	struct checkpoint_file *other;
	bool locked;

	other = checkpoint_file_open(folder, &locked, error, sizeof(error));
	ck_assert_ptr_null(other);
	ck_assert(locked);
	ck_assert_ptr_nonnull(strstr(error, "another blkin-agent runs"));
	other = checkpoint_file_open("/proc/nowhere/blkin", &locked, error, sizeof(error));
	ck_assert_ptr_null(other);
	ck_assert(!locked);
	ck_assert_ptr_nonnull(
		strstr(error, "`state-directory` /proc/nowhere/blkin of [agent] cannot be used"));
}
END_TEST

/* What version 0.1 wrote: tests/fixtures/spool-0.1/README. */
START_TEST(of_version_0_1)
{
	for (int i = 0; i < 2; i++) {
		g_autofree char *to = slot(i),
				*from = g_strdup_printf(FIXTURES "/spool-0.1/checkpoint.%d", i);
		g_autofree char *bytes = NULL;
		gsize size;

		ck_assert(g_file_get_contents(from, &bytes, &size, NULL));
		ck_assert(g_file_set_contents(to, bytes, (gssize)size, NULL));
	}
	expect("the third");
	write_text("the fourth");
	expect("the fourth");
	damage(1, 33, 'x');
	expect("the third");
}
END_TEST

/* Positions */

static struct stream_key key_of(uint64_t number)
{
	return (struct stream_key){number / 4, number % 2 ? 64 : 32, number % 3, number};
}

START_TEST(positions_go_on)
{
	struct positions *positions = positions_create();
	struct buffer done = {0}, reached = {0}, again = {0};

	for (uint64_t i = 0; i < 50; i++) {
		struct stream_key key = key_of(i);
		struct position *position = positions_get(positions, &key);

		position->done = (struct stream_point){true, i % 2, 1000 + i, i, 7 * i};
		position->discarded = i * i;
		/* of every third, the run before had read more */
		if (i % 3 == 0)
			position->before = (struct stream_point){true, true, 2000 + i, i + 1, 1};
	}
	positions_save(positions, false, &done);
	positions_save(positions, true, &reached);
	for (size_t size = 0; size < done.size; size++)
		ck_assert(!positions_load(
			positions, unpacker_of(done.data, size), unpacker_of(reached.data, reached.size)));
	ck_assert_uint_eq(positions_count(positions), 0);
	ck_assert(positions_load(
		positions, unpacker_of(done.data, done.size), unpacker_of(reached.data, reached.size)));
	for (uint64_t i = 0; i < 50; i++) {
		struct stream_key key = key_of(i);
		const struct position *position = positions_find(positions, &key);

		ck_assert_uint_eq(position->done.begin, 1000 + i);
		ck_assert_uint_eq(position->done.sequence, i);
		ck_assert_uint_eq(position->done.events, 7 * i);
		ck_assert_int_eq(position->done.ended, i % 2);
		ck_assert_uint_eq(position->discarded, i * i);
		ck_assert_uint_eq(position->before.begin, i % 3 == 0 ? 2000 + i : 1000 + i);
		ck_assert_int_eq(stream_point_is_before(&position->done, &position->before), i % 3 == 0);
	}
	positions_save(positions, true, &again);
	ck_assert_uint_eq(again.size, reached.size);
	ck_assert_mem_eq(again.data, reached.data, again.size);
	buffer_free(&done);
	buffer_free(&reached);
	buffer_free(&again);
	positions_destroy(positions);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("checkpoint");
	TCase *files = tcase_create("files"), *contents = tcase_create("contents");

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, the_last_one_counts);
	tcase_add_test(files, truncated);
	tcase_add_test(files, flipped);
	tcase_add_test(files, of_another_version);
	tcase_add_test(files, garbage);
	tcase_add_test(files, of_version_0_1);
	tcase_add_test(files, for_one_agent);
	suite_add_tcase(suite, files);
	tcase_add_test(contents, positions_go_on);
	suite_add_tcase(suite, contents);
	return run_all(srunner_create(suite));
}
