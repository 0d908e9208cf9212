/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool's file: an SQLite database that is made, examined, opened and set aside. Its rows are spoolrow.h
 * and refusedrow.h.
 *
 * A new file is built under another name, and renamed when it is whole: so the file was whole at least once.
 */
#ifndef OUTPUT_SPOOL_SPOOLFILE_H
#define OUTPUT_SPOOL_SPOOLFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "output/spool/spoolcounts.h"

#define SPOOLFILE_APPLICATION 0x424c4b53 /* "BLKS" */
#define SPOOLFILE_VERSION 1
#define SPOOLFILE_PAGE 4096
#define SPOOLFILE_ASIDE_MAX 2 /* files that are kept aside */

/*
 * What is at @path: SPOOLFILE_BAD is anything that is not a spool, and @why says what. SPOOLFILE_OTHER is a
 * spool, but not the one that was there: only spoolfile_is knows.
 */
enum spoolfile_kind { SPOOLFILE_NONE, SPOOLFILE_GOOD, SPOOLFILE_BAD, SPOOLFILE_UNREADABLE, SPOOLFILE_OTHER };

enum spoolfile_kind spoolfile_probe(const char *path, char *why, size_t size);

/* Whether a good file at @path is the one with that identity. */
bool spoolfile_is(const char *path, uint64_t identity);

/* Opens the database with the flags of sqlite3_open_v2; NULL with the code in @rc. sqlite3_close ends it. */
sqlite3 *spoolfile_open(const char *path, int flags, int *rc);

/* Prepares a statement; NULL if it cannot, the code being in @rc, which has to be SQLITE_OK before. */
sqlite3_stmt *spoolfile_prepare(sqlite3 *db, const char *sql, int *rc);

/* The book: the row that says what the file holds. */
int spoolfile_read_book(sqlite3 *db, struct spool_counts *book);
int spoolfile_write_book(sqlite3 *db, const struct spool_counts *book);

/*
 * A file that replaces another says what that one should have held (all 0: unknown), until the loss is
 * counted. @found says whether it does.
 */
int spoolfile_read_replaced(sqlite3 *db, struct spool_counts *replaced, bool *found);
int spoolfile_forget_replaced(sqlite3 *db);

/* How many spans were ever discarded: 0 if the file does not say. */
int spoolfile_read_discarded(sqlite3 *db, int64_t *spans);
int spoolfile_write_discarded(sqlite3 *db, int64_t spans);

/* The book of a new, empty file that replaces one which should have held @wanted (all 0: unknown). */
struct spool_counts spoolfile_empty_book(const struct spool_counts *wanted);

/* Starts a new file beside @path, with the tables and nothing in them. NULL with the code in @rc. */
sqlite3 *spoolfile_begin(const char *path, int *rc);

/*
 * Completes it with @book, and with what the file that it replaces should have held, and closes it; removes
 * it if @rc is an error, or becomes one. Returns a code.
 */
int spoolfile_end(sqlite3 *db, const char *path, const struct spool_counts *book,
	const struct spool_counts *replaced, int rc);

/* Renames the new file to @path. Returns false if that failed (errno). */
bool spoolfile_adopt(const char *path);

/*
 * Cleans up after a crash. If no file is at @path, removes what belonged to one, and renames a new file that
 * is whole to @path.
 */
void spoolfile_tidy(const char *path);

/*
 * Renames what is at @path to a name with the time in it, which is written to @aside; of earlier ones, only
 * the newest are kept. Returns false if that failed (errno).
 */
bool spoolfile_set_aside(const char *path, char *aside, size_t size);

/* Bytes on disk, with the log. */
uint64_t spoolfile_bytes(const char *path);

#endif
