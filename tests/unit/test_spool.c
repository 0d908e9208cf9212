/* SPDX-License-Identifier: BSD-2-Clause */
/* The spool: what goes in comes out, in order, within its bounds. Damage and bad disks have files of their
 * own. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "output/spool/spoolfile.h"
#include "run.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)

START_TEST(test_what_goes_in_comes_out)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct spool *spool = rig_open(rig_folder, 16 * MIB);
	g_autofree char *path = g_build_filename(rig_folder, "spool.db", NULL);
	struct spool_holds holds;
	struct stat file;

	ck_assert_int_eq(stat(path, &file), 0);
	ck_assert_int_eq(file.st_mode & 07, 0); /* spans are not for everyone */
	rig_fill(spool, 1, 20, 50, 400);
	rig_fill(spool, 1001, 1, 1, 8);
	spool_read_holds(spool, &holds);
	ck_assert_int_eq(holds.batches, 21);
	ck_assert_int_eq(holds.spans, 1001);
	ck_assert_int_eq(rig_drain(spool, seen), 1001);
	for (int64_t i = 1; i <= 1001; i++)
		ck_assert(g_hash_table_contains(seen, &i));
	spool_read_holds(spool, &holds);
	ck_assert_int_eq(holds.batches, 0);
	ck_assert_int_eq(holds.spans, 0);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}
END_TEST

START_TEST(test_kept_over_a_restart)
{
	struct spool *spool = rig_open(rig_folder, 16 * MIB);
	struct entry *entry = NULL, *sent = rig_entry(201, 10, 100);

	rig_fill(spool, 1, 20, 10, 100);
	sent->sent_before = true;
	ck_assert(spool_put(spool, sent));
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	ck_assert(!entry->sent_before);
	ck_assert(spool_delete(spool, &entry->spool_id, 1));
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ); /* under way, and not deleted */
	spool_destroy(spool);
	spool = rig_open(rig_folder, 16 * MIB);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	g_clear_pointer(&entry, entry_destroy);
	while (rig_next(spool, &entry) == SPOOL_READ)
		;
	ck_assert(entry->sent_before);
	ck_assert_int_eq(batch_events(entry->batch)[0], 201);
	ck_assert_int_eq(rig_drain(spool, NULL), 200);
	spool_destroy(spool);
	entry_destroy(sent);
	entry_destroy(entry);
}
END_TEST

/* With `sync = full` what a commit wrote is all that is needed: a copy of the files at that moment has it. */
START_TEST(test_sync_full)
{
	struct spool_options options = rig_options(rig_folder, 16 * MIB);
	g_autofree char *copy = rig_path(rig_folder, "copy");
	static const char *const names[] = {RIG_SPOOL, RIG_SPOOL "-wal", RIG_TALLY};
	struct spool *spool, *other;

	options.sync_full = true;
	spool = spool_create(&options);
	rig_fill(spool, 0, 20, 10, 500);
	ck_assert_int_eq(g_mkdir(copy, 0700), 0);
	for (int i = 0; i < 3; i++) {
		g_autofree char *from = rig_path(rig_folder, names[i]), *to = rig_path(copy, names[i]);

		rig_copy(from, to);
	}
	other = rig_open(copy, 16 * MIB);
	ck_assert_int_eq(rig_drain(other, NULL), 200);
	ck_assert_int_eq(rig_corrupt(other), 0);
	spool_destroy(other);
	ck_assert_int_eq(rig_drain(spool, NULL), 200);
	spool_destroy(spool);
}
END_TEST

static void free_list(struct entry *list)
{
	while (list) {
		struct entry *entry = list;

		list = entry->next;
		entry_destroy(entry);
	}
}

/* Many batches are one commit: all or none. */
START_TEST(test_list_in_one_commit)
{
	struct spool *spool = rig_open(rig_folder, 16 * MIB);
	struct entry *list = NULL;

	for (int64_t i = 9; i >= 0; i--) {
		struct entry *entry = rig_entry(1 + i * 5, 5, 300);

		entry->next = list;
		list = entry;
	}
	ck_assert(spool_put(spool, list));
	ck_assert_int_eq(rig_drain(spool, NULL), 50);
	free_list(list);
	spool_destroy(spool);
}
END_TEST

static uint64_t disk_use(void)
{
	GDir *dir = g_dir_open(rig_folder, 0, NULL);
	uint64_t bytes = 0;
	const char *name;
	GStatBuf file;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = rig_path(rig_folder, name);

		if (g_stat(path, &file) == 0)
			bytes += MAX((uint64_t)file.st_size, (uint64_t)file.st_blocks * 512);
	}
	g_dir_close(dir);
	return bytes;
}

