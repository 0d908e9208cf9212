/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disks that do not take it: full, read-only, gone; and the end of the process at any moment. The small disk
 * is a tmpfs in a namespace of the test's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "output/spool/spoolfile.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)

/* Stores batches until one is not taken; returns how many spans were. */
static int64_t put_until_failure(struct spool *spool, int64_t first)
{
	int64_t stored = 0;

	for (int i = 0; i < 1000; i++) {
		struct entry *entry = rig_entry(first + stored, 20, 500);
		bool good = spool_put(spool, entry);

		entry_destroy(entry);
		if (!good)
			return stored;
		stored += 20;
	}
	ck_abort_msg("the disk is not full");
	return 0;
}

START_TEST(test_disk_full)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast");
	int64_t stored, more;
	struct spool *spool;

	if (!rig_mount_disk("size=2m"))
		return;
	spool = rig_open(rig_folder, 64 * MIB);
	stored = put_until_failure(spool, 0);
	ck_assert_int_gt(stored, 500);
	ck_assert_ptr_nonnull(strstr(spool_error(spool), "no space left"));
	rig_fill_disk(ballast);
	ck_assert_int_eq(put_until_failure(spool, stored), 0);
	/* what is there can be delivered nonetheless */
	ck_assert_int_eq(rig_drain(spool, NULL), stored);
	ck_assert_int_eq(g_remove(ballast), 0);
	more = put_until_failure(spool, 0);
	ck_assert_int_gt(more, 500);
	ck_assert_int_eq(rig_drain(spool, NULL), more);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

/* A stop leaves the room on the disk that the next start needs to deliver what is there, though that is full.
 */
START_TEST(test_start_on_a_full_disk)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast");
	int64_t stored;
	struct spool *spool;

	if (!rig_mount_disk("size=2m"))
		return;
	spool = rig_open(rig_folder, 64 * MIB);
	stored = put_until_failure(spool, 0);
	for (int i = 0; i < 3; i++) {
		spool_destroy(spool);
		rig_fill_disk(ballast);
		spool = rig_open(rig_folder, 64 * MIB);
		ck_assert_int_eq(rig_corrupt(spool), 0);
	}
	ck_assert_int_eq(put_until_failure(spool, stored), 0);
	ck_assert(spool_disk_is_full(spool));
	ck_assert_int_eq(rig_drain(spool, NULL), stored);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

static int read_by_another(void)
{
	g_autofree char *path = rig_path(rig_folder, RIG_SPOOL);
	int rc;
	sqlite3 *reader = spoolfile_open(path, SQLITE_OPEN_READONLY, &rc);

	rc = sqlite3_exec(reader, "SELECT count(*) FROM batch", NULL, NULL, NULL);
	sqlite3_close(reader);
	return rc;
}

/* The room for the log and its index is gone, as after an earlier version, which left none: what is there can
 * be read, and once there is room, deleted. Others can read it when it was empty. */
START_TEST(test_start_without_room_for_a_log)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast"),
			*log = rig_path(rig_folder, RIG_SPOOL "-wal"),
			*index = rig_path(rig_folder, RIG_SPOOL "-shm");
	struct entry *entry = NULL;
	struct spool *spool;
	int64_t stored;

	if (!rig_mount_disk("size=2m"))
		return;
	spool = rig_open(rig_folder, 64 * MIB);
	stored = put_until_failure(spool, 0);
	spool_destroy(spool);
	g_remove(log);
	g_remove(index);
	rig_fill_disk(ballast);
	spool = rig_open(rig_folder, 64 * MIB);
	ck_assert_int_eq(read_by_another(), SQLITE_BUSY);
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	ck_assert(!spool_delete(spool, &entry->spool_id, 1));
	ck_assert_ptr_nonnull(strstr(spool_error(spool), "no space left"));
	entry_destroy(entry);
	ck_assert_int_eq(g_remove(ballast), 0);
	ck_assert_int_eq(rig_drain(spool, NULL), stored);
	ck_assert_int_eq(read_by_another(), SQLITE_OK);
	rig_fill(spool, 0, 3, 10, 100);
	ck_assert_int_eq(read_by_another(), SQLITE_OK);
	ck_assert_int_eq(rig_drain(spool, NULL), 30);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

/* Puts what is left of each batch, without its first span, in its place. */
static void put_rests(struct spool *spool, int64_t batches)
{
	struct entry *entry = NULL;

	for (int64_t i = 0; i < batches; i++)
		ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	entry_destroy(entry);
	for (int64_t i = 0; i < batches; i++) {
		entry = rig_entry(i * 20 + 1, 19, 500);
		entry->spool_id = i + 1;
		ck_assert_msg(spool_put_rest(spool, entry), "%s", spool_error(spool));
		entry_destroy(entry);
	}
}

