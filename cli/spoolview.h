/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read access to a spool while an agent may be writing to it.
 *
 * Each row is read in a separate transaction (SQLite's statement is reset after it), so that the agent can
 * checkpoint its log in between, however slowly the output is read.
 */
#ifndef SPOOLVIEW_H
#define SPOOLVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buffer.h"

struct spoolview {
	const char *output; /* its name */
	const char *path;
	sqlite3 *db;
	bool json;
	struct buffer out;   /* what is to be printed */
	struct buffer event; /* JSON of the one at hand */
};

/*
 * Opens the spool at `path` for reading. Returns 0 with the database, or NULL in `db` if there is no spool
 * yet; otherwise an exit code, having logged what is wrong.
 */
int spoolview_open(struct spoolview *view);
void spoolview_close(struct spoolview *view);

/* A statement over its rows; NULL having logged why not. */
sqlite3_stmt *spoolview_prepare(struct spoolview *view, const char *sql);

/* Steps to the first row after this id; sqlite3_reset ends the transaction. */
int spoolview_step_behind(sqlite3_stmt *stmt, int64_t id);

/* Frees the statement; returns an exit code for @rc, having logged it if it is an error. */
int spoolview_finish(struct spoolview *view, sqlite3_stmt *stmt, int rc);

/* Prints what is in `out`. */
void spoolview_flush(struct spoolview *view);

/* What `blkin spool list` and `check` do with an open spool; return an exit code. */
int spoolview_list(struct spoolview *view);
int spoolview_check(struct spoolview *view);

/* Prints what came of a check: so many good batches (-1: it cannot be read), and so many things that are
 * damaged. */
void spoolview_put_checked(struct spoolview *view, int64_t good, int64_t bad);

#endif
