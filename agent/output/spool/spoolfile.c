/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoolfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "base/regularfile.h"
#include "output/spool/refusedrow.h"
#include "output/spool/spoolname.h"
#include "output/spool/spoolrow.h"

#define MAGIC "SQLite format 3"
#define HEADER_SIZE 100
#define HEADER_FORMAT 16      /* where the header has what is the same in every spool, */
#define HEADER_VERSION 60     /* where the header has user_version, */
#define HEADER_APPLICATION 68 /* and application_id: big-endian */

static const char schema[] =
	"CREATE TABLE book (one INTEGER PRIMARY KEY, identity INTEGER, sequence INTEGER, first INTEGER,"
	" next INTEGER, batches INTEGER, spans INTEGER, sum INTEGER);" SPOOLROW_TABLE REFUSEDROW_TABLE;

/* Of the table `book`. */
enum row { BOOK = 1, REPLACED = 2, DISCARDED = 3 };

static char *beside(const char *path, const char *suffix)
{
	return g_strconcat(path, suffix, NULL);
}

static void remove_beside(const char *path, const char *suffix)
{
	g_autofree char *name = beside(path, suffix);

	unlink(name);
}

static uint32_t big_endian(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* The page size, 1 or 2 for writing and reading (2: with a log), no reserved bytes, and SQLite's constants.
 */
static bool good_format(const uint8_t *at)
{
	static const uint8_t size[] = {SPOOLFILE_PAGE >> 8, 0}, rest[] = {0, 64, 32, 32};

	return memcmp(at, size, 2) == 0 && (at[2] == 1 || at[2] == 2) && at[3] == at[2] &&
	       memcmp(at + 4, rest, sizeof(rest)) == 0;
}

static enum spoolfile_kind probe_header(const uint8_t *header, ssize_t size, char *why, size_t why_size)
{
	if (size == 0)
		g_strlcpy(why, "it is empty", why_size);
	else if (size < HEADER_SIZE || memcmp(header, MAGIC, sizeof(MAGIC)) != 0)
		g_strlcpy(why, "it is not an SQLite database", why_size);
	else if (big_endian(header + HEADER_APPLICATION) != SPOOLFILE_APPLICATION)
		g_strlcpy(why, "it is a database of another program", why_size);
	else if (big_endian(header + HEADER_VERSION) != SPOOLFILE_VERSION)
		snprintf(why, why_size, "it has version %u, and this agent knows version %d",
			big_endian(header + HEADER_VERSION), SPOOLFILE_VERSION);
	else if (!good_format(header + HEADER_FORMAT))
		g_strlcpy(why, "it is damaged", why_size);
	else
		return SPOOLFILE_GOOD;
	return SPOOLFILE_BAD;
}

/* To be called before SQLite opens the file: closing a descriptor later would end SQLite's locks on it. */
enum spoolfile_kind spoolfile_probe(const char *path, char *why, size_t size)
{
	uint8_t header[HEADER_SIZE];
	struct stat file;
	ssize_t got;
	int fd;

	if (lstat(path, &file) != 0) {
		snprintf(why, size, "%s", g_strerror(errno));
		return errno == ENOENT ? SPOOLFILE_NONE : SPOOLFILE_UNREADABLE;
	}
	if (!S_ISREG(file.st_mode)) {
		g_strlcpy(why, S_ISDIR(file.st_mode) ? "it is a folder" : "it is not a file", size);
		return SPOOLFILE_BAD;
	}
	fd = regularfile_open(path, O_RDONLY, 0);
	got = fd < 0 ? -1 : pread(fd, header, sizeof(header), 0);
	if (got < 0)
		snprintf(why, size, "%s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return got < 0 ? SPOOLFILE_UNREADABLE : probe_header(header, got, why, size);
}

sqlite3 *spoolfile_open(const char *path, int flags, int *rc)
{
	sqlite3 *db = NULL;

	*rc = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (*rc == SQLITE_OK)
		*rc = sqlite3_exec(
			db, "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;", NULL, NULL, NULL);
	if (*rc == SQLITE_OK)
		return db;
	sqlite3_close(db);
	return NULL;
}

sqlite3_stmt *spoolfile_prepare(sqlite3 *db, const char *sql, int *rc)
{
	sqlite3_stmt *stmt = NULL;

	if (*rc == SQLITE_OK)
		*rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	return stmt;
}

/* Reads a row; SQLITE_DONE if it is not there. */
static int read_row(sqlite3 *db, enum row which, struct spool_counts *row)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *stmt = spoolfile_prepare(db,
		"SELECT identity, sequence, first, next, batches, spans, sum FROM book WHERE one = ?", &rc);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int(stmt, 1, which);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		*row = (struct spool_counts){
			.identity = (uint64_t)sqlite3_column_int64(stmt, 0),
			.sequence = (uint64_t)sqlite3_column_int64(stmt, 1),
			.first = sqlite3_column_int64(stmt, 2),
			.next = sqlite3_column_int64(stmt, 3),
			.batches = sqlite3_column_int64(stmt, 4),
			.spans = sqlite3_column_int64(stmt, 5),
		};
		rc = sqlite3_column_int64(stmt, 6) == spool_counts_sum(row) ? SQLITE_OK : SQLITE_CORRUPT;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int write_row(sqlite3 *db, enum row which, const struct spool_counts *row)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *stmt =
		spoolfile_prepare(db, "INSERT OR REPLACE INTO book VALUES(?,?,?,?,?,?,?,?)", &rc);
	const int64_t values[] = {which, (int64_t)row->identity, (int64_t)row->sequence, row->first,
		row->next, row->batches, row->spans, spool_counts_sum(row)};

	for (int i = 0; i < (int)G_N_ELEMENTS(values) && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(stmt, i + 1, values[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int spoolfile_read_book(sqlite3 *db, struct spool_counts *book)
{
	int rc = read_row(db, BOOK, book);

	return rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
}

bool spoolfile_is(const char *path, uint64_t identity)
{
	struct spool_counts book;
	int rc;
	sqlite3 *db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	bool is;

	if (!db)
		return false;
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	is = spoolfile_read_book(db, &book) == SQLITE_OK && book.identity == identity;
	sqlite3_close(db);
	return is;
}

int spoolfile_write_book(sqlite3 *db, const struct spool_counts *book)
{
	return write_row(db, BOOK, book);
}

int spoolfile_read_replaced(sqlite3 *db, struct spool_counts *replaced, bool *found)
{
	int rc = read_row(db, REPLACED, replaced);

	*found = rc == SQLITE_OK;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int spoolfile_forget_replaced(sqlite3 *db)
{
	return sqlite3_exec(db, "DELETE FROM book WHERE one = 2", NULL, NULL, NULL);
}

int spoolfile_read_discarded(sqlite3 *db, int64_t *spans)
{
	struct spool_counts row = {0};
	int rc = read_row(db, DISCARDED, &row);

	*spans = rc == SQLITE_OK ? row.spans : 0;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int spoolfile_write_discarded(sqlite3 *db, int64_t spans)
{
	return write_row(db, DISCARDED, &(struct spool_counts){.spans = spans});
}

struct spool_counts spoolfile_empty_book(const struct spool_counts *wanted)
{
	int64_t next = MAX(wanted->next, 1);

	return (struct spool_counts){
		.identity = (uint64_t)g_random_int() << 32 | g_random_int(),
		.sequence = wanted->sequence + 1,
		.first = next,
		.next = next,
	};
}

/*
 * Without a journal: a file that is not whole is not renamed, and is thrown away. The log is switched on at
 * the end, when the header has all that spoolfile_probe looks at.
 */
sqlite3 *spoolfile_begin(const char *path, int *rc)
{
	g_autofree char *name = beside(path, SPOOLNAME_NEW);
	sqlite3 *db;
	int fd;

	spoolfile_tidy(name);
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640); /* SQLite's own mode is 0644 */
	if (fd >= 0)
		close(fd);
	db = spoolfile_open(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, rc);
	if (!db)
		return NULL;
	*rc = sqlite3_exec(db,
		"PRAGMA page_size=" G_STRINGIFY(
			SPOOLFILE_PAGE) "; PRAGMA auto_vacuum=NONE;"
					"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;",
		NULL, NULL, NULL);
	if (*rc == SQLITE_OK)
		*rc = sqlite3_exec(db, schema, NULL, NULL, NULL);
	if (*rc == SQLITE_OK)
		return db;
	sqlite3_close(db);
	unlink(name);
	return NULL;
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	return rc == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

int spoolfile_end(sqlite3 *db, const char *path, const struct spool_counts *book,
	const struct spool_counts *replaced, int rc)
{
	g_autofree char *name = beside(path, SPOOLNAME_NEW);
	char sql[128];

	/* What marks it as whole comes last. */
	snprintf(sql, sizeof(sql),
		"COMMIT; PRAGMA synchronous=FULL; PRAGMA application_id=%d; PRAGMA user_version=%d;"
		"PRAGMA journal_mode=WAL",
		SPOOLFILE_APPLICATION, SPOOLFILE_VERSION);
	if (rc == SQLITE_OK)
		rc = write_row(db, REPLACED, replaced);
	if (rc == SQLITE_OK)
		rc = spoolfile_write_book(db, book);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	if (sqlite3_close(db) != SQLITE_OK && rc == SQLITE_OK)
		rc = SQLITE_BUSY;
	if (rc == SQLITE_OK)
		rc = sync_file(name);
	if (rc != SQLITE_OK)
		unlink(name);
	return rc;
}

bool spoolfile_adopt(const char *path)
{
	g_autofree char *name = beside(path, SPOOLNAME_NEW), *folder = g_path_get_dirname(path);

	return rename(name, path) == 0 && sync_file(folder) == SQLITE_OK;
}

void spoolfile_tidy(const char *path)
{
	g_autofree char *name = beside(path, SPOOLNAME_NEW);
	struct stat file;
	char why[128];

	if (lstat(path, &file) == 0) {
		unlink(name);
		return;
	}
	/* A log belongs to one file: SQLite would apply it to the next one. */
	remove_beside(path, SPOOLNAME_LOG);
	remove_beside(path, SPOOLNAME_INDEX);
	remove_beside(path, SPOOLNAME_JOURNAL);
	if (spoolfile_probe(name, why, sizeof(why)) == SPOOLFILE_GOOD)
		spoolfile_adopt(path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes all but the newest; a folder only if it is empty. */
static void thin_out(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path), *base = g_path_get_basename(path);
	g_autofree char *prefix = beside(base, SPOOLNAME_ASIDE);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_prefix(name, prefix) && !g_str_has_suffix(name, SPOOLNAME_LOG))
			g_ptr_array_add(names, g_build_filename(folder, name, NULL));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i + SPOOLFILE_ASIDE_MAX < names->len; i++) {
		remove(names->pdata[i]);
		remove_beside(names->pdata[i], SPOOLNAME_LOG);
	}
}

bool spoolfile_set_aside(const char *path, char *aside, size_t size)
{
	g_autofree char *wal = beside(path, SPOOLNAME_LOG), *aside_wal = NULL;
	time_t now = time(NULL);
	struct tm utc;
	struct stat file;
	char stamp[32];

	gmtime_r(&now, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(aside, size, "%s" SPOOLNAME_ASIDE "%s", path, stamp);
	for (int i = 2; i < 100 && lstat(aside, &file) == 0; i++)
		snprintf(aside, size, "%s" SPOOLNAME_ASIDE "%s-%02d", path, stamp, i);
	if (rename(path, aside) != 0)
		return false;
	aside_wal = beside(aside, SPOOLNAME_LOG);
	rename(wal, aside_wal); /* there may be none */
	remove_beside(path, SPOOLNAME_INDEX);
	thin_out(path);
	return true;
}

static uint64_t bytes_of(const char *path, const char *suffix)
{
	g_autofree char *name = beside(path, suffix);
	struct stat file;

	return stat(name, &file) == 0 ? (uint64_t)file.st_size : 0;
}

uint64_t spoolfile_bytes(const char *path)
{
	return bytes_of(path, "") + bytes_of(path, SPOOLNAME_LOG) + bytes_of(path, SPOOLNAME_INDEX);
}