/* It takes no room that the disk does not have. */
START_TEST(test_rests_on_a_full_disk)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast");
	int64_t batches;
	struct spool *spool;

	if (!rig_mount_disk("size=2m"))
		return;
	spool = rig_open(rig_folder, 64 * MIB);
	batches = put_until_failure(spool, 0) / 20;
	rig_fill_disk(ballast);
	put_rests(spool, batches);
	ck_assert_int_eq(rig_drain(spool, NULL), batches * 19);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

static int64_t count_pages(const char *path)
{
	sqlite3_stmt *stmt;
	int64_t pages;
	int rc;
	sqlite3 *reader = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);

	stmt = spoolfile_prepare(reader, "PRAGMA page_count", &rc);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	pages = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
	return pages;
}

/* The file has room for all that is in its log, also for rows that take a page each, and for small ones. */
START_TEST(test_room_is_reserved)
{
	g_autofree char *path = rig_path(rig_folder, RIG_SPOOL);
	struct spool *spool = rig_open(rig_folder, 64 * MIB);
	struct entry *list = NULL;
	struct stat file;

	for (int i = 0; i < 300; i++) {
		struct entry *entry = rig_entry(i * 5, 1 + (uint32_t)(i * _i) % 5, 100 + 100 * (size_t)_i);

		entry->next = list;
		list = entry;
	}
	ck_assert_msg(spool_put(spool, list), "%s", spool_error(spool));
	ck_assert_int_eq(stat(path, &file), 0);
	ck_assert_int_ge(file.st_size, count_pages(path) * SPOOLFILE_PAGE);
	for (struct entry *entry; (entry = list);) {
		list = entry->next;
		entry_destroy(entry);
	}
	spool_destroy(spool);
}
END_TEST

/* At every free size of the disk: a file that was begun is not in the way when there is room again. */
START_TEST(test_disk_full_at_the_start)
{
	struct spool_options options = rig_options(rig_folder, 64 * MIB);
	g_autofree char *ballast = rig_path(rig_folder, "ballast");

	if (!rig_mount_disk("size=256k"))
		return;
	rig_fill_disk(ballast);
	for (int free_pages = 0; free_pages < 24; free_pages++) {
		struct spool *spool = spool_create(&options);

		ck_assert_int_eq(truncate(ballast, 4096 * (off_t)(60 - free_pages)), 0);
		if (!spool_open(spool))
			ck_assert_ptr_nonnull(strstr(spool_error(spool), rig_folder));
		ck_assert_int_eq(truncate(ballast, 0), 0);
		ck_assert_msg(spool_open(spool), "%s", spool_error(spool));
		rig_fill(spool, 0, 1, 10, 100);
		ck_assert_int_eq(rig_drain(spool, NULL), 10);
		ck_assert_int_eq(rig_corrupt(spool), 0);
		spool_destroy(spool);
		rig_clear();
		rig_fill_disk(ballast);
	}
}
END_TEST