/* All files together stay within the bound, whatever the sizes; the oldest go, and every span is accounted
 * for. */
START_TEST(test_full)
{
	static const struct {
		uint32_t count;
		size_t size;
	} shapes[] = {{1, 20}, {3, 1300}, {100, 300}, {1, 200000}, {500, 900}};
	uint64_t max = 4 * MIB;
	uint32_t count = shapes[_i].count;
	size_t size = shapes[_i].size;
	unsigned batches = (unsigned)(3 * max / (count * size + 200));
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct spool *spool = rig_open(rig_folder, max);
	struct spool_losses losses;
	struct spool_holds holds;
	int64_t drained, total;

	for (unsigned i = 0; i < batches; i++) {
		rig_fill(spool, 1 + (int64_t)i * count, 1, count, size);
		if (i % (batches / 50 + 1) == 0)
			ck_assert_uint_le(disk_use(), max);
	}
	ck_assert_uint_le(disk_use(), max);
	spool_take_losses(spool, &losses);
	ck_assert_int_eq(losses.corrupt, 0);
	ck_assert_int_gt(losses.evicted, 0);
	spool_read_holds(spool, &holds);
	total = (int64_t)batches * count;
	ck_assert_int_eq(holds.spans + losses.evicted, total);
	ck_assert_uint_le(holds.bytes, max);
	if (count > 1) /* at least half of the bound is put to use */
		ck_assert_uint_gt((uint64_t)holds.spans * size, max / 2);
	drained = rig_drain(spool, seen);
	ck_assert_int_eq(drained, holds.spans);
	for (int64_t i = total - drained + 1; i <= total; i++) /* the oldest were dropped */
		ck_assert(g_hash_table_contains(seen, &i));
	spool_read_holds(spool, &holds);
	ck_assert_uint_le(disk_use(), max);
	spool_destroy(spool);
	ck_assert_uint_lt(disk_use(), MIB + 64 * 1024); /* an empty spool gives the disk back */
}
END_TEST

/* So are commits of several batches, as large as the spooler makes them, beside a log that is half full. */
START_TEST(test_full_of_groups)
{
	uint64_t max = 8 * MIB;
	struct spool *spool = rig_open(rig_folder, max);
	int64_t next = 1;

	for (unsigned commit = 0; commit < 60; commit++) {
		unsigned batches = commit % 2 ? 8 : 6;
		struct entry *list = NULL;

		for (unsigned i = 0; i < batches; i++, next += 400) {
			struct entry *entry = rig_entry(next, 400, 300);

			entry->next = list;
			list = entry;
		}
		ck_assert(spool_put(spool, list));
		ck_assert_uint_le(disk_use(), max);
		free_list(list);
	}
	spool_destroy(spool);
}
END_TEST

/* What was read is under way: it is not evicted, or it would be lost and delivered. */
START_TEST(test_under_way_is_not_evicted)
{
	struct spool *spool = rig_open(rig_folder, 4 * MIB);
	struct entry *entry = NULL;
	struct spool_losses losses;
	int64_t id;

	rig_fill(spool, 1, 1, 10, 400);
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	id = entry->spool_id;
	g_clear_pointer(&entry, entry_destroy);
	rig_fill(spool, 11, 200, 100, 400);
	spool_take_losses(spool, &losses);
	ck_assert_int_gt(losses.evicted, 0);
	ck_assert_int_eq(losses.evicted % 100, 0);
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
	ck_assert_int_eq(entry->spool_id, id);
	ck_assert_int_eq(rig_drain(spool, NULL), 20010 - losses.evicted);
	spool_destroy(spool);
	entry_destroy(entry);
}
END_TEST

