/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool's open database: its statements, and commits that keep the bounds of the file and of its log.
 * Calls return SQLite's codes.
 */
#ifndef OUTPUT_SPOOL_SPOOLDB_H
#define OUTPUT_SPOOL_SPOOLDB_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "output/spool/spoolcounts.h"
#include "output/spool/spooltypes.h"

enum spooldb_statement {
	SPOOLDB_PAGES,
	SPOOLDB_FREE_PAGES,
	SPOOLDB_INSERT,       /* spoolrow_bind */
	SPOOLDB_READ,         /* the next batch behind an id: SPOOLROW_ALL */
	SPOOLDB_READ_HEAD,    /* the same: SPOOLROW_HEAD */
	SPOOLDB_DELETE,       /* by id */
	SPOOLDB_DELETE_BELOW, /* an id */
	SPOOLDB_LOWEST,
	SPOOLDB_REFUSE,
	SPOOLDB_TRIM_REFUSED, /* to a number of rows */
	SPOOLDB_STATEMENTS
};

struct spooldb {
	char *path;
	bool sync_full;
	uint64_t log_max;  /* bytes that the log may take */
	int64_t pages_max; /* that the file may have */
	sqlite3 *db;       /* NULL: not open */
	bool alone;        /* nobody else can open it meanwhile */
	sqlite3_stmt *stmt[SPOOLDB_STATEMENTS];
	uint64_t log_bytes;  /* in use */
	uint64_t log_needs;  /* bytes that the log has to have; 0: not known yet */
	uint64_t size;       /* of the file, at the last look; 0: there was none */
	uint64_t log, index; /* which files these are: their inodes; 0: not known */
};

/* What somebody did to the open files. */
enum spooldb_harm {
	SPOOLDB_WHOLE,    /* nothing that shows */
	SPOOLDB_GONE,     /* the file is not at its path any more, and another one may be */
	SPOOLDB_LOG_GONE, /* the log or its index is not; all that is in them can still be read */
	SPOOLDB_CUT,      /* the file or its log is shorter than it has to be */
};

/* Does not touch the disk yet. */
void spooldb_init(struct spooldb *db, const struct spool_options *options);

/* Closes it; unless @tidy the log is not moved into the file, as that may be damaged. */
void spooldb_close(struct spooldb *db, bool tidy);

/* The same, tidily; with @keep_room its log and index are left, with nothing in them: so a disk that is full
 * by the next start has the room to delete what is delivered. */
void spooldb_free(struct spooldb *db, bool keep_room);

/* On a disk that is full, for this process alone if need be. */
int spooldb_open(struct spooldb *db);

/*
 * Moves the log into the file, which always has room for it, and begins a new log. SQLITE_BUSY if another
 * process is reading the file.
 */
int spooldb_move_log(struct spooldb *db);

/* Compares the open files with what is at their paths, of an open database. */
enum spooldb_harm spooldb_look(struct spooldb *db);

/* Closes the database, and removes its log and index, which belong to no other file; with @any, whatever is
 * in their place. */
void spooldb_drop_log(struct spooldb *db, bool any);

/* Begins a commit that adds about @bytes. */
int spooldb_begin(struct spooldb *db, uint64_t bytes);

/* The same of what takes the place of more that is deleted in it. */
int spooldb_begin_exchange(struct spooldb *db, uint64_t bytes);

/*
 * Ends it with the file's new @book, whose `first` it sets: commits if @rc is good, and otherwise undoes
 * everything. Returns @rc, or why it could not be committed.
 */
int spooldb_end(struct spooldb *db, struct spool_counts *book, int rc);

/* Runs a statement that returns nothing, or a number. */
int spooldb_step(struct spooldb *db, enum spooldb_statement which);
int64_t spooldb_number(struct spooldb *db, enum spooldb_statement which, int *rc);

/* How many more pages the file may take. */
int64_t spooldb_room(struct spooldb *db, int *rc);

/* Adds up what is there; SQLITE_CORRUPT also if a row is not what was written. */
int spooldb_count(struct spooldb *db, struct spool_counts *found);

/* Whether there is a batch with this id. */
bool spooldb_has(struct spooldb *db, int64_t id);

/* Makes a file that is empty small again. */
void spooldb_shrink(struct spooldb *db);

#endif
