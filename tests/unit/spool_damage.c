/* SPDX-License-Identifier: BSD-2-Clause */
/* Every kind of damage to the spool's file: what survives is delivered as it was, and the rest is counted. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "output/spool/spoolcounts.h"
#include "output/spool/spoolfile.h"
#include "spool_harm.h"
#include "spool_rig.h"
#include "spool_walk.h"

#define MIB (1024 * 1024)
#define PAGE SPOOLFILE_PAGE

/* Cut off at bytes of its last page (with BLKIN_DAMAGE=all at every one), fewer of those before, and a few of
 * each page of the rest. */
START_TEST(test_file_cut_off)
{
	g_autofree char *path = harm_path(harm_bad, "");
	struct walk walk;
	size_t step;

	harm_fill();
	walk_good(&walk);
	ck_assert_uint_eq(walk.needs->len, BATCHES);
	ck_assert_int_eq(walk_survivors(&walk, walk.size), BATCHES);
	for (size_t size = walk.size; size > 0; size -= MIN(size, step)) {
		harm_copy();
		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		/* A file that does not end with a page is as long as its last full one, and a part. */
		harm_assert_survivors(
			BATCHES * SPANS, walk_survivors(&walk, size) * SPANS, "cut off at", (int64_t)size);
		ck_assert_uint_ge(harm_count_aside(), walk_survivors(&walk, size) < BATCHES);
		harm_remove_aside();
		step = size > walk.size - PAGE       ? rig_stride(1)
		       : size > walk.size - 3 * PAGE ? rig_stride(5)
						     : rig_stride(PAGE / 3);
	}
	walk_free(&walk);
}
END_TEST

/* The log cut off at every byte of its last page: what was committed before is there, the rest is counted.
 */
START_TEST(test_log_cut_off)
{
	g_autofree char *from = harm_path(harm_good, "-wal"), *path = harm_path(harm_bad, "-wal");
	struct spool *spool = rig_open(harm_good, 16 * MIB);
	size_t ends[BATCHES] = {0}, step;
	GStatBuf file;

	for (int i = 0; i < BATCHES; i++) {
		rig_fill(spool, i * SPANS, 1, SPANS, 700);
		ck_assert_int_eq(g_stat(from, &file), 0);
		ends[i] = (size_t)file.st_size;
	}
	for (size_t size = ends[BATCHES - 1]; size > 0; size -= MIN(size, step)) {
		int64_t survivors = 0;

		harm_copy();
		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		for (int i = 0; i < BATCHES; i++)
			survivors += ends[i] <= size ? SPANS : 0;
		harm_assert_survivors(BATCHES * SPANS, survivors, "log cut off at", (int64_t)size);
		ck_assert_uint_eq(harm_count_aside(), 0);
		step = rig_stride(size > ends[BATCHES - 1] - PAGE - 64 ? 1 : 997);
	}
	harm_copy();
	ck_assert_int_eq(truncate(path, 0), 0);
	harm_assert_survivors(BATCHES * SPANS, 0, "log cut off at", 0);
	spool_destroy(spool);
}
END_TEST

/* Deletions that were in the lost end of the log are not undone: what was delivered is not delivered again.
 */
START_TEST(test_log_of_deletions_lost)
{
	g_autofree char *wal = harm_path(harm_bad, "-wal");
	struct spool *spool = rig_open(harm_good, 16 * MIB);
	struct entry *entry = NULL;

	rig_fill(spool, 0, 10, SPANS, 500);
	spool_destroy(spool);
	spool = rig_open(harm_good, 16 * MIB);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
		ck_assert(spool_delete(spool, &entry->spool_id, 1));
	}
	harm_copy();
	ck_assert_int_eq(truncate(wal, 0), 0);
	harm_assert_survivors(6 * SPANS, 6 * SPANS, "deletions lost", 0);
	spool_destroy(spool);
	entry_destroy(entry);
}
END_TEST

/*
 * A bit flipped at every few bytes of the file. No span comes that is not what it was, and what does not come
 * is counted; a flip within one batch's bytes costs that batch and no other.
 */
