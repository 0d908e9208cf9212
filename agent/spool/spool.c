/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/spool.h"

#include <string.h>

#include <zlib.h>

#include "base/clock.h"
#include "spool/spoolfile.h"
#include "spool/spoolrow.h"
#include "spool/stock.h"

struct spool {
	struct stock stock;
};

struct spool *spool_create(const struct spool_options *options)
{
	struct spool *spool = g_new0(struct spool, 1);

	stock_init(&spool->stock, options);
	return spool;
}

void spool_destroy(struct spool *spool)
{
	if (!spool)
		return;
	stock_free(&spool->stock);
	g_free(spool);
}

bool spool_open(struct spool *spool)
{
	return stock_open(&spool->stock);
}

const char *spool_error(const struct spool *spool)
{
	return spool->stock.error;
}

/* Storing */

/* Pages that so many bytes take, and a few more, as trees split. */
static int64_t pages_for(size_t bytes)
{
	return (int64_t)(bytes / (SPOOLFILE_PAGE - 100)) + 6;
}

/* The head of the first batch behind @after; SQLITE_DONE if there is none. */
static int read_head(struct stock *stock, int64_t after, struct spoolrow *row)
{
	sqlite3_stmt *stmt = stock->db.stmt[SPOOLDB_READ_HEAD];
	int rc;

	sqlite3_bind_int64(stmt, 1, after);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		rc = spoolrow_read(stmt, row) ? SQLITE_OK : SQLITE_CORRUPT;
	sqlite3_reset(stmt);
	return rc;
}

static int delete_row(struct stock *stock, const struct spoolrow *row, struct tally *next)
{
	int rc;

	sqlite3_bind_int64(stock->db.stmt[SPOOLDB_DELETE], 1, row->id);
	rc = spooldb_step(&stock->db, SPOOLDB_DELETE);
	next->batches--;
	next->spans -= row->count;
	return rc;
}

/* Lets the oldest batches go until so many pages can be had. */
static int make_room(struct stock *stock, int64_t pages, struct tally *next, int64_t *evicted)
{
	struct spoolrow row;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && spooldb_room(&stock->db, &rc) < pages && rc == SQLITE_OK) {
		rc = read_head(stock, stock_highest_under_way(stock), &row);
		if (rc == SQLITE_DONE)
			return SQLITE_TOOBIG;
		if (rc == SQLITE_OK)
			rc = delete_row(stock, &row, next);
		*evicted += rc == SQLITE_OK ? row.count : 0;
	}
	return rc;
}

static size_t row_bytes(const struct batch *batch)
{
	return batch->spans.size + 12 * (size_t)batch->count + 200;
}

static int insert(struct stock *stock, const struct batch *batch, struct tally *next)
{
	int rc = spoolrow_bind(stock->db.stmt[SPOOLDB_INSERT], next->next, batch, &stock->times);

	if (rc == SQLITE_OK)
		rc = spooldb_step(&stock->db, SPOOLDB_INSERT);
	next->next++;
	next->batches++;
	next->spans += batch->count;
	return rc;
}

static int put(struct stock *stock, void *data)
{
	struct tally next = stock->holds;
	int64_t evicted = 0;
	uint64_t bytes = 0;
	int rc;

	for (const struct batch *batch = data; batch; batch = batch->next)
		bytes += row_bytes(batch);
	rc = spooldb_begin(&stock->db, bytes);
	for (const struct batch *batch = data; batch && rc == SQLITE_OK; batch = batch->next) {
		rc = make_room(stock, pages_for(row_bytes(batch)), &next, &evicted);
		if (rc == SQLITE_OK)
			rc = insert(stock, batch, &next);
	}
	sqlite3_clear_bindings(stock->db.stmt[SPOOLDB_INSERT]);
	rc = stock_commit(stock, &next, rc);
	if (rc == SQLITE_OK)
		stock->lost.evicted += evicted;
	return rc;
}

bool spool_put(struct spool *spool, const struct batch *list)
{
	return stock_run(&spool->stock, put, (void *)list);
}

/* Reading */

struct reading {
	int64_t after;
	struct batch *batch;
	bool found;
};

static int read_next(struct stock *stock, void *data)
{
	sqlite3_stmt *stmt = stock->db.stmt[SPOOLDB_READ];
	struct reading *reading = data;
	struct spoolrow row;
	int rc;

	sqlite3_bind_int64(stmt, 1, reading->after);
	rc = sqlite3_step(stmt);
	reading->found = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW)
		rc = spoolrow_read(stmt, &row) && spoolrow_read_batch(stmt, &row, reading->batch)
			     ? SQLITE_DONE
			     : SQLITE_CORRUPT;
	else if (rc == SQLITE_DONE && stock->holds.batches > stock->under_way->len)
		rc = SQLITE_CORRUPT; /* there are more than can be found */
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum spool_read spool_read(struct spool *spool, int64_t after, struct batch *batch)
{
	struct reading reading = {after, batch, false};

	if (!stock_run(&spool->stock, read_next, &reading))
		return SPOOL_FAILED;
	if (!reading.found)
		return SPOOL_END;
	stock_note_under_way(&spool->stock, batch->spool_id, batch->count);
	return SPOOL_READ;
}