/* A reader that holds the file keeps the log from being moved: the bound holds, and memory has to. */
START_TEST(test_somebody_reads)
{
	g_autofree char *path = rig_path(rig_folder, RIG_SPOOL);
	struct spool *spool = rig_open(rig_folder, 4 * MIB);
	struct entry *entry;
	int64_t stored = 10;
	sqlite3 *reader;
	int failures = 0, rc;

	rig_fill(spool, 1, 1, 10, 400);
	reader = spoolfile_open(path, SQLITE_OPEN_READONLY, &rc);
	ck_assert_ptr_nonnull(reader);
	ck_assert_int_eq(
		sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM batch", NULL, NULL, NULL), SQLITE_OK);
	for (int i = 0; i < 60 && !failures; i++) {
		entry = rig_entry(stored + 1, 100, 400);
		if (spool_put(spool, entry))
			stored += 100;
		else
			failures++;
		entry_destroy(entry);
		ck_assert_uint_le(disk_use(), 4 * MIB);
	}
	ck_assert_int_eq(failures, 1);
	ck_assert_ptr_nonnull(strstr(spool_error(spool), "another program has locked"));
	sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(reader);
	rig_fill(spool, stored + 1, 1, 100, 400);
	ck_assert_int_eq(rig_drain(spool, NULL), stored + 100);
	spool_destroy(spool);
}
END_TEST

START_TEST(test_one_agent_at_a_time)
{
	struct spool_options options = rig_options(rig_folder, 16 * MIB);
	struct spool *spool = rig_open(rig_folder, 16 * MIB), *other = spool_create(&options);

	ck_assert(!spool_open(other));
	ck_assert_ptr_nonnull(strstr(spool_error(other), "another agent"));
	rig_fill(spool, 1, 1, 10, 100);
	spool_destroy(spool);
	ck_assert(spool_open(other));
	ck_assert_int_eq(rig_drain(other, NULL), 10);
	spool_destroy(other);
}
END_TEST

/* The newest refused spans are kept, of large ones the beginning. */
START_TEST(test_refused)
{
	g_autofree char *path = rig_path(rig_folder, RIG_SPOOL);
	struct spool *spool = rig_open(rig_folder, 4 * MIB);
	uint8_t *span = g_malloc0(REFUSED_SPAN_BYTES + 1000);
	sqlite3_stmt *stmt;
	sqlite3 *reader;
	int rc;

	for (int64_t i = 0; i < 3 * SPOOL_REFUSED_MAX; i++) {
		struct spool_refused refused = {
			i, "no such thing", span, i % 2 ? 100 : REFUSED_SPAN_BYTES + 1000};

		ck_assert_msg(spool_keep_refused(spool, refused), "%s", spool_error(spool));
	}
	ck_assert_uint_le(disk_use(), 4 * MIB);
	reader = spoolfile_open(path, SQLITE_OPEN_READONLY, &rc);
	stmt = spoolfile_prepare(reader,
		"SELECT count(*), min(event), max(event), max(length(span)), max(size) FROM refused", &rc);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	ck_assert_int_eq(sqlite3_column_int(stmt, 0), SPOOL_REFUSED_MAX);
	ck_assert_int_eq(sqlite3_column_int(stmt, 1), 2 * SPOOL_REFUSED_MAX);
	ck_assert_int_eq(sqlite3_column_int(stmt, 2), 3 * SPOOL_REFUSED_MAX - 1);
	ck_assert_int_eq(sqlite3_column_int(stmt, 3), REFUSED_SPAN_BYTES);
	ck_assert_int_eq(sqlite3_column_int(stmt, 4), REFUSED_SPAN_BYTES + 1000);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
	spool_destroy(spool);
	g_free(span);
}
END_TEST

/* No batch goes for a copy of what was refused, and a spool that is full works on. */
START_TEST(test_no_batch_goes_for_a_refused_span)
{
	struct spool *spool = rig_open(rig_folder, 1 * MIB);
	uint8_t *span = g_malloc0(REFUSED_SPAN_BYTES);
	const struct spool_refused refused = {1, "no such thing", span, REFUSED_SPAN_BYTES};
	struct spool_losses losses = {0};
	struct spool_holds before, after;

	for (int64_t i = 1; !losses.evicted; i++) {
		rig_fill(spool, 1 + 32 * i, 1, 32, 1000);
		spool_take_losses(spool, &losses);
	}
	spool_read_holds(spool, &before);
	for (int i = 0; i < 2 * SPOOL_REFUSED_MAX; i++)
		ck_assert_msg(spool_keep_refused(spool, refused), "%s", spool_error(spool));
	spool_take_losses(spool, &losses);
	spool_read_holds(spool, &after);
	ck_assert_int_eq(losses.evicted, 0);
	ck_assert_int_eq(after.spans, before.spans);
	ck_assert_int_eq(rig_drain(spool, NULL), before.spans);
	spool_destroy(spool);
	g_free(span);
}
END_TEST

/* Nor do those that fill a small spool keep a batch out. */
START_TEST(test_refused_spans_make_room)
{
	struct spool *spool = rig_open(rig_folder, 1 * MIB);
	uint8_t *span = g_malloc0(REFUSED_SPAN_BYTES);
	const struct spool_refused refused = {1, "no such thing", span, REFUSED_SPAN_BYTES};
	struct spool_losses losses = {0};

	for (int i = 0; i < SPOOL_REFUSED_MAX; i++)
		ck_assert_msg(spool_keep_refused(spool, refused), "%s", spool_error(spool));
	rig_fill(spool, 1, 1, 100, 1000);
	spool_take_losses(spool, &losses);
	ck_assert_int_eq(losses.evicted, 0);
	ck_assert_int_eq(rig_drain(spool, NULL), 100);
	spool_destroy(spool);
	g_free(span);
}
END_TEST

static unsigned count_open(const char *path)
{
	GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
	unsigned count = 0;
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *link = rig_path("/proc/self/fd", name),
				*target = g_file_read_link(link, NULL);

		count += g_strcmp0(target, path) == 0;
	}
	g_dir_close(dir);
	return count;
}

