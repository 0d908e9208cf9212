/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/unsqueeze.h"

#include <stdlib.h>

#include <glib.h>
#include <isa-l/igzip_lib.h>

#include "base/memory.h"

/* Unpacked at a time, so that memory is taken as it is needed. */
#define PIECE ((size_t)64 * 1024)
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

/* One member; it ends where state->next_in is then. @begin is where the body's bytes in @out begin. */
static enum unsqueezed take_member(struct inflate_state *state, size_t begin, size_t most, struct buffer *out)
{
	if (state->avail_in <= FLAGS || state->next_in[FLAGS] & FLAGS_RESERVED)
		return UNSQUEEZED_DAMAGED;
	isal_inflate_reset(state);
	state->crc_flag = ISAL_GZIP;
	while (state->block_state != ISAL_BLOCK_FINISH) {
		/* one more than may be, so that it is seen */
		size_t room = MIN(PIECE, most - (out->size - begin) + 1), before = out->size;

		state->next_out = buffer_reserve(out, room);
		state->avail_out = (uint32_t)room;
		if (isal_inflate(state) != ISAL_DECOMP_OK)
			return UNSQUEEZED_DAMAGED;
		out->size += room - state->avail_out;
		if (out->size - begin > most)
			return UNSQUEEZED_LARGE;
		if (out->size == before && !state->avail_in && state->block_state != ISAL_BLOCK_FINISH)
			return UNSQUEEZED_DAMAGED; /* its end is missing */
	}
	return UNSQUEEZED;
}

enum unsqueezed unsqueeze_gzip(
	struct unsqueeze *unsqueeze, const uint8_t *data, size_t size, size_t most, struct buffer *out)
{
	struct inflate_state *state = &unsqueeze->state;
	size_t begin = out->size;
	enum unsqueezed result;

	if (size > UINT32_MAX)
		return UNSQUEEZED_LARGE;
	isal_inflate_init(state);
	state->next_in = (uint8_t *)(uintptr_t)data; /* which it only reads */
	state->avail_in = (uint32_t)size;
	do
		result = take_member(state, begin, most, out);
	while (result == UNSQUEEZED && state->avail_in);
	if (result != UNSQUEEZED)
		out->size = begin;
	return result;
}
