/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool's file as such: an SQLite database, made, looked at, opened and set aside. What is in it, the
 * rooms above know.
 *
 * It is built under another name and gets its own when it is whole, so that what stands there was whole once.
 */
#ifndef SPOOL_SPOOLFILE_H
#define SPOOL_SPOOLFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "spool/tally.h"

#define SPOOLFILE_NAME "spool.db"
#define SPOOLFILE_TALLY "spool.tally"
#define SPOOLFILE_APPLICATION 0x424c4b53 /* "BLKS" */
#define SPOOLFILE_VERSION 1
#define SPOOLFILE_PAGE 4096
#define SPOOLFILE_ASIDE_MAX 2 /* files that are kept aside */

/* Whether there is a spool at @path: SPOOLFILE_BAD is anything else, and @why says what. */
enum spoolfile_kind { SPOOLFILE_NONE, SPOOLFILE_GOOD, SPOOLFILE_BAD, SPOOLFILE_UNREADABLE };

enum spoolfile_kind spoolfile_probe(const char *path, char *why, size_t size);

/* Opens the database with the flags of sqlite3_open_v2; NULL with the code in @rc. sqlite3_close ends it. */
sqlite3 *spoolfile_open(const char *path, int flags, int *rc);

/* Prepares a statement; NULL if it cannot, the code being in @rc, which has to be SQLITE_OK before. */
sqlite3_stmt *spoolfile_prepare(sqlite3 *db, const char *sql, int *rc);

/* Reads, and writes, the row that tells what the file holds. */
int spoolfile_read_book(sqlite3 *db, struct tally *book);
int spoolfile_write_book(sqlite3 *db, const struct tally *book);

/*
 * In a file that was put in the place of another, until that is counted: what the other ought to have held
 * (all 0: nobody knows). @found says whether it is there.
 */
int spoolfile_read_replaced(sqlite3 *db, struct tally *replaced, bool *found);
int spoolfile_forget_replaced(sqlite3 *db);

/* Starts a new file beside @path, with the tables and nothing in them. NULL with the code in @rc. */
sqlite3 *spoolfile_begin(const char *path, int *rc);

/*
 * Ends it, whole, with this @book, and what the one that it replaces ought to have held, and closes it; or,
 * unless @rc is good, removes it. Returns a code.
 */
int spoolfile_end(
	sqlite3 *db, const char *path, const struct tally *book, const struct tally *replaced, int rc);

/* Gives the new file its name. Returns false if that failed (errno). */
bool spoolfile_adopt(const char *path);

/*
 * Where no file stands at @path: removes what one left behind, and gives a new file that is whole its name,
 * as a crash may have come in between.
 */
void spoolfile_tidy(const char *path);

/*
 * Renames what is at @path to a name with the time in it, which is written to @aside, and removes the oldest
 * of those when they are too many. Returns false if that failed (errno).
 */
bool spoolfile_set_aside(const char *path, char *aside, size_t size);

/* Bytes on disk, with the log. */
uint64_t spoolfile_bytes(const char *path);

#endif