/* The smallest spool takes the largest batch that goes with it; one that is too large for it harms nothing.
 */
START_TEST(test_too_large_a_batch)
{
	g_autofree char *path = rig_path(rig_folder, RIG_SPOOL);
	struct spool *spool = rig_open(rig_folder, 1 * MIB);
	struct entry *large = rig_entry(1000, 100, 6000);

	rig_fill(spool, 1, 1, 32, 4000);
	ck_assert_uint_eq(count_open(path), 1);
	ck_assert(!spool_put(spool, large));
	ck_assert_ptr_nonnull(strstr(spool_error(spool), "raise `max-size` in [spool]"));
	ck_assert_uint_eq(count_open(path), 1);
	ck_assert_int_eq(rig_drain(spool, NULL), 32);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
	entry_destroy(large);
}
END_TEST

/* Puts one batch of 32 spans that came from outside; whether it was stored. */
static bool put_from_outside(struct spool *spool, int64_t first, bool answered)
{
	struct receipt *receipt = receipt_create(NULL, NULL);
	struct entry *entry = rig_entry(first, 32, 1000);
	bool stored;

	receipt_silence(receipt);
	if (answered)
		receipt_give(receipt);
	entry->receipt = receipt_take_part(receipt);
	ck_assert(spool_put(spool, entry));
	stored = entry->spool_id != 0;
	entry_destroy(entry);
	receipt_unref(receipt);
	return stored;
}

/* What is stored does not go for what its sender can send again; for what had its OK, the oldest goes. */
START_TEST(test_senders_have_it_still)
{
	struct spool *spool = rig_open(rig_folder, 1 * MIB);
	struct spool_losses losses;
	int64_t stored = 0;

	while (put_from_outside(spool, 1 + stored, false))
		stored += 32;
	ck_assert_int_gt(stored, 320);
	ck_assert(!put_from_outside(spool, 1 + stored, false));
	spool_take_losses(spool, &losses);
	ck_assert_int_eq(losses.evicted, 0);
	ck_assert(put_from_outside(spool, 1 + stored, true));
	spool_take_losses(spool, &losses);
	ck_assert_int_gt(losses.evicted, 0);
	ck_assert_int_eq(rig_drain(spool, NULL), stored + 32 - losses.evicted);
	spool_destroy(spool);
}
END_TEST

static Suite *spool_suite(void)
{
	Suite *suite = suite_create("spool");
	TCase *tcase = tcase_create("spool");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_what_goes_in_comes_out);
	tcase_add_test(tcase, test_kept_over_a_restart);
	tcase_add_test(tcase, test_sync_full);
	tcase_add_test(tcase, test_list_in_one_commit);
	tcase_add_loop_test(tcase, test_full, 0, 5);
	tcase_add_test(tcase, test_full_of_groups);
	tcase_add_test(tcase, test_under_way_is_not_evicted);
	tcase_add_test(tcase, test_somebody_reads);
	tcase_add_test(tcase, test_one_agent_at_a_time);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_no_batch_goes_for_a_refused_span);
	tcase_add_test(tcase, test_refused_spans_make_room);
	tcase_add_test(tcase, test_too_large_a_batch);
	tcase_add_test(tcase, test_senders_have_it_still);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	SRunner *runner;
	int status;

	rig_make_folder();
	runner = srunner_create(spool_suite());
	srunner_add_suite(runner, spool_damage_suite());
	srunner_add_suite(runner, spool_replace_suite());
	srunner_add_suite(runner, spool_disk_suite());
	srunner_add_suite(runner, spool_outputs_suite());
	srunner_add_suite(runner, spool_upgrade_suite());
	status = run_all(runner);
	rig_remove_folder();
	return status;
}
