/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/unsqueeze.h"

#include <stdbool.h>
#include <stdlib.h>

#include <glib.h>
#include <isa-l/igzip_lib.h>

#include "base/memory.h"

/* Taken in at a time; and unpacked, so that memory is taken as it is needed. */
#define PIECE ((size_t)64 * 1024)
/* And means this much, at least: what gzip makes is never twice as long, while blocks without anything, of
 * ten bits each, are so many that a body would take seconds. */
#define PIECE_MEANS (PIECE / 2)
/* The flags of a member's head that are to be 0. */
#define FLAGS 3
#define FLAGS_RESERVED 0xe0

struct unsqueeze {
	struct inflate_state state;
};

struct unsqueeze *unsqueeze_create(void)
{
	return memory_get(sizeof(struct unsqueeze));
}

void unsqueeze_destroy(struct unsqueeze *unsqueeze)
{
	free(unsqueeze);
}

/* What is taken in of a body, and what comes out. */
struct taking {
	struct inflate_state *state;
	size_t left; /* bytes behind those that are taken in */
	struct buffer *out;
	size_t begin, most; /* where the body's bytes in @out begin, and how many there may be */
	size_t piece;       /* where those of this piece do */
};

/* The next piece; false: there is none, or this one meant too little. */
static bool take_in(struct taking *is)
{
	const size_t size = MIN(PIECE, is->left);

	if (!size || is->out->size - is->piece < PIECE_MEANS)
		return false;
	is->state->avail_in = (uint32_t)size;
	is->left -= size;
	is->piece = is->out->size;
	return true;
}

/* isal_inflate reads heads, too, but forgets what it knows of one at a piece's end. */
static bool take_head(struct taking *is)
{
	struct isal_gzip_header head;
	int result;

	isal_gzip_header_init(&head);
	do
		result = isal_read_gzip_header(is->state, &head);
	while (result == ISAL_END_INPUT && take_in(is));
	return result == ISAL_DECOMP_OK;
}

/* One member; it ends where state->next_in is then. */
static enum unsqueezed take_member(struct taking *is)
{
	struct inflate_state *state = is->state;
	struct buffer *out = is->out;

	if (state->avail_in + is->left <= FLAGS || state->next_in[FLAGS] & FLAGS_RESERVED)
		return UNSQUEEZED_DAMAGED;
	isal_inflate_reset(state);
	state->crc_flag = ISAL_GZIP;
	if (!take_head(is))
		return UNSQUEEZED_DAMAGED;
	while (state->block_state != ISAL_BLOCK_FINISH) {
		/* one more than may be, so that it is seen */
		size_t room = MIN(PIECE, is->most - (out->size - is->begin) + 1), before = out->size;

		state->next_out = buffer_reserve(out, room);
		state->avail_out = (uint32_t)room;
		if (isal_inflate(state) != ISAL_DECOMP_OK)
			return UNSQUEEZED_DAMAGED;
		out->size += room - state->avail_out;
		if (out->size - is->begin > is->most)
			return UNSQUEEZED_LARGE;
		if (out->size == before && !state->avail_in && state->block_state != ISAL_BLOCK_FINISH &&
			!take_in(is))
			return UNSQUEEZED_DAMAGED; /* its end is missing */
	}
	return UNSQUEEZED;
}

enum unsqueezed unsqueeze_gzip(
	struct unsqueeze *unsqueeze, const uint8_t *data, size_t size, size_t most, struct buffer *out)
{
	struct inflate_state *state = &unsqueeze->state;
	const size_t first = MIN(size, PIECE);
	struct taking is = {state, size - first, out, out->size, most, out->size};
	enum unsqueezed result;

	isal_inflate_init(state);
	state->next_in = (uint8_t *)(uintptr_t)data; /* which it only reads */
	state->avail_in = (uint32_t)first;
	do
		result = take_member(&is);
	while (result == UNSQUEEZED && state->avail_in + is.left);
	if (result != UNSQUEEZED)
		out->size = is.begin;
	return result;
}
