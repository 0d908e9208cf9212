/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/refusedrow.h"

#include <glib.h>
#include <isa-l/crc.h>

#include "queue/backlog.h"

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
