/* SPDX-License-Identifier: BSD-2-Clause */
#include "spoolview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"
#include "spool/spoolfile.h"

/* How long the agent may have it locked. */
#define BUSY_MS 5000

int spoolview_failed(const char *directory, int rc)
{
	int kind = rc & 0xff;

	if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB)
		log_error("%s/" SPOOLFILE_NAME
			  " is damaged: %s. The agent saves what can be read of it, and counts "
			  "the rest, when it comes upon the damage, or starts",
			directory, sqlite3_errstr(rc));
	else if (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM)
		log_error("%s/" SPOOLFILE_NAME " cannot be opened: run this as root, or as the agent's user",
			directory);
	else
		log_error("%s/" SPOOLFILE_NAME ": %s", directory, sqlite3_errstr(rc));
	return EXIT_FAILURE;
}

/*
 * SQLite reads a file with a log by way of an index beside it, which it has to make, if no agent runs, where
 * it may have no right to. Without a log it can do without.
 */
static sqlite3 *open_file(const char *path, int *rc)
{
	g_autofree char *log = g_strconcat(path, "-wal", NULL),
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
	db = spoolfile_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, rc);
	return db;
}

int spoolview_open(const char *directory, sqlite3 **db)
{
	g_autofree char *path = g_build_filename(directory, SPOOLFILE_NAME, NULL);
	char why[128] = "";
	int rc;

	*db = NULL;
	switch (spoolfile_probe(path, why, sizeof(why))) {
	case SPOOLFILE_NONE:
		if (access(directory, X_OK) == 0)
			return EXIT_SUCCESS;
		log_error("%s: %s; `state-directory` in the configuration says where the spool is", directory,
			g_strerror(errno));
		return EXIT_FAILURE;
	case SPOOLFILE_UNREADABLE:
		log_error("%s cannot be read: %s; run this as root, or as the agent's user", path, why);
		return EXIT_FAILURE;
	case SPOOLFILE_BAD:
		log_error(
			"%s is not what it should be: %s; the agent sets it aside when it starts", path, why);
		return EXIT_FAILURE;
	default:
		break;
	}
	*db = open_file(path, &rc);
	if (rc == SQLITE_OK)
		return EXIT_SUCCESS;
	sqlite3_close(*db);
	*db = NULL;
	return spoolview_failed(directory, rc);
}
