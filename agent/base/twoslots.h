/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two slots on disk that are written in turn: a process that is killed while it writes loses that write only,
 * because the other slot is whole.
 *
 * A slot is a run of bytes with a number and a checksum in it, in a layout that the caller knows; the whole
 * slot with the highest number is the current one. The slots may be two files, or two places of one file.
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
	int file[TWOSLOTS]; /* descriptors, the caller's; may be the same */
	off_t at[TWOSLOTS]; /* where each slot begins in its file */
	size_t size;        /* of each slot; 0: it goes to the end of its file */
	uint64_t number;    /* of the current slot; 0: none is known */
	unsigned next;      /* the slot that is written next: never the current one */
};

/* What is in a slot, if it is whole. */
struct slot {
	uint64_t number;
	const uint8_t *data; /* borrowed from the slot's bytes */
	size_t size;
};

/* Takes @size bytes of a slot apart. Returns false if it is not whole, with the reason in @why. */
typedef bool twoslots_layout(
	const uint8_t *bytes, size_t size, struct slot *slot, char *why, size_t why_size);

enum twoslots_state {
	TWOSLOTS_NONE,  /* both are empty */
	TWOSLOTS_FOUND, /* @data has the current one's */
	TWOSLOTS_BROKEN /* something is there, and none is whole: @why says why */
};

/* Finds the current slot. */
enum twoslots_state twoslots_read(
	struct twoslots *slots, twoslots_layout *layout, struct buffer *data, char *why, size_t why_size);

/*
 * Writes @bytes, which have @number in them, to the slot whose turn it is; with @sync they are on disk when
 * this returns. Returns 0, or an errno: then the same slot is written next time.
 */
int twoslots_write(struct twoslots *slots, uint64_t number, const struct buffer *bytes, bool sync);

#endif
