/* SPDX-License-Identifier: BSD-2-Clause */
/* Several outputs in one state directory, each with a spool; and what a batch holds. */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "output/spool/spoolfile.h"
#include "output/spool/spoollist.h"
#include "output/spool/spoolname.h"
#include "output/spool/spoolrow.h"
#include "spool_harm.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)

static struct spool *open_output(const char *name)
{
	struct spool_options options = rig_options(harm_bad, 16 * MIB);
	struct spool *spool;

	options.name = name;
	spool = spool_create(&options);
	ck_assert_msg(spool_open(spool), "%s", spool_error(spool));
	return spool;
}

static bool is_there(const char *name)
{
	g_autofree char *path = rig_path(harm_bad, name);

	return g_file_test(path, G_FILE_TEST_EXISTS);
}

START_TEST(test_names)
{
	static const char *const good[] = {"default", "a", "west-2", "Zipkin_http", "9"};
	static const char *const bad[] = {"", "a.b", "../x", "a/b", "x.db.aside-1", "\xc3\xa4", "a b"};
	static const char *const none[] = {"spool.db-wal", "spool.db.new", "spool-.db", "spool-x.tally",
		"spool-default.db", "spool-x.db.aside-20260101T000000Z", "myspool.db", "spool-x.y.db",
		"checkpoint.0"};
	char longest[SPOOLNAME_MAX + 2] = "";

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autofree char *path = spoolname_spool("/state", good[i]), *file = g_path_get_basename(path),
				*output = spoolname_output(file);

		ck_assert(spoolname_is_good(good[i]));
		ck_assert_str_eq(output, good[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
		ck_assert(!spoolname_is_good(bad[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
		ck_assert_ptr_null(spoolname_output(none[i]));
	memset(longest, 'x', SPOOLNAME_MAX);
	ck_assert(spoolname_is_good(longest));
	longest[SPOOLNAME_MAX] = 'x';
	ck_assert(!spoolname_is_good(longest));
}
END_TEST

/* One spool's spans are not delivered by the other; damage to one does not affect the other. */
START_TEST(test_two_outputs)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct spool *first = open_output("default"), *second = open_output("west");
	g_autofree char *path = rig_path(harm_bad, "spool-west.db");
	int64_t one = 1, two = 101;

	rig_fill(first, 1, 2, 10, 200);
	rig_fill(second, 101, 3, 10, 200);
	ck_assert(is_there("spool.db") && is_there("spool.tally"));
	ck_assert(is_there("spool-west.db") && is_there("spool-west.tally"));
	ck_assert_int_eq(rig_drain(first, seen), 20);
	ck_assert(g_hash_table_contains(seen, &one) && !g_hash_table_contains(seen, &two));
	ck_assert_int_eq(rig_drain(second, seen), 30);
	rig_fill(first, 201, 2, 10, 200);
	rig_fill(second, 301, 3, 10, 200);
	spool_destroy(first);
	spool_destroy(second);
	ck_assert(g_file_set_contents(path, "rubbish", -1, NULL));
	first = open_output("default");
	second = open_output("west");
	ck_assert_int_eq(rig_corrupt(first), 0);
	ck_assert_int_eq(rig_corrupt(second), 30);
	ck_assert_int_eq(rig_drain(first, seen), 20);
	ck_assert_int_eq(rig_drain(second, seen), 0);
	spool_destroy(first);
	spool_destroy(second);
}
END_TEST

/* The files that one output set aside are not removed for those of another. */
START_TEST(test_aside_of_each)
{
	static const char *const outputs[] = {"default", "a", "a-b"};

	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++) {
			g_autofree char *path = spoolname_spool(harm_bad, outputs[i]);

			ck_assert(g_file_set_contents(path, "rubbish", -1, NULL));
			spool_destroy(open_output(outputs[i]));
		}
	}
	ck_assert_uint_eq(harm_count_aside(), G_N_ELEMENTS(outputs) * SPOOLFILE_ASIDE_MAX);
}
END_TEST

static void assert_found(const GPtrArray *list, guint i, const char *output, int64_t spans)
{
	const struct spool_found *found = g_ptr_array_index(list, i);
	g_autofree char *path = spoolname_spool(harm_bad, output);

	ck_assert_str_eq(found->output, output);
	ck_assert_str_eq(found->path, path);
	ck_assert(found->counted == (spans >= 0));
	ck_assert_int_eq(found->spans, MAX(spans, 0));
	ck_assert_uint_gt(found->bytes, 0);
}

/* Each is found with its output, the lock of a running agent or not; and one that only its last name is
 * missing. */
START_TEST(test_list)
{
	static const char *const outputs[] = {"west", "default", "east"};
	g_autofree char *east = rig_path(harm_bad, "spool-east.db"),
			*new = rig_path(harm_bad, "spool-east.db.new"),
			*counts = rig_path(harm_bad, "spool-east.tally"),
			*other = rig_path(harm_bad, "spool.txt");
	struct spool *spools[3];
	GPtrArray *list = spoollist_read(harm_bad);

	ck_assert_uint_eq(list->len, 0);
	g_ptr_array_unref(list);
	ck_assert(g_file_set_contents(other, "", 0, NULL));
	for (int i = 0; i < 3; i++) {
		spools[i] = open_output(outputs[i]);
		rig_fill(spools[i], 1, (unsigned)i + 1, 10, 200);
	}
	list = spoollist_read(harm_bad);
	ck_assert_uint_eq(list->len, 3);
	assert_found(list, 0, "default", 20);
	assert_found(list, 1, "east", 30);
	assert_found(list, 2, "west", 10);
	g_ptr_array_unref(list);
	for (int i = 0; i < 3; i++)
		spool_destroy(spools[i]);
	ck_assert_int_eq(g_remove(counts), 0);
	list = spoollist_read(harm_bad);
	assert_found(list, 1, "east", -1);
	g_ptr_array_unref(list);
	ck_assert_int_eq(g_rename(east, new), 0);
	list = spoollist_read(harm_bad);
	ck_assert_uint_eq(list->len, 3);
	ck_assert_str_eq(((struct spool_found *)g_ptr_array_index(list, 1))->output, "east");
	g_ptr_array_unref(list);
	errno = 0;
	ck_assert_ptr_null(spoollist_read("/proc/nowhere"));
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

static void put_format(struct spool *spool, int64_t first, uint8_t format, bool sent_before)
{
	struct entry *entry = rig_entry(first, 5, 300);

	entry->batch->format = format;
	entry->sent_before = sent_before;
	ck_assert(spool_put(spool, entry));
	entry_destroy(entry);
}

/* The column `sent` as an older agent reads it. */
static void assert_column(const int64_t *expected, unsigned count)
{
	g_autofree char *path = harm_path(harm_bad, "");
	int rc = SQLITE_OK;
	sqlite3 *reader = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	sqlite3_stmt *stmt = spoolfile_prepare(reader, "SELECT sent FROM batch ORDER BY id", &rc);

	for (unsigned i = 0; i < count; i++) {
		ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
		ck_assert_int_eq(sqlite3_column_int64(stmt, 0), expected[i]);
	}
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
}

static void assert_formats(struct spool *spool, const int64_t *expected, unsigned count)
{
	struct entry *entry = NULL;

	for (unsigned i = 0; i < count; i++) {
		ck_assert_int_eq(rig_next(spool, &entry), SPOOL_READ);
		ck_assert_uint_eq(entry->batch->format, expected[i] >> 8);
		ck_assert_int_eq(entry->sent_before, expected[i] & 1);
	}
	ck_assert_int_eq(rig_next(spool, &entry), SPOOL_END);
	entry_destroy(entry);
}

/* A batch's format outlives a restart, and a repair; and no other bit of the column is accepted. */
START_TEST(test_formats)
{
	static const int64_t expected[] = {0, 1, 0x100, 0x101, 0x600, 0x701, 0xff00};
	g_autofree char *path = harm_path(harm_bad, "");
	unsigned count = G_N_ELEMENTS(expected);
	struct spool *spool = open_output("default");
	sqlite3 *db;
	int rc;

	for (unsigned i = 0; i < count; i++)
		put_format(spool, 1 + 5 * i, (uint8_t)(expected[i] >> 8), expected[i] & 1);
	spool_destroy(spool);
	assert_column(expected, count);
	spool = open_output("default");
	assert_formats(spool, expected, count);
	put_format(spool, 1000, 3, false);
	spool_destroy(spool);
	db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	ck_assert_int_eq(
		sqlite3_exec(db, "UPDATE batch SET sent = 0x10300 WHERE sent = 0x300", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	spool = open_output("default");
	assert_formats(spool, expected, count);
	ck_assert_int_eq(rig_corrupt(spool), 5);
	ck_assert_uint_eq(harm_count_aside(), 1);
	spool_destroy(spool);
	ck_assert_str_eq(batch_format_name(BATCH_ZIPKIN_SPANS), "zipkin-spans");
	ck_assert_str_eq(batch_format_name(BATCH_SPAN_RECORDS), "spans");
	ck_assert_str_eq(batch_format_name(BATCH_EVENT_RECORDS), "events");
	ck_assert_str_eq(batch_format_name(BATCH_FORMATS), "unknown");
	ck_assert_str_eq(batch_format_name(255), "unknown");
}
END_TEST

Suite *spool_outputs_suite(void)
{
	Suite *suite = suite_create("spools of several outputs");
	TCase *tcase = tcase_create("outputs");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, harm_setup, harm_teardown);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_two_outputs);
	tcase_add_test(tcase, test_aside_of_each);
	tcase_add_test(tcase, test_list);
	tcase_add_test(tcase, test_formats);
	suite_add_tcase(suite, tcase);
	return suite;
}
