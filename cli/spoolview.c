/* SPDX-License-Identifier: BSD-2-Clause */
#include "spoolview.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolname.h"

/* How long to wait while the agent has it locked. */
#define BUSY_MS 5000

static int failed(const struct spoolview *view, int rc)
{
	int kind = rc & 0xff;

	if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB)
		log_error("%s is damaged: %s. When the agent reads it, it saves what it can, and counts the "
			  "rest",
			view->path, sqlite3_errstr(rc));
	else if (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM)
		log_error("%s cannot be opened: run this as root, or as the agent's user", view->path);
	else if (kind == SQLITE_BUSY)
		log_error("%s is locked: if its disk was full when the agent opened it, nobody else can read "
			  "it "
			  "until all of it is delivered, or the agent is restarted with room on the disk",
			view->path);
	else
		log_error("%s: %s", view->path, sqlite3_errstr(rc));
	return EXIT_FAILURE;
}

/*
 * SQLite reads a file that has a log with the help of an index file. If no agent runs, it must create the
 * index, which may not be permitted. Without a log the file can be read as it is.
 */
static sqlite3 *open_file(const char *path, int *rc)
{
	g_autofree char *log = g_strconcat(path, SPOOLNAME_LOG, NULL),
			*escaped = g_uri_escape_string(path, "/", TRUE);
	g_autofree char *uri = g_strdup_printf("file:%s?immutable=1", escaped);
	sqlite3 *db = spoolfile_open(path, SQLITE_OPEN_READONLY, rc);

	if (db) {
		sqlite3_busy_timeout(db, BUSY_MS);
		*rc = sqlite3_exec(db, "SELECT count(*) FROM book", NULL, NULL, NULL);
		if (*rc == SQLITE_OK || access(log, F_OK) == 0)
			return db;
		sqlite3_close(db);
	}
	return spoolfile_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, rc);
}

int spoolview_open(struct spoolview *view)
{
	char why[128] = "";
	int rc;

	switch (spoolfile_probe(view->path, why, sizeof(why))) {
	case SPOOLFILE_NONE:
		return EXIT_SUCCESS;
	case SPOOLFILE_UNREADABLE:
		log_error("%s cannot be read: %s; run this as root, or as the agent's user", view->path, why);
		return EXIT_FAILURE;
	case SPOOLFILE_BAD:
		log_error("%s is not a spool: %s; the agent sets it aside when it starts", view->path, why);
		return EXIT_FAILURE;
	default:
		break;
	}
	view->db = open_file(view->path, &rc);
	if (rc == SQLITE_OK)
		return EXIT_SUCCESS;
	spoolview_close(view);
	return failed(view, rc);
}

void spoolview_close(struct spoolview *view)
{
	sqlite3_close(view->db);
	view->db = NULL;
	buffer_free(&view->out);
	buffer_free(&view->event);
}

sqlite3_stmt *spoolview_prepare(struct spoolview *view, const char *sql)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *stmt = spoolfile_prepare(view->db, sql, &rc);

	if (rc != SQLITE_OK)
		failed(view, rc);
	return stmt;
}

int spoolview_step_behind(sqlite3_stmt *stmt, int64_t id)
{
	sqlite3_bind_int64(stmt, 1, id);
	return sqlite3_step(stmt);
}

int spoolview_finish(struct spoolview *view, sqlite3_stmt *stmt, int rc)
{
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? EXIT_SUCCESS : failed(view, rc);
}

void spoolview_flush(struct spoolview *view)
{
	fwrite(view->out.data, 1, view->out.size, stdout);
	view->out.size = 0;
}