START_TEST(test_disk_turns_read_only)
{
	struct spool_options options = rig_options(rig_folder, 64 * MIB);
	struct entry *entry = rig_entry(100, 10, 100);
	struct spool *spool;

	if (!rig_mount_disk("size=8m"))
		return;
	spool = rig_open(rig_folder, 64 * MIB);
	rig_fill(spool, 0, 5, 10, 100);
	/* what has the disk open for writing keeps it from turning read-only: so this is like a start on it
	 */
	spool_destroy(spool);
	spool = rig_open(rig_folder, 64 * MIB);
	spool_destroy(spool);
	ck_assert_int_eq(mount(NULL, rig_folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	spool = spool_create(&options);
	for (int i = 0; i < 3; i++) {
		ck_assert(!spool_put(spool, entry));
		ck_assert_ptr_nonnull(strstr(spool_error(spool), rig_folder));
	}
	ck_assert_int_eq(mount(NULL, rig_folder, NULL, MS_REMOUNT, NULL), 0);
	ck_assert(spool_put(spool, entry));
	ck_assert_int_eq(rig_drain(spool, NULL), 60);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
	entry_destroy(entry);
}
END_TEST

/* The folder is not there, is a file, and then is there. */
START_TEST(test_no_folder)
{
	g_autofree char *folder = rig_path(rig_folder, "state");
	struct spool_options options = rig_options(folder, 64 * MIB);
	struct spool *spool = spool_create(&options);

	ck_assert(!spool_open(spool));
	ck_assert_ptr_nonnull(strstr(spool_error(spool), "No such file"));
	g_file_set_contents(folder, "", 0, NULL);
	ck_assert(!spool_open(spool));
	ck_assert_int_eq(g_remove(folder), 0);
	ck_assert_int_eq(g_mkdir(folder, 0700), 0);
	ck_assert(spool_open(spool));
	rig_fill(spool, 0, 1, 10, 100);
	ck_assert_int_eq(rig_drain(spool, NULL), 10);
	spool_destroy(spool);
}
END_TEST

/*
 * The child stores batches and deletes some, telling each through the pipe once it is done; it is killed at a
 * random moment. What it told is there; at most the one step that it was at may be there, or not, besides.
 */
static void store_and_tell(int pipe, int64_t next)
{
	struct spool *spool = rig_open(rig_folder, 64 * MIB);
	struct entry *entry = NULL;

	for (;; next++) {
		struct entry *each = rig_entry(next, 1 + (uint32_t)(next % 5), 2000);
		int64_t told[2] = {next, 0};

		/* numbers of the batches' first spans are what is told; they need not follow each other here
		 */
		if (!spool_put(spool, each))
			_exit(1);
		entry_destroy(each);
		if (next % 3 == 0 && spool_read(spool, 0, &entry) == SPOOL_READ) {
			told[1] = batch_events(entry->batch)[0];
			if (write(pipe, &(int64_t[2]){next, -told[1]}, sizeof(told)) != sizeof(told) ||
				!spool_delete(spool, &entry->spool_id, 1))
				_exit(1);
			entry_destroy(entry);
		}
		if (write(pipe, told, sizeof(told)) != sizeof(told))
			_exit(1);
	}
}

struct model {
	GHashTable *stored; /* first numbers of batches that must be there */
	int64_t next;       /* the number of the batch that may be there or not */
	int64_t deleting;   /* the batch that may be gone or not; 0: none */
};

static void learn(struct model *model, const int64_t told[2])
{
	if (told[1] < 0 || told[1] == 0)
		g_hash_table_add(model->stored, GINT_TO_POINTER((int)told[0]));
	if (told[1] < 0)
		model->deleting = -told[1];
	if (told[1] > 0) {
		g_hash_table_remove(model->stored, GINT_TO_POINTER((int)told[1]));
		model->deleting = 0;
	}
	model->next = told[0] + 1;
}

static void run_and_kill(struct model *model, GRand *rand)
{
	int64_t told[2];
	int ends[2], status;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		store_and_tell(ends[1], model->next);
	}
	close(ends[1]);
	g_usleep((gulong)g_rand_int_range(rand, 500, 30000));
	kill(child, SIGKILL);
	while (read(ends[0], told, sizeof(told)) == sizeof(told))
		learn(model, told);
	close(ends[0]);
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status));
}

/* Compares what is there with what was told. */
static void compare(struct model *model)
{
	struct spool *spool = rig_open(rig_folder, 64 * MIB);
	GHashTable *found = g_hash_table_new(NULL, NULL);
	struct entry *entry = NULL;
	GHashTableIter iter;
	gpointer key;

	ck_assert_int_eq(rig_corrupt(spool), 0);
	while (rig_next(spool, &entry) == SPOOL_READ) {
		int64_t first = batch_events(entry->batch)[0];

		ck_assert_uint_eq(entry->batch->count, 1 + (uint32_t)(first % 5));
		g_hash_table_add(found, GINT_TO_POINTER((int)first));
		ck_assert(g_hash_table_contains(model->stored, GINT_TO_POINTER((int)first)) ||
			  first == model->next);
		if (first == model->next)
			g_hash_table_add(model->stored, GINT_TO_POINTER((int)first));
	}
	g_hash_table_iter_init(&iter, model->stored);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(found, key)) {
			ck_assert_int_eq(GPOINTER_TO_INT(key), model->deleting);
			g_hash_table_iter_remove(&iter);
		}
	model->deleting = 0;
	model->next++;
	g_hash_table_unref(found);
	entry_destroy(entry);
	spool_destroy(spool);
}

START_TEST(test_killed_at_any_moment)
{
	struct model model = {g_hash_table_new(NULL, NULL), 1, 0};
	GRand *rand = g_rand_new_with_seed(7);

	for (int round = 0; round < 60 || model.next <= 200; round++) {
		run_and_kill(&model, rand);
		compare(&model);
	}
	g_rand_free(rand);
	g_hash_table_unref(model.stored);
}
END_TEST

Suite *spool_disk_suite(void)
{
	Suite *suite = suite_create("the spool's disk");
	TCase *tcase = tcase_create("disk");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_disk_full);
	tcase_add_test(tcase, test_start_on_a_full_disk);
	tcase_add_test(tcase, test_start_without_room_for_a_log);
	tcase_add_test(tcase, test_rests_on_a_full_disk);
	tcase_add_loop_test(tcase, test_room_is_reserved, 0, 40);
	tcase_add_test(tcase, test_disk_full_at_the_start);
	tcase_add_test(tcase, test_disk_turns_read_only);
	tcase_add_test(tcase, test_no_folder);
	tcase_add_test(tcase, test_killed_at_any_moment);
	suite_add_tcase(suite, tcase);
	return suite;
}
