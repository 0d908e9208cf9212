/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch as a row of the spool's file. It has two checksums, one of the blobs and one of the small columns:
 * so the number of spans is known even where the blobs are damaged.
 *
 * The column `sent` has flags: bit 0 says that the batch was sent before, bits 8 to 15 are its format. For
 * Zipkin's spans, whose format is 0, this is what version 0.1 wrote and reads.
 */
#ifndef OUTPUT_SPOOL_SPOOLROW_H
#define OUTPUT_SPOOL_SPOOLROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "queue/entry.h"

#define SPOOLROW_TABLE                                                                                       \
	"CREATE TABLE batch (id INTEGER PRIMARY KEY, count INTEGER, sent INTEGER, oldest INTEGER,"           \
	" newest INTEGER, bytes INTEGER, body INTEGER, head INTEGER, spans BLOB, times BLOB);"
#define SPOOLROW_INSERT "INSERT INTO batch VALUES(?,?,?,?,?,?,?,?,?,?)"

/* The columns in the order that spoolrow_read and spoolrow_read_entry expect. */
#define SPOOLROW_HEAD "id, count, sent, oldest, newest, bytes, body, head"
#define SPOOLROW_ALL SPOOLROW_HEAD ", spans, times"

/* The row behind an id. */
#define SPOOLROW_NEXT_HEAD "SELECT " SPOOLROW_HEAD " FROM batch WHERE id > ? ORDER BY id LIMIT 1"
#define SPOOLROW_NEXT "SELECT " SPOOLROW_ALL " FROM batch WHERE id > ? ORDER BY id LIMIT 1"

struct spoolrow {
	int64_t id;
	uint32_t count;         /* of spans */
	bool sent_before;       /* sent once, without an answer */
	uint8_t format;         /* an enum batch_format */
	int64_t oldest, newest; /* event times, ns since the epoch */
	size_t bytes;           /* of the spans */
	uint32_t body;          /* the blobs' checksum */
};

/* Binds @entry as row @id to SPOOLROW_INSERT, which borrows the blobs from it and from @times. */
int spoolrow_bind(sqlite3_stmt *insert, int64_t id, const struct entry *entry, struct buffer *times);

/* Reads the small columns; returns false if they are not what was written. */
bool spoolrow_read(sqlite3_stmt *row, struct spoolrow *head);

/* Reads the blobs of a row whose head is good into a new entry, the caller's; NULL as above. */
struct entry *spoolrow_read_entry(sqlite3_stmt *row, const struct spoolrow *head);

#endif
