/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in as few bytes as they need: seven bits in each, the lowest first, the highest bit says that more
 * follow. */
#ifndef CORE_VARINT_H
#define CORE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#define VARINT_MAX 10

static inline uint8_t *varint_put(uint8_t *to, uint64_t number)
{
	while (number >= 0x80) {
		*to++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*to++ = (uint8_t)number;
	return to;
}

static __attribute__((noinline, unused)) const uint8_t *varint_get_long(
	const uint8_t *at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		uint8_t byte = *at++;

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return at;
	}
	return NULL;
}

/* Where it ends; NULL if it does not before @end, or is too large. */
static inline const uint8_t *varint_get(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
	if (at < end && *at < 0x80) { /* as most are */
		*number = *at;
		return at + 1;
	}
	return varint_get_long(at, end, number);
}

/* Numbers with a sign, so that small ones stay short. */
static inline uint64_t varint_fold(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static inline int64_t varint_unfold(uint64_t number)
{
	return (int64_t)(number >> 1 ^ -(number & 1));
}

#endif
