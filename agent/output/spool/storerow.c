/* SPDX-License-Identifier: BSD-2-Clause */
/* The store's single rows, and those that are under way. */
#include "output/spool/spoolfile.h"
#include "output/spool/store.h"

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

int store_delete_row(struct store *store, const struct spoolrow *row, struct spool_counts *next)
{
	int rc;

	sqlite3_bind_int64(store->db.stmt[SPOOLDB_DELETE], 1, row->id);
	rc = spooldb_step(&store->db, SPOOLDB_DELETE);
	next->batches--;
	next->spans -= row->count;
	return rc;
}

int store_commit_discarded(struct store *store, struct spool_counts *next, int64_t spans, int rc)
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

/* What is under way */

static struct under_way *find_under_way(const struct store *store, int64_t id)
{
	for (guint i = 0; i < store->under_way->len; i++) {
		struct under_way *each = &g_array_index(store->under_way, struct under_way, i);

		if (each->id == id)
			return each;
	}
	return NULL;
}

void store_note_under_way(struct store *store, const struct spoolrow *row)
{
	const struct under_way new = {.id = row->id, .spans = row->count, .newest = row->newest};

	if (!find_under_way(store, new.id))
		g_array_append_val(store->under_way, new);
}

void store_forget_under_way(struct store *store, int64_t id)
{
	struct under_way *found = find_under_way(store, id), *all = (void *)store->under_way->data;

	if (found)
		g_array_remove_index(store->under_way, (guint)(found - all));
}

bool store_is_under_way(const struct store *store, int64_t id)
{
	return find_under_way(store, id) != NULL;
}

void store_give_up_under_way(struct store *store, int64_t before)
{
	for (guint i = 0; i < store->under_way->len; i++) {
		struct under_way *each = &g_array_index(store->under_way, struct under_way, i);

		each->unwanted |= each->newest < before;
	}
}

GArray *store_unwanted(const struct store *store)
{
	GArray *ids = g_array_new(FALSE, FALSE, sizeof(int64_t));

	for (guint i = 0; i < store->under_way->len; i++) {
		struct under_way *each = &g_array_index(store->under_way, struct under_way, i);

		if (each->unwanted)
			g_array_append_val(ids, each->id);
	}
	return ids;
}

int64_t store_missing_under_way(struct store *store)
{
	int64_t spans = 0;

	for (guint i = 0; i < store->under_way->len; i++) {
		struct under_way *each = &g_array_index(store->under_way, struct under_way, i);

		if (!spooldb_has(&store->db, each->id))
			spans += each->spans;
	}
	return spans;
}

int64_t store_highest_under_way(const struct store *store)
{
	int64_t highest = 0;

	for (guint i = 0; i < store->under_way->len; i++)
		highest = MAX(highest, g_array_index(store->under_way, struct under_way, i).id);
	return highest;
}
