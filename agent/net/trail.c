/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/trail.h"

#include <stdbool.h>
#include <string.h>

#include "net/tbinary.h"

#define FIELD_HEAD 3
#define HOPS_SIZE (FIELD_HEAD + 1)
#define STAMP_SIZE (FIELD_HEAD + 8)
#define HAS_STAMP 0x80

_Static_assert(HOPS_SIZE + STAMP_SIZE == TRAIL_SIZE, "both fields");

uint8_t *trail_put(uint8_t *to, const struct trail *trail)
{
	if (!trail->hops)
		return to;
	to = tbinary_put_field(to, TBINARY_BYTE, TRAIL_HOPS_FIELD);
	*to++ = trail->hops;
	if (trail->stamp)
		to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, TRAIL_STAMP_FIELD), trail->stamp);
	return to;
}

static bool begins_with(const uint8_t *at, enum tbinary_type type, uint16_t id)
{
	return at[0] == (uint8_t)type && at[1] == id >> 8 && at[2] == (id & 0xff);
}

static uint64_t get_stamp(const uint8_t *from)
{
	uint64_t stamp;

	memcpy(&stamp, from, sizeof(stamp));
	return __builtin_bswap64(stamp);
}

size_t trail_read(const uint8_t *span, size_t size, struct trail *trail)
{
	*trail = (struct trail){0};
	if (size < HOPS_SIZE || !begins_with(span, TBINARY_BYTE, TRAIL_HOPS_FIELD))
		return 0;
	trail->hops = span[FIELD_HEAD] & TRAIL_HOPS_MAX;
	if (size < TRAIL_SIZE || !begins_with(span + HOPS_SIZE, TBINARY_I64, TRAIL_STAMP_FIELD))
		return HOPS_SIZE;
	trail->stamp = get_stamp(span + HOPS_SIZE + FIELD_HEAD);
	return TRAIL_SIZE;
}

uint8_t *trail_pack(uint8_t *to, const struct trail *trail)
{
	*to++ = trail->hops | (trail->stamp ? HAS_STAMP : 0);
	return trail->stamp ? tbinary_put_i64(to, trail->stamp) : to;
}

size_t trail_unpack(const uint8_t *from, size_t size, struct trail *trail)
{
	*trail = (struct trail){0};
	if (!size || (*from & HAS_STAMP && size < TRAIL_PACKED_SIZE))
		return 0;
	trail->hops = *from & TRAIL_HOPS_MAX;
	if (!(*from & HAS_STAMP))
		return 1;
	trail->stamp = get_stamp(from + 1);
	return TRAIL_PACKED_SIZE;
}
