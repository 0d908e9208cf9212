/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tally: what the spool's file ought to hold, in a few bytes of a file beside it.
 *
 * When the spool's file is damaged, or lost its last commits with the power, this tells how many spans went
 * with them. It is written after each commit into one of two slots in turn, each with a checksum, so that one
 * of them is whole at any moment. Whoever has it open holds the lock on the spool.
 */
#ifndef SPOOL_TALLY_H
#define SPOOL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally {
	uint64_t identity; /* of the spool's file, at random */
	uint64_t sequence; /* of commits */
	int64_t first;     /* the lowest id stored; what is below is gone for good */
	int64_t next;      /* the id of the next batch */
	int64_t batches, spans;
};

/*
 * Opens the file at @path, making it if it is not there, and locks it. Returns its descriptor, or -1 having
 * written to @error why not.
 */
int tally_open(const char *path, char *error, size_t size);

/* Reads the newest whole slot; returns false if there is none. */
bool tally_read(int file, struct tally *tally);

/* Writes @tally; returns false if that failed (errno). With @sync it is on disk when this returns. */
bool tally_write(int file, const struct tally *tally, bool sync);

/* Checksum of the fields: the book in the spool's file has it too. */
uint32_t tally_sum(const struct tally *tally);

#endif
