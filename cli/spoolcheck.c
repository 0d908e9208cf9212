/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin spool check`: whether a spool's file and each of its batches are intact. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/json.h"
#include "base/log.h"
#include "output/spool/spoolrow.h"
#include "spoolview.h"

static void complain(const struct spoolview *view, const struct spoolrow *row)
{
	log_error("%s: batch %" PRId64 " of %" PRIu32 " spans is damaged", view->path, row->id, row->count);
}

static int check_batches(struct spoolview *view, int64_t *good, int64_t *bad)
{
	sqlite3_stmt *stmt = spoolview_prepare(view, SPOOLROW_NEXT);
	struct spoolrow row = {0};
	int rc = SQLITE_ROW;

	if (!stmt)
		return EXIT_FAILURE;
	while (rc == SQLITE_ROW) {
		int64_t before = row.id;
		struct entry *entry = NULL;

		rc = spoolview_step_behind(stmt, before);
		if (rc == SQLITE_ROW && spoolrow_read(stmt, &row))
			entry = spoolrow_read_entry(stmt, &row);
		sqlite3_reset(stmt);
		if (entry) {
			++*good;
		} else if (rc == SQLITE_ROW) {
			complain(view, &row);
			++*bad;
			if (row.id <= before)
				rc = SQLITE_CORRUPT;
		}
		entry_destroy(entry);
	}
	return spoolview_finish(view, stmt, rc);
}

/* What SQLite says about the file's structure; empty if it says "ok". */
static int check_structure(struct spoolview *view, int64_t *bad)
{
	sqlite3_stmt *stmt = spoolview_prepare(view, "PRAGMA quick_check(10)");
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *words = (const char *)sqlite3_column_text(stmt, 0);

		if (words && strcmp(words, "ok") == 0)
			continue;
		log_error("%s: %s", view->path, words ? words : "it cannot be checked");
		++*bad;
	}
	return spoolview_finish(view, stmt, rc);
}

void spoolview_put_checked(struct spoolview *view, int64_t good, int64_t bad)
{
	struct buffer *out = &view->out;

	if (view->json) {
		json_open(out, '{');
		json_key(out, "output");
		json_text(out, view->output);
		json_key(out, "path");
		json_text(out, view->path);
		json_key(out, "ok");
		json_bool(out, good >= 0 && !bad);
		json_key(out, "batches");
		json_int(out, MAX(good, 0));
		json_key(out, "damaged");
		json_int(out, bad);
		json_close(out, '}');
	} else if (good >= 0 && !bad) {
		buffer_printf(
			out, "output %s: OK, %" PRId64 " batches in %s\n", view->output, good, view->path);
	}
	spoolview_flush(view);
}

int spoolview_check(struct spoolview *view)
{
	int64_t good = 0, bad = 0;
	int code = check_structure(view, &bad);

	if (code == EXIT_SUCCESS)
		code = check_batches(view, &good, &bad);
	spoolview_put_checked(view, code == EXIT_SUCCESS ? good : -1, bad);
	return code != EXIT_SUCCESS || bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
