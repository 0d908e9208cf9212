/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/salvage.h"

#include <string.h>

#include <glib.h>

#include "output/spool/refusedrow.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolrow.h"

/* How many ids are tried where damage hides how many there are. */
#define RANGE_MAX 10000000
#define REFUSED_COLUMNS 7

struct salvage {
	sqlite3 *from, *to;
	sqlite3_stmt *select, *insert, *behind;
	struct buffer times;
	struct spool_counts saved;
};

/*
 * Opens the damaged file so that SQLite reads one that was cut short, and does not move the log into it. NULL
 * if nothing can be read.
 */
static sqlite3 *open_damaged(const char *path)
{
	char why[128];
	sqlite3 *db;
	int rc;

	if (spoolfile_probe(path, why, sizeof(why)) != SPOOLFILE_GOOD)
		return NULL;
	db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	if (!db)
		return NULL;
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_exec(db, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
	return db;
}

/* The first number that @sql returns, or @otherwise. */
static int64_t ask(sqlite3 *db, const char *sql, int64_t otherwise)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *stmt = spoolfile_prepare(db, sql, &rc);
	int64_t number = otherwise;

	if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
		sqlite3_column_type(stmt, 0) == SQLITE_INTEGER)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

/* Copies the row that the select stands on, if it is good; returns an error of the new file. */
static int save_row(struct salvage *salvage)
{
	struct spoolrow row;
	struct entry *entry;
	int rc;

	if (!spoolrow_read(salvage->select, &row) || !(entry = spoolrow_read_entry(salvage->select, &row)))
		return SQLITE_OK;
	rc = spoolrow_bind(salvage->insert, row.id, entry, &salvage->times);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(salvage->insert);
	sqlite3_reset(salvage->insert);
	entry_destroy(entry);
	if (rc != SQLITE_DONE)
		return rc;
	if (!salvage->saved.batches)
		salvage->saved.first = row.id;
	salvage->saved.batches++;
	salvage->saved.spans += row.count;
	salvage->saved.next = MAX(salvage->saved.next, row.id + 1);
	return SQLITE_OK;
}

/* The first row behind @id, where there is none of that number; the next number if that cannot be told. */
static int64_t next_row(struct salvage *salvage, int64_t id, int64_t end)
{
	int64_t next = id + 1;

	sqlite3_bind_int64(salvage->behind, 1, id);
	if (sqlite3_step(salvage->behind) == SQLITE_ROW)
		next = sqlite3_column_type(salvage->behind, 0) == SQLITE_NULL
			       ? end
			       : MAX(sqlite3_column_int64(salvage->behind, 0), next);
	sqlite3_reset(salvage->behind);
	return next;
}

/* Each number is tried, as a damaged page hides what is in it, and nothing else. Where one after the other
 * fails, the steps become longer: an end that is forged must not take for ever. */
static int save_range(struct salvage *salvage, int64_t first, int64_t end)
{
	int64_t failures = 0, id = first;
	int rc = SQLITE_OK;

	while (id < end && rc == SQLITE_OK) {
		int found;

		sqlite3_bind_int64(salvage->select, 1, id);
		found = sqlite3_step(salvage->select);
		if (found == SQLITE_ROW)
			rc = save_row(salvage);
		sqlite3_reset(salvage->select);
		failures = found == SQLITE_ROW || found == SQLITE_DONE ? 0 : failures + 1;
		id = found == SQLITE_DONE ? next_row(salvage, id, end) : id + 1 + failures / 1000;
	}
	return rc;
}

static int save_batches(struct salvage *salvage, const struct spool_counts *wanted)
{
	int64_t first = ask(salvage->from, "SELECT min(id) FROM batch", wanted->first);
	int64_t last = ask(salvage->from, "SELECT max(id) FROM batch", wanted->next - 1);

	/* The tree may lack its end: what should be there is known better, if it is known. */
	if (wanted->next) {
		first = wanted->first;
		last = MAX(last, wanted->next - 1);
	}
	first = MAX(first, 0);
	return save_range(salvage, first, MIN(last, first + RANGE_MAX) + 1);
}

/* Copies the rows of a damaged file as far as they can be read: losing one costs no span. */
static void copy_refused(sqlite3 *from, sqlite3 *to)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *select = spoolfile_prepare(
		from, "SELECT id, time, event, size, sum, words, span FROM refused ORDER BY id", &rc);
	sqlite3_stmt *insert =
		spoolfile_prepare(to, "INSERT OR IGNORE INTO refused VALUES(?,?,?,?,?,?,?)", &rc);

	while (rc == SQLITE_OK && sqlite3_step(select) == SQLITE_ROW) {
		for (int i = 0; i < REFUSED_COLUMNS; i++)
			sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(select);
	sqlite3_finalize(insert);
}

static int save_all(struct salvage *salvage, const struct spool_counts *wanted)
{
	int damaged = SQLITE_OK, rc = SQLITE_OK;

	salvage->insert = spoolfile_prepare(salvage->to, SPOOLROW_INSERT, &rc);
	salvage->select =
		spoolfile_prepare(salvage->from, "SELECT " SPOOLROW_ALL " FROM batch WHERE id = ?", &damaged);
	salvage->behind =
		spoolfile_prepare(salvage->from, "SELECT min(id) FROM batch WHERE id > ?", &damaged);
	if (rc == SQLITE_OK && damaged == SQLITE_OK) {
		rc = save_batches(salvage, wanted);
		copy_refused(salvage->from, salvage->to);
	}
	sqlite3_finalize(salvage->select);
	sqlite3_finalize(salvage->behind);
	sqlite3_finalize(salvage->insert);
	return rc;
}

int salvage_build(const char *path, const struct spool_counts *wanted)
{
	struct salvage salvage = {0};
	int rc;

	salvage.saved = spoolfile_empty_book(wanted);
	salvage.to = spoolfile_begin(path, &rc);
	if (!salvage.to)
		return rc;
	salvage.from = open_damaged(path);
	if (salvage.from)
		rc = save_all(&salvage, wanted);
	sqlite3_close(salvage.from);
	buffer_free(&salvage.times);
	return spoolfile_end(salvage.to, path, &salvage.saved, wanted, rc);
}
