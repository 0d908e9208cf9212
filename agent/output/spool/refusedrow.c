/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/refusedrow.h"

#include <glib.h>
#include <isa-l/crc.h>

#include "output/spool/spoolfile.h"

#define COLUMNS 7

void refusedrow_bind(sqlite3_stmt *insert, const struct spool_refused *refused, int64_t time)
{
	uint32_t kept = MIN(refused->size, REFUSED_SPAN_BYTES);

	sqlite3_bind_int64(insert, 1, time);
	sqlite3_bind_int64(insert, 2, refused->event_time);
	sqlite3_bind_int64(insert, 3, refused->size);
	sqlite3_bind_int64(insert, 4, crc32_gzip_refl(0, refused->span, kept));
	sqlite3_bind_text(insert, 5, refused->words, -1, SQLITE_STATIC);
	sqlite3_bind_blob64(insert, 6, refused->span, kept, SQLITE_STATIC);
}

void refusedrow_read(sqlite3_stmt *stmt, struct refusedrow *row)
{
	*row = (struct refusedrow){
		.id = sqlite3_column_int64(stmt, 0),
		.time = sqlite3_column_int64(stmt, 1),
		.event_time = sqlite3_column_int64(stmt, 2),
		.size = sqlite3_column_int64(stmt, 3),
		.words = (const char *)sqlite3_column_text(stmt, 5),
		.words_size = (size_t)sqlite3_column_bytes(stmt, 5),
		.span = sqlite3_column_blob(stmt, 6),
		.kept = (size_t)sqlite3_column_bytes(stmt, 6),
	};
	if (!row->words)
		row->words = "";
}

void refusedrow_copy_all(sqlite3 *from, sqlite3 *to)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *select = spoolfile_prepare(
		from, "SELECT id, time, event, size, sum, words, span FROM refused ORDER BY id", &rc);
	sqlite3_stmt *insert =
		spoolfile_prepare(to, "INSERT OR IGNORE INTO refused VALUES(?,?,?,?,?,?,?)", &rc);

	while (rc == SQLITE_OK && sqlite3_step(select) == SQLITE_ROW) {
		for (int i = 0; i < COLUMNS; i++)
			sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(select);
	sqlite3_finalize(insert);
}