START_TEST(test_bit_flipped)
{
	g_autofree char *path = harm_path(harm_bad, "");
	struct walk walk;
	int64_t hits = 0, flips = 0;

	harm_fill();
	walk_good(&walk);
	for (size_t at = 0; at < walk.size; at += rig_stride(23)) {
		struct spool *spool;
		int64_t drained, lost;

		harm_copy();
		harm_flip(path, at, (uint8_t)(1 << at % 8));
		spool = rig_open(harm_bad, 16 * MIB);
		drained = rig_drain(spool, NULL);
		lost = rig_corrupt(spool);
		ck_assert_msg(drained + lost == BATCHES * SPANS, "flipped at %zu: %lld came, %lld counted",
			at, (long long)drained, (long long)lost);
		hits += lost > 0;
		flips++;
		spool_destroy(spool);
		harm_remove_aside();
	}
	ck_assert_int_gt(hits, flips / 3);
	walk_free(&walk);
}
END_TEST

/* A byte within the spans of one batch: that batch is lost, and no other. */
START_TEST(test_batch_damaged)
{
	g_autofree char *path = harm_path(harm_bad, "");
	struct walk walk;

	harm_fill();
	walk_good(&walk);
	for (guint i = 0; i < walk.needs->len; i++) {
		harm_copy();
		harm_flip(path, g_array_index(walk.needs, struct piece, i).end - 1, 0x10);
		harm_assert_survivors(BATCHES * SPANS, (BATCHES - 1) * SPANS, "damage to batch", (int64_t)i);
		ck_assert_uint_eq(harm_count_aside(), 1);
		harm_remove_aside();
	}
	walk_free(&walk);
}
END_TEST

/* The same while it is open: what is in memory, under way, is neither lost nor counted twice. */
START_TEST(test_damage_under_a_running_agent)
{
	g_autofree char *path = harm_path(harm_good, "");
	struct spool *spool = rig_open(harm_good, 16 * MIB);
	struct entry *entry = NULL;
	struct spool_holds holds;
	struct walk walk;
	int64_t first, drained;

	/* Of so many bytes that SQLite reads the blobs' ends later than the rest, which it may keep. */
	rig_fill(spool, 0, BATCHES, SPANS, 50000);
	spool_destroy(spool);
	walk_good(&walk);
	spool = rig_open(harm_good, 16 * MIB);
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	first = entry->spool_id;
	harm_flip(path, g_array_index(walk.needs, struct piece, 0).last, 1);
	harm_flip(path, g_array_index(walk.needs, struct piece, 5).last, 1);
	/* batch 0 is under way and goes with the file; batch 5 is lost */
	while (rig_next(spool, &entry) == SPOOL_READ)
		;
	ck_assert_int_eq(rig_corrupt(spool), SPANS);
	spool_read_holds(spool, &holds);
	ck_assert_int_eq(holds.spans, (BATCHES - 2) * SPANS);
	ck_assert(spool_delete(spool, &first, 1));
	drained = rig_drain(spool, NULL);
	ck_assert_int_eq(drained, (BATCHES - 2) * SPANS);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
	walk_free(&walk);
	entry_destroy(entry);
}
END_TEST

/* The file is removed, or another put in its place, while the agent runs. */
START_TEST(test_file_removed_under_a_running_agent)
{
	g_autofree char *path = harm_path(harm_good, "");
	struct spool *spool = rig_open(harm_good, 16 * MIB);

	rig_fill(spool, 0, 10, SPANS, 300);
	ck_assert_int_eq(g_remove(path), 0);
	rig_fill(spool, 100, 2, SPANS, 300);
	ck_assert_int_eq(rig_corrupt(spool), 10 * SPANS);
	ck_assert_int_eq(rig_drain(spool, NULL), 2 * SPANS);
	spool_destroy(spool);
}
END_TEST

enum { REMOVED, ALL_REMOVED, LOG_REMOVED, LOG_REPLACED, OTHER_SPOOL, COPY, CUT, LOG_CUT, WHILES };

/* The spool has 10 batches, and its copy the first 4 of them. Returns how many are still there afterwards. */
static int64_t do_while_open(int kind)
{
	g_autofree char *path = harm_path(harm_good, ""), *log = harm_path(harm_good, "-wal"),
			*index = harm_path(harm_good, "-shm"), *counts = rig_path(harm_good, RIG_TALLY),
			*other = harm_path(harm_bad, "");

	switch (kind) {
	case ALL_REMOVED:
		g_remove(log);
		g_remove(index);
		g_remove(counts);
		G_GNUC_FALLTHROUGH;
	case REMOVED:
		g_remove(path);
		return 0;
	case LOG_REPLACED:
		g_remove(log);
		g_file_set_contents(log, "not a log", -1, NULL);
		return 10;
	case LOG_REMOVED:
		g_remove(log);
		g_remove(index);
		return 10;
	case CUT:
		ck_assert_int_eq(truncate(path, 0), 0);
		return 0;
	case LOG_CUT:
		ck_assert_int_eq(truncate(log, 0), 0);
		return 4;
	default:
		ck_assert_int_eq(g_rename(other, path), 0);
		return kind == COPY ? 4 : 0;
	}
}

