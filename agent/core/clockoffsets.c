/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clockoffsets.h"

#include <string.h>

static bool are_near(int64_t one, int64_t other)
{
	int64_t difference;

	return !__builtin_sub_overflow(one, other, &difference) && difference < CLOCK_STEP_NS &&
	       difference > -CLOCK_STEP_NS;
}

static void add(struct clock_offsets *offsets, const uint8_t *uuid, int64_t offset)
{
	struct clock_offset *last;

	if (offsets->count == CLOCK_OFFSETS) {
		memmove(offsets->known, offsets->known + 1, (CLOCK_OFFSETS - 1) * sizeof(*offsets->known));
		offsets->count--;
	}
	last = &offsets->known[offsets->count++];
	memcpy(last->clock, uuid, CLOCK_UUID);
	last->offset = offset;
}

int64_t clock_offsets_take(struct clock_offsets *offsets, const uint8_t *uuid, int64_t offset)
{
	for (unsigned i = 0; i < offsets->count; i++) {
		const struct clock_offset *known = &offsets->known[i];

		if (!memcmp(known->clock, uuid, CLOCK_UUID) &&
			(offsets->one_each || are_near(known->offset, offset)))
			return known->offset;
	}
	add(offsets, uuid, offset);
	return offset;
}

void clock_offsets_save(const struct clock_offsets *offsets, struct buffer *out)
{
	pack_u32(out, offsets->count);
	for (unsigned i = 0; i < offsets->count; i++) {
		buffer_put(out, offsets->known[i].clock, CLOCK_UUID);
		pack_u64(out, (uint64_t)offsets->known[i].offset);
	}
}

bool clock_offsets_load(struct clock_offsets *offsets, struct unpacker *from)
{
	uint32_t count = unpack_u32(from);

	memset(offsets, 0, sizeof(*offsets));
	if (count > CLOCK_OFFSETS)
		from->failed = true;
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		const uint8_t *uuid = unpack_run(from, CLOCK_UUID);
		int64_t offset = (int64_t)unpack_u64(from);

		if (!from->failed)
			add(offsets, uuid, offset);
	}
	if (from->failed)
		memset(offsets, 0, sizeof(*offsets));
	return !from->failed;
}
