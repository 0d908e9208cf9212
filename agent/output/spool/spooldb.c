/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spooldb.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/regularfile.h"
#include "output/spool/refusedrow.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolname.h"
#include "output/spool/spoolrow.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
/* A page in the log has this before it. */
#define FRAME (SPOOLFILE_PAGE + 24)
/* What says that the log is one. */
#define LOG_HEADER 32
/* The log, at most; it is moved into the file at half of it. */
#define LOG_MAX (16 * MIB)
/* For the log's index, the counts, and pages that trees split into. */
#define SLACK (256 * KIB)
/* Pages that an empty file may keep. */
#define EMPTY_PAGES 256
/* How long a call waits for whoever else has the file locked. */
#define BUSY_MS 200
/* The file grows by so much at a time. */
#define CHUNK (64 * 1024)

static const char *const sql[SPOOLDB_STATEMENTS] = {
	[SPOOLDB_PAGES] = "PRAGMA page_count",
	[SPOOLDB_FREE_PAGES] = "PRAGMA freelist_count",
	[SPOOLDB_INSERT] = SPOOLROW_INSERT,
	[SPOOLDB_READ] = SPOOLROW_NEXT,
	[SPOOLDB_READ_HEAD] = SPOOLROW_NEXT_HEAD,
	[SPOOLDB_DELETE] = "DELETE FROM batch WHERE id = ?",
	[SPOOLDB_DELETE_BELOW] = "DELETE FROM batch WHERE id < ?",
	[SPOOLDB_LOWEST] = "SELECT min(id) FROM batch",
	[SPOOLDB_REFUSE] = REFUSEDROW_INSERT,
	[SPOOLDB_TRIM_REFUSED] = REFUSEDROW_TRIM,
};

void spooldb_init(struct spooldb *db, const struct spool_options *options)
{
	uint64_t max_bytes = options->max_bytes, beside;

	memset(db, 0, sizeof(*db));
	db->path = spoolname_spool(options->directory, options->name);
	db->sync_full = options->sync_full;
	db->log_max = MIN(LOG_MAX, max_bytes / 4);
	beside = db->log_max + SLACK + max_bytes / 64;
	db->pages_max = (int64_t)((max_bytes - MIN(max_bytes, beside)) / SPOOLFILE_PAGE);
}

