/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tally: how many batches and spans the spool's file should hold, in a small file beside it.
 *
 * When the spool's file is damaged, or lost its last commits with the power, the tally says how many spans
 * are missing. It is written after each commit, to two slots in turn. The process that has it open holds the
 * lock on the spool.
 */
#ifndef OUTPUT_SPOOL_TALLY_H
#define OUTPUT_SPOOL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/twoslots.h"

struct tally {
	uint64_t identity; /* of the spool's file, at random */
	uint64_t sequence; /* of commits */
	int64_t first;     /* the lowest id stored; lower ones were deleted */
	int64_t next;      /* the id of the next batch */
	int64_t batches, spans;
};

struct tally_file {
	struct twoslots slots;
	int file; /* -1: closed */
};

/* Opens the file at @path, which is made if it is missing, and locks it. Returns false with why in @error. */
bool tally_open(struct tally_file *file, const char *path, char *error, size_t size);

/* Unlocks and closes it; no harm if it is closed. */
void tally_close(struct tally_file *file);

/* Reads the tally; returns false if there is none that is whole. Needed once before tally_write. */
bool tally_read(struct tally_file *file, struct tally *tally);

/* Reads the tally at @path while another process may have it locked. */
bool tally_look(const char *path, struct tally *tally);

/* Writes @tally; returns false if that failed (errno). With @sync it is on disk when this returns. */
bool tally_write(struct tally_file *file, const struct tally *tally, bool sync);

/* Checksum of the fields: the book in the spool's file has it too. */
uint32_t tally_sum(const struct tally *tally);

#endif
