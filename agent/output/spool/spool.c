/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spool.h"

#include <string.h>

#include "base/clock.h"
#include "output/spool/refusedrow.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolrow.h"
#include "output/spool/store.h"

struct spool *spool_create(const struct spool_options *options)
{
	struct spool *spool = g_new0(struct spool, 1);

	store_init(&spool->store, options);
	return spool;
}

void spool_destroy(struct spool *spool)
{
	if (!spool)
		return;
	store_free(&spool->store);
	g_free(spool);
}

bool spool_open(struct spool *spool)
{
	return store_open(&spool->store);
}

const char *spool_error(const struct spool *spool)
{
	return spool->store.error;
}

bool spool_disk_is_full(const struct spool *spool)
{
	return spool->store.full && spool->store.db.db;
}

/* Storing */

/* Pages for a row of @bytes, and some for the tree above it. */
static int64_t pages_for(size_t bytes)
{
	return (int64_t)(bytes / (SPOOLFILE_PAGE - 100)) + 6;
}

/* Deletes the oldest batches until @pages are free. */
static int make_room(struct store *store, int64_t pages, struct spool_counts *next, int64_t *evicted)
{
	struct spoolrow row;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && spooldb_room(&store->db, &rc) < pages && rc == SQLITE_OK) {
		rc = store_read_head(store, store_highest_under_way(store), &row);
		if (rc == SQLITE_DONE)
			return SQLITE_TOOBIG;
		if (rc == SQLITE_OK)
			rc = store_delete_row(store, &row, next);
		*evicted += rc == SQLITE_OK ? row.count : 0;
	}
	return rc;
}

/* Copies of refused spans are not worth a batch. */
static int drop_refused(struct store *store)
{
	sqlite3_bind_int64(store->db.stmt[SPOOLDB_TRIM_REFUSED], 1, 0);
	return spooldb_step(&store->db, SPOOLDB_TRIM_REFUSED);
}

static size_t row_bytes(const struct entry *entry)
{
	const struct batch *batch = entry->batch;

	return batch->spans.size + 12 * (size_t)batch->count + 200;
}

/* What it takes at the most: a page that cannot hold the next row is left as it is. */
static size_t reserved_bytes(const struct entry *entry)
{
	size_t bytes = row_bytes(entry);

	return bytes + MIN(bytes, SPOOLFILE_PAGE);
}

/* As the row of its spool_id. */
static int insert(struct store *store, const struct entry *entry, struct spool_counts *next)
{
	int rc = spoolrow_bind(store->db.stmt[SPOOLDB_INSERT], entry->spool_id, entry, &store->times);

	if (rc == SQLITE_OK)
		rc = spooldb_step(&store->db, SPOOLDB_INSERT);
	sqlite3_clear_bindings(store->db.stmt[SPOOLDB_INSERT]);
	next->batches++;
	next->spans += entry->batch->count;
	return rc;
}

/* What was stored has had its OK: it does not go for what its sender still has. */
static bool is_left_out(struct store *store, const struct entry *entry, int64_t pages, int *rc)
{
	return entry_can_go_back(entry) && spooldb_room(&store->db, rc) < pages;
}

static int put_one(struct store *store, struct entry *entry, struct spool_counts *next, int64_t *evicted)
{
	int64_t pages = pages_for(row_bytes(entry));
	int rc = SQLITE_OK;

	entry->spool_id = 0;
	if (spooldb_room(&store->db, &rc) < pages && rc == SQLITE_OK)
		rc = drop_refused(store);
	if (rc != SQLITE_OK || is_left_out(store, entry, pages, &rc) || rc != SQLITE_OK)
		return rc;
	rc = make_room(store, pages, next, evicted);
	if (rc != SQLITE_OK)
		return rc;
	entry->spool_id = next->next++;
	return insert(store, entry, next);
}

static int put(struct store *store, void *data)
{
	struct spool_counts next = store->holds;
	int64_t evicted = 0;
	uint64_t bytes = 0;
	int rc;

	for (const struct entry *entry = data; entry; entry = entry->next)
		bytes += reserved_bytes(entry);
	rc = spooldb_begin(&store->db, bytes);
	for (struct entry *entry = data; entry && rc == SQLITE_OK; entry = entry->next)
		rc = put_one(store, entry, &next, &evicted);
	rc = store_commit(store, &next, rc);
	if (rc == SQLITE_OK)
		store->lost.evicted += evicted;
	return rc;
}

bool spool_put(struct spool *spool, struct entry *list)
{
	bool good = store_run(&spool->store, put, list);

	for (struct entry *entry = list; entry && !good; entry = entry->next)
		entry->spool_id = 0;
	return good;
}

/* Reading */

struct reading {
	int64_t after;
	struct entry *entry; /* NULL: there is none */
	struct spoolrow row;
};

static int read_next(struct store *store, void *data)
{
	sqlite3_stmt *stmt = store->db.stmt[SPOOLDB_READ];
	struct reading *reading = data;
	int rc;

	sqlite3_bind_int64(stmt, 1, reading->after);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW && spoolrow_read(stmt, &reading->row))
		reading->entry = spoolrow_read_entry(stmt, &reading->row);
	if (rc == SQLITE_ROW)
		rc = reading->entry ? SQLITE_DONE : SQLITE_CORRUPT;
	else if (rc == SQLITE_DONE && store->holds.batches > store->under_way->len)
		rc = SQLITE_CORRUPT; /* there should be more */
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum spool_read spool_read(struct spool *spool, int64_t after, struct entry **entry)
{
	struct reading reading = {.after = after};

	if (!store_run(&spool->store, read_next, &reading))
		return SPOOL_FAILED;
	if (!reading.entry)
		return SPOOL_END;
	*entry = reading.entry;
	store_note_under_way(&spool->store, &reading.row);
	return SPOOL_READ;
}