void spooldb_close(struct spooldb *db, bool tidy)
{
	for (int i = 0; i < SPOOLDB_STATEMENTS; i++)
		sqlite3_finalize(db->stmt[i]);
	memset(db->stmt, 0, sizeof(db->stmt));
	if (db->db && !tidy)
		sqlite3_db_config(db->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(db->db);
	db->db = NULL;
}

static int on_commit(void *data, sqlite3 *connection, const char *name, int pages)
{
	struct spooldb *db = data;

	(void)connection;
	(void)name;
	db->log_bytes = (uint64_t)pages * FRAME;
	db->log_needs = db->log_bytes;
	return SQLITE_OK;
}

/* What is beside the file */

static bool stat_beside(const struct spooldb *db, const char *suffix, struct stat *file)
{
	g_autofree char *path = g_strconcat(db->path, suffix, NULL);

	return lstat(path, file) == 0;
}

static uint64_t inode_of(const struct spooldb *db, const char *suffix)
{
	struct stat file;

	return stat_beside(db, suffix, &file) ? file.st_ino : 0;
}

/* SQLite makes the file no shorter than its pages, and the log not at all while it is open. */
static bool is_cut(struct spooldb *db)
{
	uint64_t before = db->size, pages;
	struct stat file, log;
	int rc = SQLITE_OK;

	if (!stat_beside(db, "", &file) || !stat_beside(db, SPOOLNAME_LOG, &log))
		return false;
	db->size = (uint64_t)file.st_size;
	if ((uint64_t)log.st_size < db->log_needs)
		return true;
	if (db->size >= before)
		return false;
	pages = (uint64_t)spooldb_number(db, SPOOLDB_PAGES, &rc);
	return rc != SQLITE_OK || db->size < pages * SPOOLFILE_PAGE;
}

enum spooldb_harm spooldb_look(struct spooldb *db)
{
	int moved = 0;

	if (sqlite3_file_control(db->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
		return SPOOLDB_GONE;
	if ((db->log && inode_of(db, SPOOLNAME_LOG) != db->log) ||
		(db->index && inode_of(db, SPOOLNAME_INDEX) != db->index))
		return SPOOLDB_LOG_GONE;
	return is_cut(db) ? SPOOLDB_CUT : SPOOLDB_WHOLE;
}

/* Makes it a log of nothing, which takes as much room. If that fails, SQLite moves it again. */
static bool void_log(const struct spooldb *db)
{
	static const uint8_t nothing[LOG_HEADER];
	g_autofree char *path = g_strconcat(db->path, SPOOLNAME_LOG, NULL);
	int file =
		db->log && inode_of(db, SPOOLNAME_LOG) == db->log ? regularfile_open(path, O_WRONLY, 0) : -1;
	bool good = file >= 0 && pwrite(file, nothing, sizeof(nothing), 0) == sizeof(nothing);

	if (file >= 0)
		close(file);
	return good;
}

void spooldb_free(struct spooldb *db, bool keep_room)
{
	bool keeps = db->db && keep_room && spooldb_move_log(db) == SQLITE_OK;

	spooldb_close(db, !keeps);
	if (keeps)
		void_log(db);
	g_free(db->path);
}

static void remove_beside(const struct spooldb *db, const char *suffix, uint64_t inode, bool any)
{
	g_autofree char *path = g_strconcat(db->path, suffix, NULL);

	if (any || (inode && inode_of(db, suffix) == inode))
		unlink(path);
}

void spooldb_drop_log(struct spooldb *db, bool any)
{
	spooldb_close(db, false);
	remove_beside(db, SPOOLNAME_LOG, db->log, any);
	remove_beside(db, SPOOLNAME_INDEX, db->index, any);
}

/* Nothing that is written goes to the log before its commit, or the log could not be bounded. */
static int set_up(struct spooldb *db, bool alone)
{
	char setup[360];
	int rc;

	db->alone = alone;
	db->db = spoolfile_open(db->path, SQLITE_OPEN_READWRITE, &rc);
	if (!db->db)
		return rc;
	snprintf(setup, sizeof(setup),
		"%sPRAGMA journal_mode=WAL; PRAGMA synchronous=%s; PRAGMA wal_autocheckpoint=0;"
		"PRAGMA secure_delete=OFF; PRAGMA cache_size=-512; PRAGMA cache_spill=OFF;"
		"PRAGMA journal_size_limit=%" G_GUINT64_FORMAT ";",
		alone ? "PRAGMA locking_mode=EXCLUSIVE; " : "", db->sync_full ? "FULL" : "NORMAL",
		db->log_max);
	sqlite3_busy_timeout(db->db, BUSY_MS);
	return sqlite3_exec(db->db, setup, NULL, NULL, NULL);
}

/* If the disk has no room for the log's index, which is for others, it is in memory. */
int spooldb_open(struct spooldb *db)
{
	int chunk = CHUNK, rc = set_up(db, false);

	if (rc == SQLITE_IOERR_SHMSIZE) {
		spooldb_close(db, false);
		rc = set_up(db, true);
	}
	if (!db->db)
		return rc;
	/* When it cannot be opened for writing, for want of a descriptor say, SQLite opens it for reading. */
	if (rc == SQLITE_OK && sqlite3_db_readonly(db->db, "main"))
		rc = SQLITE_READONLY;
	for (int i = 0; i < SPOOLDB_STATEMENTS; i++)
		db->stmt[i] = spoolfile_prepare(db->db, sql[i], &rc);
	sqlite3_wal_hook(db->db, on_commit, db);
	sqlite3_file_control(db->db, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk);
	db->log_bytes = db->log_max; /* unknown: it is moved before the first commit */
	db->log_needs = db->size = 0;
	db->log = inode_of(db, SPOOLNAME_LOG);
	db->index = inode_of(db, SPOOLNAME_INDEX);
	return rc;
}

int spooldb_move_log(struct spooldb *db)
{
	int rc = sqlite3_wal_checkpoint_v2(db->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);

	if (rc == SQLITE_OK)
		db->log_bytes = 0;
	return rc;
}

/*
 * Takes the room that the file will need when its log is moved, before anything goes into the log: so that a
 * disk that is full never keeps what was delivered from being deleted. What goes beyond the limit takes the
 * pages of older batches, which are deleted for it.
 */
static int reserve(struct spooldb *db, uint64_t bytes)
{
	int rc = SQLITE_OK;
	int64_t pages = spooldb_number(db, SPOOLDB_PAGES, &rc);
	int64_t free_pages = spooldb_number(db, SPOOLDB_FREE_PAGES, &rc);
	int64_t more = (int64_t)(bytes / (SPOOLFILE_PAGE - 100)) + 16 - free_pages;
	sqlite3_int64 most = MAX(pages, db->pages_max);
	sqlite3_int64 size = MIN(pages + MAX(more, 0), most) * SPOOLFILE_PAGE;

	if (rc == SQLITE_OK && (free_pages < 0 || free_pages > pages))
		return SQLITE_CORRUPT; /* the hint would be as wrong, and fill the disk */
	if (rc == SQLITE_OK)
		rc = sqlite3_file_control(db->db, "main", SQLITE_FCNTL_SIZE_HINT, &size);
	return (rc & 0xff) == SQLITE_IOERR ? SQLITE_FULL : rc;
}

static int make_log_room(struct spooldb *db, uint64_t bytes)
{
	uint64_t frames = bytes + bytes / 64 + 32 * FRAME;

	return db->log_bytes && db->log_bytes + frames > db->log_max ? spooldb_move_log(db) : SQLITE_OK;
}

static int begin(struct spooldb *db, int rc)
{
	return rc == SQLITE_OK ? sqlite3_exec(db->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) : rc;
}

int spooldb_begin(struct spooldb *db, uint64_t bytes)
{
	int rc = make_log_room(db, bytes);

	if (rc == SQLITE_OK && bytes)
		rc = reserve(db, bytes);
	return begin(db, rc);
}

int spooldb_begin_exchange(struct spooldb *db, uint64_t bytes)
{
	return begin(db, make_log_room(db, bytes));
}

int spooldb_end(struct spooldb *db, struct spool_counts *book, int rc)
{
	int64_t lowest = spooldb_number(db, SPOOLDB_LOWEST, &rc);

	book->first = lowest ? lowest : book->next;
	if (rc == SQLITE_OK)
		rc = spoolfile_write_book(db->db, book);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db->db, "COMMIT", NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(db->db))
		sqlite3_exec(db->db, "ROLLBACK", NULL, NULL, NULL);
	if (rc == SQLITE_OK && db->log_bytes > db->log_max / 2)
		spooldb_move_log(db); /* if not now, then before the next commit */
	return rc;
}

int spooldb_step(struct spooldb *db, enum spooldb_statement which)
{
	int rc = sqlite3_step(db->stmt[which]);

	sqlite3_reset(db->stmt[which]);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int64_t spooldb_number(struct spooldb *db, enum spooldb_statement which, int *rc)
{
	int64_t number = 0;

	if (*rc != SQLITE_OK)
		return 0;
	*rc = sqlite3_step(db->stmt[which]);
	if (*rc == SQLITE_ROW) {
		number = sqlite3_column_int64(db->stmt[which], 0);
		*rc = SQLITE_OK;
	}
	sqlite3_reset(db->stmt[which]);
	return number;
}

int64_t spooldb_room(struct spooldb *db, int *rc)
{
	return db->pages_max - spooldb_number(db, SPOOLDB_PAGES, rc) +
	       spooldb_number(db, SPOOLDB_FREE_PAGES, rc);
}

int spooldb_count(struct spooldb *db, struct spool_counts *found)
{
	sqlite3_stmt *stmt;
	struct spoolrow row;
	int rc = SQLITE_OK;

	*found = (struct spool_counts){0};
	stmt = spoolfile_prepare(db->db, "SELECT " SPOOLROW_HEAD " FROM batch ORDER BY id", &rc);
	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rc = spoolrow_read(stmt, &row) && row.id >= found->next ? SQLITE_OK : SQLITE_CORRUPT;
		if (!found->batches)
			found->first = row.id;
		found->next = row.id + 1;
		found->batches++;
		found->spans += row.count;
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

bool spooldb_has(struct spooldb *db, int64_t id)
{
	sqlite3_stmt *stmt = db->stmt[SPOOLDB_READ_HEAD];
	bool found;

	sqlite3_bind_int64(stmt, 1, id - 1);
	found = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0) == id;
	sqlite3_reset(stmt);
	return found;
}

/* It is a convenience: when it fails, the file stays as large as its bound allows. */
void spooldb_shrink(struct spooldb *db)
{
	int rc = SQLITE_OK;

	if (spooldb_number(db, SPOOLDB_PAGES, &rc) > EMPTY_PAGES && rc == SQLITE_OK &&
		sqlite3_exec(db->db, "VACUUM", NULL, NULL, NULL) == SQLITE_OK)
		spooldb_move_log(db);
}
