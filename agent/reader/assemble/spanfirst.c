/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanfirst.h"

#include <stddef.h>

#include "base/hexdigits.h"
#include "reader/assemble/spannumber.h"

/* A number and the space behind it; four of these; and the least that comes then: "00 \n". */
#define ID_SIZE (HEX_DIGITS + 1)
#define IDS_SIZE (4 * ID_SIZE)
#define LEAST_SIZE (IDS_SIZE + 4)

/* Two of them. */
static inline bool read_two(const char *at, uint64_t *one, uint64_t *other)
{
	return hex_read_two(at, one, at + ID_SIZE, other) && at[HEX_DIGITS] == ' ' &&
	       at[ID_SIZE + HEX_DIGITS] == ' ';
}

/* Two digits, as most are; or more. */
static inline const char *read_size(const char *at, const char *end, uint64_t *size)
{
	unsigned tens = (unsigned char)at[0] - (unsigned)'0', ones = (unsigned char)at[1] - (unsigned)'0';

	if (tens > 9 || ones > 9 || at[2] != ' ')
		return span_number_read(at, end, size);
	*size = tens * 10 + ones;
	return at + 2;
}

bool span_first_read(struct event *event)
{
	const char *at = event->value.data, *end = at + event->value.size;
	uint64_t size;

	if (event->value.size < LEAST_SIZE || !read_two(at, &event->trace_id, &event->span_id) ||
		!read_two(at + 2 * ID_SIZE, &event->parent_id, &event->start))
		return false;
	at = read_size(at + IDS_SIZE, end, &size);
	if (!at || at == end || *at != ' ' || size >= (uint64_t)(end - ++at) || at[size] != '\n')
		return false;
	event->name = (struct text){at, (uint32_t)size};
	at += size + 1;
	event->value = (struct text){at, (uint32_t)(end - at)};
	return true;
}
