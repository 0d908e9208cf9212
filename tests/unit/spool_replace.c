/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A damaged file is replaced, and something goes wrong meanwhile: the process ends, or the disk fails, at
 * every step. What the damage cost is counted all the same. And how often the tally goes to the disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "output/spool/spoolfile.h"
#include "spool_harm.h"
#include "spool_rig.h"
#include "spool_walk.h"

#define MIB (1024 * 1024)

/* The steps: calls of the system that the program under test, and SQLite, get from here. */

#define CRASHED 77

static int steps_left; /* until something goes wrong; 0: nothing does */
static bool crash;     /* that is the end of the process, otherwise an error */
static ino_t watched;  /* the file whose fdatasync is counted */
static int syncs;

static bool goes_wrong(void)
{
	if (!steps_left || --steps_left)
		return false;
	if (crash)
		_exit(CRASHED);
	errno = EIO;
	return true;
}

int rename(const char *from, const char *to)
{
	return goes_wrong() ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
	return goes_wrong() ? -1 : unlinkat(AT_FDCWD, path, 0);
}

int fsync(int file)
{
	return goes_wrong() ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
	struct stat status;

	syncs += fstat(file, &status) == 0 && status.st_ino == watched;
	return (int)syscall(SYS_fdatasync, file);
}

/* A crash while a damaged file is replaced: at every step the next start finds its way. */
START_TEST(test_crash_while_replacing)
{
	g_autofree char *path = harm_path(harm_bad, ""), *new = harm_path(harm_bad, ".new"),
			*wal = harm_path(harm_bad, "-wal");

	harm_fill();
	/* the new file was not whole: it is thrown away */
	harm_copy();
	g_file_set_contents(new, "SQLite format 3", 16, NULL);
	harm_assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "a new file that is not whole", 0);
	ck_assert(!g_file_test(new, G_FILE_TEST_EXISTS));
	/* the old file was set aside, its log was not, and the new one has no name yet */
	harm_copy();
	ck_assert_int_eq(g_rename(path, new), 0);
	g_file_set_contents(wal, "the log of a file that is gone", -1, NULL);
	harm_assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "a new file without its name", 0);
}
END_TEST

enum { BATCH_DAMAGED, TEXT, GONE, HARMS };

/* Returns how many spans survive it. */
static int64_t harm(int kind, size_t at)
{
	g_autofree char *path = harm_path(harm_bad, "");

	harm_remove_aside();
	harm_copy();
	if (kind == BATCH_DAMAGED)
		harm_flip(path, at, 1);
	else if (kind == TEXT)
		ck_assert(g_file_set_contents(path, "no database", -1, NULL));
	else
		ck_assert_int_eq(g_remove(path), 0);
	return kind == BATCH_DAMAGED ? (BATCHES - 1) * SPANS : 0;
}

static size_t end_of_a_batch(void)
{
	struct walk walk;
	size_t end;

	walk_good(&walk);
	end = g_array_index(walk.needs, struct piece, 4).end - 1;
	walk_free(&walk);
	return end;
}

/* Opens it, and reads all of it: so damage is found. */
static bool look_at_all(struct spool *spool)
{
	enum spool_read status = SPOOL_FAILED;
	struct entry *entry = NULL;

	if (spool_open(spool))
		while ((status = rig_next(spool, &entry)) == SPOOL_READ)
			;
	entry_destroy(entry);
	return status == SPOOL_END;
}

/* Opens bad in a process that ends at that step. Returns false if it had no such step. */
static bool open_and_crash(int step)
{
	struct spool_options options = rig_options(harm_bad, 16 * MIB);
	pid_t child = fork();
	int status;

	if (child == 0) {
		steps_left = step;
		crash = true;
		_exit(look_at_all(spool_create(&options)) ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CRASHED));
	return WEXITSTATUS(status) == CRASHED;
}

START_TEST(test_crash_at_every_step)
{
	int step = 0;
	size_t at;

	harm_fill();
	at = end_of_a_batch();
	for (;;) {
		int64_t survivors = harm(_i, at);

		if (!open_and_crash(++step))
			break;
		harm_assert_survivors(BATCHES * SPANS, survivors, "crash at step", step);
	}
	ck_assert_int_gt(step, 3);
}
END_TEST

START_TEST(test_failure_at_every_step)
{
	struct spool_options options = rig_options(harm_bad, 16 * MIB);
	bool reached = true;
	int failed = 0;
	size_t at;

	harm_fill();
	at = end_of_a_batch();
	for (int step = 1; reached; step++) {
		int64_t survivors = harm(_i, at), drained, lost;
		struct spool *spool = spool_create(&options);

		steps_left = step;
		failed += !look_at_all(spool);
		reached = steps_left == 0;
		steps_left = 0;
		drained = rig_drain(spool, NULL);
		lost = rig_corrupt(spool);
		ck_assert_msg(drained == survivors && lost == BATCHES * SPANS - survivors,
			"failure at step %d: %lld spans came, %lld were counted as lost", step,
			(long long)drained, (long long)lost);
		spool_destroy(spool);
	}
	ck_assert_int_gt(failed, 2);
}
END_TEST

/* A power cut is to find a tally that is no older than a second of storing, at little cost. */
START_TEST(test_tally_goes_to_the_disk)
{
	g_autofree char *counts = rig_path(harm_good, RIG_TALLY);
	struct spool *spool = rig_open(harm_good, 16 * MIB);
	int64_t end = clock_monotonic() + 1300 * NS_PER_MS;
	struct stat status;

	ck_assert_int_eq(stat(counts, &status), 0);
	watched = status.st_ino;
	for (int64_t first = 0; clock_monotonic() < end; first += SPANS) {
		rig_fill(spool, first, 1, SPANS, 100);
		g_usleep(1000);
	}
	ck_assert_int_ge(syncs, 1);
	ck_assert_int_le(syncs, 3);
	spool_destroy(spool);
}
END_TEST

Suite *spool_replace_suite(void)
{
	Suite *suite = suite_create("a spool that is replaced");
	TCase *tcase = tcase_create("replace");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, harm_setup, harm_teardown);
	tcase_add_test(tcase, test_crash_while_replacing);
	tcase_add_loop_test(tcase, test_crash_at_every_step, 0, HARMS);
	tcase_add_loop_test(tcase, test_failure_at_every_step, 0, HARMS);
	tcase_add_test(tcase, test_tally_goes_to_the_disk);
	suite_add_tcase(suite, tcase);
	return suite;
}
