/* SPDX-License-Identifier: BSD-2-Clause */
/* What version 0.1 left on disk is taken over, to the span: tests/fixtures/spool-0.1/README says what it is.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "output/spool/refusedrow.h"
#include "output/spool/spoolcounts.h"
#include "output/spool/spoolfile.h"
#include "spool_harm.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)
#define FIRST 21
#define LAST 85
#define SENT_BEFORE 61 /* the first span of the batch that was */
#define IN_LOG 20      /* spans that are in the log only */

static void copy_fixture(bool with_log)
{
	static const char *const names[] = {"spool.db", "spool.tally", "spool.db-wal"};

	for (int i = 0; i < (with_log ? 3 : 2); i++) {
		g_autofree char *from = rig_path(FIXTURES "/spool-0.1", names[i]),
				*to = rig_path(harm_bad, names[i]);

		ck_assert(g_file_test(from, G_FILE_TEST_EXISTS));
		rig_copy(from, to);
	}
}

/* Reads everything without deleting it. */
static void check_flags(struct spool *spool)
{
	struct entry *entry = NULL;
	unsigned batches = 0, sent_before = 0;

	while (rig_next(spool, &entry) == SPOOL_READ) {
		ck_assert_uint_eq(entry->batch->format, BATCH_ZIPKIN_SPANS);
		ck_assert_int_eq(entry->sent_before, batch_events(entry->batch)[0] == SENT_BEFORE);
		sent_before += entry->sent_before;
		batches++;
	}
	ck_assert_uint_eq(batches, 7);
	ck_assert_uint_eq(sent_before, 1);
	entry_destroy(entry);
}

START_TEST(test_every_span)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct spool_holds holds;
	struct spool *spool;

	copy_fixture(true);
	spool = rig_open(harm_bad, 16 * MIB);
	spool_read_holds(spool, &holds);
	ck_assert_int_eq(holds.batches, 7);
	ck_assert_int_eq(holds.spans, LAST - FIRST + 1);
	check_flags(spool);
	spool_destroy(spool);
	/* written by today's version, and read again */
	spool = rig_open(harm_bad, 16 * MIB);
	rig_fill(spool, LAST + 1, 2, 10, 300);
	spool_destroy(spool);
	spool = rig_open(harm_bad, 16 * MIB);
	ck_assert_int_eq(rig_drain(spool, seen), LAST - FIRST + 1 + 20);
	for (int64_t i = FIRST; i <= LAST + 20; i++)
		ck_assert(g_hash_table_contains(seen, &i));
	ck_assert_int_eq(rig_corrupt(spool), 0);
	ck_assert_uint_eq(harm_count_aside(), 0);
	spool_destroy(spool);
}
END_TEST

START_TEST(test_refused_spans)
{
	g_autofree char *path = harm_path(harm_bad, "");
	struct refusedrow row = {0};
	sqlite3_stmt *stmt;
	sqlite3 *reader;
	int rc;

	copy_fixture(true);
	spool_destroy(rig_open(harm_bad, 16 * MIB));
	reader = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	stmt = spoolfile_prepare(reader, REFUSEDROW_NEXT, &rc);
	for (int64_t number = 1001; number <= 1003; number++) {
		struct entry *entry = rig_entry(number, 1, 150);

		sqlite3_bind_int64(stmt, 1, row.id);
		ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
		refusedrow_read(stmt, &row);
		ck_assert_int_eq(row.event_time, number);
		ck_assert_str_eq(row.words, "I do not like it");
		ck_assert_uint_eq(row.kept, entry->batch->spans.size);
		ck_assert_mem_eq(row.span, entry->batch->spans.data, row.kept);
		sqlite3_reset(stmt);
		entry_destroy(entry);
	}
	sqlite3_bind_int64(stmt, 1, row.id);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
}
END_TEST

/* Its tally counts: of a log that went with the power, it says what was stored, and what was delivered. */
START_TEST(test_tally)
{
	g_autofree char *path = rig_path(harm_bad, RIG_TALLY);
	struct spool_losses losses;
	struct spool_counts counts;
	struct spool *spool;

	copy_fixture(false);
	ck_assert(spool_counts_look(path, &counts));
	ck_assert_uint_eq(counts.sequence, 16);
	ck_assert_int_eq(counts.batches, 7);
	ck_assert_int_eq(counts.spans, LAST - FIRST + 1);
	spool = rig_open(harm_bad, 16 * MIB);
	spool_take_losses(spool, &losses);
	ck_assert_int_eq(losses.corrupt, IN_LOG);
	ck_assert(!losses.unknown);
	ck_assert_int_eq(rig_drain(spool, NULL), LAST - FIRST + 1 - IN_LOG);
	spool_destroy(spool);
}
END_TEST

Suite *spool_upgrade_suite(void)
{
	Suite *suite = suite_create("the spool of version 0.1");
	TCase *tcase = tcase_create("upgrade");

	tcase_add_checked_fixture(tcase, harm_setup, harm_teardown);
	tcase_add_test(tcase, test_every_span);
	tcase_add_test(tcase, test_refused_spans);
	tcase_add_test(tcase, test_tally);
	suite_add_tcase(suite, tcase);
	return suite;
}