/* Deleting */

struct deletion {
	const int64_t *ids;
	unsigned count;
	int64_t discarded; /* spans in them that were not delivered */
};

/* If it is there: it may be lost with a damaged file. */
static int delete_one(struct store *store, int64_t id, struct spool_counts *next)
{
	struct spoolrow row;
	int rc = store_read_head(store, id - 1, &row);

	if (rc == SQLITE_OK && row.id == id)
		rc = store_delete_row(store, &row, next);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int delete_all(struct store *store, void *data)
{
	const struct deletion *deletion = data;
	struct spool_counts next = store->holds;
	int rc = spooldb_begin(&store->db, 0);

	for (unsigned i = 0; i < deletion->count && rc == SQLITE_OK; i++)
		rc = delete_one(store, deletion->ids[i], &next);
	return store_commit_discarded(store, &next, deletion->discarded, rc);
}

bool spool_delete(struct spool *spool, const int64_t *ids, unsigned count)
{
	return spool_discard(spool, ids, count, 0);
}

bool spool_discard(struct spool *spool, const int64_t *ids, unsigned count, int64_t spans)
{
	struct deletion deletion = {ids, count, spans};

	if (!store_run(&spool->store, delete_all, &deletion))
		return false;
	for (unsigned i = 0; i < count; i++)
		store_forget_under_way(&spool->store, ids[i]);
	if (!spool->store.holds.batches)
		store_shrink(&spool->store);
	return true;
}

/* The rest of a batch */

/* The row at @index of those whose items it had; 0: there are no more. */
static int64_t id_at(const struct entry *entry, guint index)
{
	if (index == 0)
		return entry->spool_id;
	return entry->more_ids && index <= entry->more_ids->len
		       ? g_array_index(entry->more_ids, int64_t, index - 1)
		       : 0;
}

static int put_rest(struct store *store, void *data)
{
	const struct entry *entry = data;
	struct spool_counts next = store->holds;
	int rc = spooldb_begin_exchange(&store->db, row_bytes(entry));

	for (guint i = 0; id_at(entry, i) && rc == SQLITE_OK; i++)
		rc = delete_one(store, id_at(entry, i), &next);
	if (rc == SQLITE_OK)
		rc = insert(store, entry, &next);
	return store_commit(store, &next, rc);
}

bool spool_put_rest(struct spool *spool, struct entry *entry)
{
	if (!store_run(&spool->store, put_rest, entry))
		return false;
	for (guint i = 0; id_at(entry, i); i++)
		store_forget_under_way(&spool->store, id_at(entry, i));
	return true;
}

/* Refused spans */

/* A copy is kept where there is room. */
static int insert_refused(struct store *store, void *data)
{
	sqlite3_stmt *stmt = store->db.stmt[SPOOLDB_REFUSE];
	struct spool_counts next = store->holds;
	int rc = SQLITE_OK;
	bool fits = spooldb_room(&store->db, &rc) >= pages_for(REFUSED_SPAN_BYTES);

	if (rc != SQLITE_OK || !fits)
		return rc;
	rc = spooldb_begin(&store->db, REFUSED_SPAN_BYTES);
	refusedrow_bind(stmt, data, clock_wall());
	if (rc == SQLITE_OK)
		rc = spooldb_step(&store->db, SPOOLDB_REFUSE);
	sqlite3_clear_bindings(stmt);
	sqlite3_bind_int64(store->db.stmt[SPOOLDB_TRIM_REFUSED], 1, SPOOL_REFUSED_MAX);
	if (rc == SQLITE_OK)
		rc = spooldb_step(&store->db, SPOOLDB_TRIM_REFUSED);
	return store_commit(store, &next, rc);
}

bool spool_keep_refused(struct spool *spool, struct spool_refused refused)
{
	return store_run(&spool->store, insert_refused, &refused);
}

/* State */

bool spool_look(struct spool *spool)
{
	return store_look(&spool->store);
}

int64_t spool_end_under_way(struct spool *spool)
{
	int64_t missing = spool->store.db.db ? store_missing_under_way(&spool->store) : 0;

	spool->store.lost.corrupt += missing;
	return missing;
}

static int try(struct store *store, void *data)
{
	struct spool_counts next = store->holds;

	(void)data;
	return store_commit(store, &next, spooldb_begin(&store->db, 1));
}

bool spool_try(struct spool *spool)
{
	return store_run(&spool->store, try, NULL);
}

/* What rows leave unused of their pages is left out, and so is what one row asks for beside its own. */
static uint64_t room_of(const struct spool *spool)
{
	struct spooldb *db = (struct spooldb *)&spool->store.db;
	int rc = SQLITE_OK;
	int64_t pages = db->db ? spooldb_room(db, &rc) - pages_for(0) : 0;

	return rc == SQLITE_OK && pages > 0 ? (uint64_t)pages * SPOOLFILE_PAGE / 8 * 7 : 0;
}

void spool_read_holds(const struct spool *spool, struct spool_holds *holds)
{
	*holds = (struct spool_holds){
		.batches = spool->store.holds.batches,
		.spans = spool->store.holds.spans,
		.bytes = spoolfile_bytes(spool->store.db.path),
		.room = room_of(spool),
	};
}

void spool_heed(struct spool *spool, const struct stored *stored)
{
	spool->store.known = spool_counts_told(stored);
}

struct stored spool_stored(const struct spool *spool)
{
	return spool_counts_tell(&spool->store.holds);
}

void spool_take_losses(struct spool *spool, struct spool_losses *losses)
{
	*losses = spool->store.lost;
	spool->store.lost = (struct spool_losses){0};
}