/* Somebody does this while it is open; it is noticed by a look, before anything is stored, and counted
 * exactly. */
START_TEST(test_harmed_while_open)
{
	static const char *const files[] = {RIG_SPOOL, RIG_SPOOL "-wal", RIG_SPOOL "-shm", RIG_TALLY};
	struct spool *spool = rig_open(harm_good, 16 * MIB), *other;
	struct spool_losses losses;
	int64_t kept;

	rig_fill(spool, 0, 4, SPANS, 300);
	spool_destroy(spool);
	harm_copy();
	if (_i == OTHER_SPOOL) {
		for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
			g_autofree char *file = rig_path(harm_bad, files[i]);

			g_remove(file);
		}
		other = rig_open(harm_bad, 16 * MIB);
		rig_fill(other, 5000, 7, SPANS, 300);
		spool_destroy(other);
	}
	spool = rig_open(harm_good, 16 * MIB);
	rig_fill(spool, 4 * SPANS, 6, SPANS, 300);
	ck_assert(spool_look(spool));
	spool_take_losses(spool, &losses);
	ck_assert(!losses.removed && !losses.corrupt);
	kept = do_while_open(_i);
	ck_assert(spool_look(spool));
	spool_take_losses(spool, &losses);
	ck_assert(losses.removed);
	ck_assert_int_eq(losses.corrupt, (10 - kept) * SPANS);
	rig_fill(spool, 100, 2, SPANS, 300);
	spool_destroy(spool);
	spool = rig_open(harm_good, 16 * MIB);
	ck_assert_int_eq(rig_drain(spool, NULL), (kept + 2) * SPANS);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

/* Another spool was put in its place while no agent ran: all that the tally knows of is lost. */
START_TEST(test_replaced_while_closed)
{
	g_autofree char *path = harm_path(harm_good, ""), *from = harm_path(harm_bad, "");
	struct spool *spool = rig_open(harm_good, 16 * MIB);

	rig_fill(spool, 0, 10, SPANS, 300);
	spool_destroy(spool);
	spool = rig_open(harm_bad, 16 * MIB);
	rig_fill(spool, 5000, 7, SPANS, 300);
	spool_destroy(spool);
	rig_copy(from, path);
	spool = rig_open(harm_good, 16 * MIB);
	ck_assert_int_eq(rig_corrupt(spool), 10 * SPANS);
	ck_assert_int_eq(rig_drain(spool, NULL), 7 * SPANS);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

enum { NOT_THERE, EMPTY, TEXT, OTHER_DATABASE, NEWER, FOLDER, LINK, ONLY_HEADER, HARMS };

static void put_instead(const char *path, int kind)
{
	sqlite3 *db;
	int rc;

	g_remove(path);
	switch (kind) {
	case NOT_THERE:
		break;
	case EMPTY:
		g_file_set_contents(path, "", 0, NULL);
		break;
	case TEXT:
		g_file_set_contents(path, "Dear diary, today ", -1, NULL);
		break;
	case OTHER_DATABASE:
		db = spoolfile_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &rc);
		sqlite3_exec(db, "CREATE TABLE batch (id INTEGER PRIMARY KEY, spans BLOB)", NULL, NULL, NULL);
		sqlite3_close(db);
		break;
	case NEWER:
		harm_copy();
		db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
		sqlite3_exec(db, "PRAGMA user_version=2", NULL, NULL, NULL);
		sqlite3_close(db);
		break;
	case FOLDER:
		g_mkdir(path, 0700);
		break;
	case LINK:
		ck_assert_int_eq(symlink("/etc/passwd", path), 0);
		break;
	case ONLY_HEADER:
		harm_copy();
		ck_assert_int_eq(truncate(path, 100), 0);
		break;
	}
}

/* What is no spool is set aside, and what the tally knows of is counted. */
START_TEST(test_something_else_in_its_place)
{
	g_autofree char *path = harm_path(harm_bad, "");

	harm_fill();
	harm_copy();
	put_instead(path, _i);
	harm_assert_survivors(BATCHES * SPANS, 0, "something else, kind", _i);
	ck_assert_uint_eq(harm_count_aside(), _i != NOT_THERE);
}
END_TEST