/* Deleting */

struct deletion {
	const int64_t *ids;
	unsigned count;
};

static int delete_all(struct stock *stock, void *data)
{
	const struct deletion *deletion = data;
	struct tally next = stock->holds;
	struct spoolrow row;
	int rc = spooldb_begin(&stock->db, 0);

	for (unsigned i = 0; i < deletion->count && rc == SQLITE_OK; i++) {
		rc = read_head(stock, deletion->ids[i] - 1, &row);
		if (rc == SQLITE_OK && row.id == deletion->ids[i])
			rc = delete_row(stock, &row, &next);
		else if (rc == SQLITE_DONE)
			rc = SQLITE_OK; /* it went with a damaged file */
	}
	return stock_commit(stock, &next, rc);
}

bool spool_delete(struct spool *spool, const int64_t *ids, unsigned count)
{
	struct deletion deletion = {ids, count};

	if (!stock_run(&spool->stock, delete_all, &deletion))
		return false;
	for (unsigned i = 0; i < count; i++)
		stock_forget_under_way(&spool->stock, ids[i]);
	if (!spool->stock.holds.batches)
		spooldb_shrink(&spool->stock.db);
	return true;
}

/* What was refused */

struct shelving {
	const struct spool_refused *refused;
	unsigned count;
};

static int shelve(struct stock *stock, const struct spool_refused *refused)
{
	sqlite3_stmt *stmt = stock->db.stmt[SPOOLDB_REFUSE];
	uint32_t kept = MIN(refused->size, REFUSED_SPAN_BYTES);

	sqlite3_bind_int64(stmt, 1, clock_wall());
	sqlite3_bind_int64(stmt, 2, refused->event_time);
	sqlite3_bind_int64(stmt, 3, refused->size);
	sqlite3_bind_int64(stmt, 4, (int64_t)crc32_z(0, refused->span, kept));
	sqlite3_bind_text(stmt, 5, refused->words, -1, SQLITE_STATIC);
	sqlite3_bind_blob64(stmt, 6, refused->span, kept, SQLITE_STATIC);
	return spooldb_step(&stock->db, SPOOLDB_REFUSE);
}

static int shelve_all(struct stock *stock, void *data)
{
	const struct shelving *shelving = data;
	struct tally next = stock->holds;
	int64_t evicted = 0;
	int rc = spooldb_begin(&stock->db, (uint64_t)shelving->count * REFUSED_SPAN_BYTES);

	for (unsigned i = 0; i < shelving->count && rc == SQLITE_OK; i++) {
		rc = make_room(stock, pages_for(REFUSED_SPAN_BYTES), &next, &evicted);
		if (rc == SQLITE_OK)
			rc = shelve(stock, &shelving->refused[i]);
	}
	sqlite3_clear_bindings(stock->db.stmt[SPOOLDB_REFUSE]);
	sqlite3_bind_int64(stock->db.stmt[SPOOLDB_TRIM_REFUSED], 1, SPOOL_REFUSED_MAX);
	if (rc == SQLITE_OK)
		rc = spooldb_step(&stock->db, SPOOLDB_TRIM_REFUSED);
	rc = stock_commit(stock, &next, rc);
	if (rc == SQLITE_OK)
		stock->lost.evicted += evicted;
	return rc;
}

bool spool_keep_refused(struct spool *spool, const struct spool_refused *refused, unsigned count)
{
	struct shelving shelving = {refused, count};

	return stock_run(&spool->stock, shelve_all, &shelving);
}

/* What there is to know */

static int try(struct stock *stock, void *data)
{
	struct tally next = stock->holds;

	(void)data;
	return stock_commit(stock, &next, spooldb_begin(&stock->db, 1));
}

bool spool_try(struct spool *spool)
{
	return stock_run(&spool->stock, try, NULL);
}

void spool_read_holds(const struct spool *spool, struct spool_holds *holds)
{
	*holds = (struct spool_holds){
		spool->stock.holds.batches, spool->stock.holds.spans, spoolfile_bytes(spool->stock.db.path)};
}

void spool_take_losses(struct spool *spool, struct spool_losses *losses)
{
	*losses = spool->stock.lost;
	spool->stock.lost = (struct spool_losses){0};
}
