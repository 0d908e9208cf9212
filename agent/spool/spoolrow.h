/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch as a row of the spool's file, with two checksums: one of the blobs, and one of the small columns,
 * so that of a row whose blobs are damaged it is still known how many spans it held.
 */
#ifndef SPOOL_SPOOLROW_H
#define SPOOL_SPOOLROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "queue/batch.h"

/* The columns that the functions below expect, in their order: of the head, and of all. */
#define SPOOLROW_HEAD "id, count, sent, oldest, newest, bytes, body, head"
#define SPOOLROW_ALL SPOOLROW_HEAD ", spans, times"

struct spoolrow {
	int64_t id;
	uint32_t count;         /* of spans */
	bool sent_before;       /* went out once, without an answer */
	int64_t oldest, newest; /* event times, ns since the epoch */
	size_t bytes;           /* of the spans */
	uint32_t body;          /* the blobs' checksum */
};

/* Binds @batch as row @id to the parameters 1 to 10; the blobs are borrowed from it and from @times. */
int spoolrow_bind(sqlite3_stmt *insert, int64_t id, const struct batch *batch, struct buffer *times);

/* Reads the small columns; returns false if they are not what was written. */
bool spoolrow_read(sqlite3_stmt *row, struct spoolrow *head);

/* Reads the blobs too, of a row whose head is good, into @batch, replacing what it held; false as above. */
bool spoolrow_read_batch(sqlite3_stmt *row, const struct spoolrow *head, struct batch *batch);

#endif
