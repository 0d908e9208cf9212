/* SPDX-License-Identifier: BSD-2-Clause */
/* A span that the collector refused, as a row of the spool's file: kept for an administrator to look at. */
#ifndef OUTPUT_SPOOL_REFUSEDROW_H
#define OUTPUT_SPOOL_REFUSEDROW_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "output/spool/spooltypes.h"

#define REFUSEDROW_TABLE                                                                                     \
	"CREATE TABLE refused (id INTEGER PRIMARY KEY, time INTEGER, event INTEGER, size INTEGER,"           \
	" sum INTEGER, words TEXT, span BLOB);"
#define REFUSEDROW_INSERT "INSERT INTO refused (time, event, size, sum, words, span) VALUES(?,?,?,?,?,?)"
/* Keeps a number of the newest. */
#define REFUSEDROW_TRIM "DELETE FROM refused WHERE id <= (SELECT max(id) FROM refused) - ?"
/* The row behind an id. */
#define REFUSEDROW_NEXT                                                                                      \
	"SELECT id, time, event, size, sum, words, span FROM refused WHERE id > ? ORDER BY id LIMIT 1"

struct refusedrow {
	int64_t id;
	int64_t time;       /* when it was refused, ns since the epoch */
	int64_t event_time; /* of its last event */
	int64_t size;       /* of the span; of a large one only the beginning is kept */
	const char *words;  /* the collector's, borrowed from the statement */
	size_t words_size;
	const uint8_t *span; /* the same */
	size_t kept;         /* bytes of the span */
};

/* Binds @refused, refused at @time, to the parameters of REFUSEDROW_INSERT, which borrow its texts. */
void refusedrow_bind(sqlite3_stmt *insert, const struct spool_refused *refused, int64_t time);

/* Reads the row that REFUSEDROW_NEXT stands on. */
void refusedrow_read(sqlite3_stmt *stmt, struct refusedrow *row);

#endif
