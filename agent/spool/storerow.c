/* SPDX-License-Identifier: BSD-2-Clause */
/* The store's single rows. */
#include "spool/spoolfile.h"
#include "spool/store.h"

int store_read_head(struct store *store, int64_t after, struct spoolrow *row)
{
	sqlite3_stmt *stmt = store->db.stmt[SPOOLDB_READ_HEAD];
	int rc;

	sqlite3_bind_int64(stmt, 1, after);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		rc = spoolrow_read(stmt, row) ? SQLITE_OK : SQLITE_CORRUPT;
	sqlite3_reset(stmt);
	return rc;
}

int store_delete_row(struct store *store, const struct spoolrow *row, struct tally *next)
{
	int rc;

	sqlite3_bind_int64(store->db.stmt[SPOOLDB_DELETE], 1, row->id);
	rc = spooldb_step(&store->db, SPOOLDB_DELETE);
	next->batches--;
	next->spans -= row->count;
	return rc;
}

int store_commit_discarded(struct store *store, struct tally *next, int64_t spans, int rc)
{
	if (rc == SQLITE_OK && spans)
		rc = spoolfile_write_discarded(store->db.db, store->discarded + spans);
	rc = store_commit(store, next, rc);
	if (rc == SQLITE_OK) {
		store->discarded += spans;
		store->lost.discarded += spans;
	}
	return rc;
}
