/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/sweep.h"

#include "output/spool/spoolfile.h"
#include "output/spool/store.h"

/* Of a sweep, in one commit; and rows that stay. */
#define SWEEP_BATCHES 128
#define SWEEP_LOOKS 4096

bool spool_begin_sweep(struct spool *spool, struct spool_sweep *sweep, int64_t before)
{
	*sweep = (struct spool_sweep){.before = before};
	if (!store_open(&spool->store))
		return false;
	sweep->upto = spool->store.holds.next - 1;
	store_give_up_under_way(&spool->store, before);
	return true;
}

/* Looks at the next batch, and deletes it if it is to go. */
static int sweep_one(struct store *store, struct spool_sweep *sweep, struct spool_counts *next)
{
	struct spoolrow row;
	int rc = store_read_head(store, sweep->after, &row);

	sweep->over = rc == SQLITE_DONE || (rc == SQLITE_OK && row.id > sweep->upto);
	if (sweep->over)
		return SQLITE_OK;
	if (rc != SQLITE_OK)
		return rc;
	sweep->after = row.id;
	if (row.newest >= sweep->before || store_is_under_way(store, row.id))
		return SQLITE_OK;
	sweep->batches++;
	sweep->spans += row.count;
	return store_delete_row(store, &row, next);
}

static int sweep_some(struct store *store, void *data)
{
	struct spool_sweep *sweep = data, now = *sweep;
	struct spool_counts next = store->holds;
	int rc = spooldb_begin(&store->db, 0);

	for (int looks = 0; rc == SQLITE_OK && !now.over && looks < SWEEP_LOOKS &&
			    now.batches - sweep->batches < SWEEP_BATCHES;
		looks++)
		rc = sweep_one(store, &now, &next);
	rc = store_commit_discarded(store, &next, now.spans - sweep->spans, rc);
	if (rc == SQLITE_OK)
		*sweep = now;
	return rc;
}

bool spool_sweep(struct spool *spool, struct spool_sweep *sweep)
{
	struct store *store = &spool->store;

	if (!store_run(store, sweep_some, sweep))
		return false;
	if (!sweep->over)
		return true;
	if (!store->holds.batches)
		store_shrink(store);
	if (store->db.db)
		spooldb_move_log(
			&store->db); /* so it is on the disk; if not now, then before a later commit */
	return true;
}

GArray *spool_unwanted(const struct spool *spool)
{
	return store_unwanted(&spool->store);
}

int64_t spool_discarded(const struct spool *spool)
{
	return spool->store.discarded;
}

static int write_discarded(struct store *store, void *data)
{
	struct spool_counts next = store->holds;
	int64_t *spans = data;
	int rc = spooldb_begin(&store->db, 0);

	if (rc == SQLITE_OK)
		rc = spoolfile_write_discarded(store->db.db, *spans);
	return store_commit(store, &next, rc);
}

bool spool_set_discarded(struct spool *spool, int64_t spans)
{
	if (spans != spool->store.discarded && !store_run(&spool->store, write_discarded, &spans))
		return false;
	spool->store.discarded = spans;
	return true;
}
