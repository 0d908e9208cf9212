/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two slots on disk that are written alternately: a process that is killed while it writes loses only that
 * write, because the other slot is intact.
 *
 * A slot contains a number and a checksum, in a layout that the caller knows. The intact slot with the
 * highest number is the current one. The slots may be two files, or two places in one file.
 */
#ifndef BASE_TWOSLOTS_H
#define BASE_TWOSLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

#define TWOSLOTS 2

struct twoslots {
	int file[TWOSLOTS]; /* descriptors, owned by the caller; may be equal */
	off_t at[TWOSLOTS]; /* where each slot begins in its file */
	size_t size;        /* of each slot; 0: up to the end of its file */
	uint64_t number;    /* of the current slot; 0: unknown */
	unsigned next;      /* the slot to write next; never the current one */
};

/* The contents of an intact slot. */
struct slot {
	uint64_t number;
	const uint8_t *data; /* borrowed from the slot's bytes */
	size_t size;
};

/* Parses @size bytes of a slot. Returns false if it is not intact, with the reason in @why. */
typedef bool twoslots_layout(
	const uint8_t *bytes, size_t size, struct slot *slot, char *why, size_t why_size);

enum twoslots_state {
	TWOSLOTS_NONE,  /* both are empty */
	TWOSLOTS_FOUND, /* @data has the current slot's contents */
	TWOSLOTS_BROKEN /* there is data, but no slot is intact: @why says why */
};

/* Finds the current slot. */
enum twoslots_state twoslots_read(
	struct twoslots *slots, twoslots_layout *layout, struct buffer *data, char *why, size_t why_size);

/*
 * Writes @bytes, which contain @number, to the next slot; with @sync they are on disk when this returns.
 * Returns 0, or an errno: then the same slot is written next time.
 */
int twoslots_write(struct twoslots *slots, uint64_t number, const struct buffer *bytes, bool sync);

#endif