/* Without a tally nothing is known of what was there, but what is there is used. */
START_TEST(test_tally_gone_or_garbage)
{
	g_autofree char *counts = rig_path(harm_bad, RIG_TALLY), *path = harm_path(harm_bad, "");
	char garbage[200];
	struct walk walk;

	memset(garbage, 'x', sizeof(garbage));
	harm_fill();
	walk_good(&walk);
	harm_copy();
	g_remove(counts);
	harm_assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "no tally", 0);
	harm_copy();
	g_file_set_contents(counts, garbage, sizeof(garbage), NULL);
	harm_assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "garbage for a tally", 0);
	/* one batch damaged, and the book in the file tells how many there were */
	harm_copy();
	g_remove(counts);
	harm_flip(path, g_array_index(walk.needs, struct piece, 3).end - 1, 1);
	harm_assert_survivors(BATCHES * SPANS, (BATCHES - 1) * SPANS, "no counts, and damage", 0);
	walk_free(&walk);
}
END_TEST

/* Another spool's file was put in place: the tally counts from its first commit on, though that of the file
 * before has a higher sequence. */
START_TEST(test_tally_of_another_file)
{
	g_autofree char *from = harm_path(harm_bad, ""), *to = harm_path(harm_good, ""),
			*wal = harm_path(harm_bad, "-wal");
	struct spool *spool = rig_open(harm_good, 16 * MIB), *other;

	rig_fill(spool, 0, 50, SPANS, 300);
	ck_assert_int_eq(rig_drain(spool, NULL), 50 * SPANS);
	spool_destroy(spool);
	spool_destroy(rig_open(harm_bad, 16 * MIB));
	rig_copy(from, to);
	spool = rig_open(harm_good, 16 * MIB);
	rig_fill(spool, 1000, 1, SPANS, 300);
	/* what a power cut leaves: the file and its counts, without the log */
	harm_copy();
	ck_assert_int_eq(truncate(wal, 0), 0);
	other = rig_open(harm_bad, 16 * MIB);
	ck_assert_int_eq(rig_corrupt(other), SPANS);
	spool_destroy(other);
	spool_destroy(spool);
}
END_TEST

/* A tally that is half written: the other slot is as good. */
START_TEST(test_tally_half_written)
{
	g_autofree char *path = rig_path(harm_bad, RIG_TALLY), *file = harm_path(harm_bad, "");

	harm_fill();
	for (size_t slot = 0; slot < 2; slot++) {
		struct spool_counts before, after;

		harm_copy();
		ck_assert(spool_counts_look(path, &before));
		harm_flip(path, 64 * slot + 20, 4);
		ck_assert(spool_counts_look(path, &after));
		ck_assert_uint_ge(after.sequence + 1, before.sequence);
		harm_assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "half a tally", (int64_t)slot);
	}
}
END_TEST

START_TEST(test_files_aside_are_bounded)
{
	g_autofree char *path = harm_path(harm_bad, "");

	for (int i = 0; i < 6; i++) {
		g_file_set_contents(path, "no database", -1, NULL);
		spool_destroy(rig_open(harm_bad, 16 * MIB));
		g_remove(path);
	}
	ck_assert_uint_eq(harm_count_aside(), SPOOLFILE_ASIDE_MAX);
}
END_TEST

Suite *spool_damage_suite(void)
{
	Suite *suite = suite_create("damage to the spool");
	TCase *tcase = tcase_create("damage");

	tcase_set_timeout(tcase, 600);
	tcase_add_checked_fixture(tcase, harm_setup, harm_teardown);
	tcase_add_test(tcase, test_file_cut_off);
	tcase_add_test(tcase, test_log_cut_off);
	tcase_add_test(tcase, test_log_of_deletions_lost);
	tcase_add_test(tcase, test_bit_flipped);
	tcase_add_test(tcase, test_batch_damaged);
	tcase_add_test(tcase, test_damage_under_a_running_agent);
	tcase_add_test(tcase, test_file_removed_under_a_running_agent);
	tcase_add_loop_test(tcase, test_harmed_while_open, 0, WHILES);
	tcase_add_test(tcase, test_replaced_while_closed);
	tcase_add_loop_test(tcase, test_something_else_in_its_place, 0, HARMS);
	tcase_add_test(tcase, test_tally_gone_or_garbage);
	tcase_add_test(tcase, test_tally_of_another_file);
	tcase_add_test(tcase, test_tally_half_written);
	tcase_add_test(tcase, test_files_aside_are_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
