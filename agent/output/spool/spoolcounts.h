/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counts: how many batches and spans the spool's file should hold, in a small file beside it.
 *
 * When the spool's file is damaged, or lost its last commits with the power, the counts say how many spans
 * are missing. It is written after each commit, to two slots in turn. The process that has it open holds the
 * lock on the spool.
 */
#ifndef OUTPUT_SPOOL_SPOOLCOUNTS_H
#define OUTPUT_SPOOL_SPOOLCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/twoslots.h"
#include "core/ledger.h"

struct spool_counts {
	uint64_t identity; /* of the spool's file, at random */
	uint64_t sequence; /* of commits */
	int64_t first;     /* the lowest id stored; lower ones were deleted */
	int64_t next;      /* the id of the next batch */
	int64_t batches, spans;
};

struct spool_counts_file {
	struct twoslots slots;
	int file; /* -1: closed */
};

/* Opens the file at @path, which is made if it is missing, and locks it. Returns false with why in @error. */
bool spool_counts_open(struct spool_counts_file *file, const char *path, char *error, size_t size);

/* Unlocks and closes it; no harm if it is closed. */
void spool_counts_close(struct spool_counts_file *file);

/* Reads the counts; returns false if there is none that is whole. Needed once before spool_counts_write. */
bool spool_counts_read(struct spool_counts_file *file, struct spool_counts *counts);

/* Reads the counts at @path while another process may have it locked. */
bool spool_counts_look(const char *path, struct spool_counts *counts);

/* Writes @counts; returns false if that failed (errno). With @sync it is on disk when this returns. */
bool spool_counts_write(struct spool_counts_file *file, const struct spool_counts *counts, bool sync);

/* What an account keeps of them, and back; the identity is cut off to what an account can have. */
struct stored spool_counts_tell(const struct spool_counts *counts);
struct spool_counts spool_counts_told(const struct stored *stored);
uint64_t spool_counts_cut(uint64_t identity);

/* Checksum of the fields: the book in the spool's file has it too. */
uint32_t spool_counts_sum(const struct spool_counts *counts);

#endif
