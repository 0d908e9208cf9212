/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids as the hex digits that B3 and W3C headers have. Not for programs: names may change. */
#ifndef BLKIN_HEX_H_
#define BLKIN_HEX_H_

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <blkin/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a hex digit, in upper case too if @upper; -1: it is none. */
static inline int blkin_hex_digit_(char c, int upper)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return upper && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads @digits hex digits; returns 0 or -EINVAL. */
static inline int blkin_get_hex_(uint64_t *value, const char *text, int digits, int upper)
{
	uint64_t number = 0;
	int i;

	for (i = 0; i < digits; i++) {
		int digit = blkin_hex_digit_(text[i], upper);

		if (digit < 0)
			return -EINVAL;
		number = number << 4 | (uint64_t)digit;
	}
	*value = number;
	return 0;
}

/* Reads an id of 16 hex digits, which is not 0. */
static inline int blkin_get_id_(uint64_t *id, const char *text, int upper)
{
	return blkin_get_hex_(id, text, 16, upper) || !*id ? -EINVAL : 0;
}

/*
 * Reads a trace id of 16 or 32 hex digits. Of 32, the lower 16 must not be 0 either, because 64-bit peers use
 * only this half.
 */
static inline int blkin_get_trace_id_(
	struct blkin_context_parts_ *parts, const char *text, size_t size, int upper)
{
	if (size == 32 && blkin_get_hex_(&parts->high, text, 16, upper))
		return -EINVAL;
	if (size != 16 && size != 32)
		return -EINVAL;
	return blkin_get_id_(&parts->trace, text + size - 16, upper);
}

/* The hex digits of 32 bits, the first one in the highest byte. */
static inline uint64_t blkin_hex_of_(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t digits = value, letters;

	digits = (digits << 16 | digits) & 0x0000ffff0000ffffu;
	digits = (digits << 8 | digits) & 0x00ff00ff00ff00ffu;
	digits = (digits << 4 | digits) & 0x0f0f0f0f0f0f0f0fu;
	letters = (digits + ones * 6) >> 4 & ones; /* of those from 10 on */
	return digits + ones * '0' + letters * ('a' - '0' - 10);
}

/* Writes 16 hex digits, eight at once; returns where they end. */
static inline char *blkin_put_hex_(char *to, uint64_t value)
{
	blkin_put_be64_((uint8_t *)to, blkin_hex_of_((uint32_t)(value >> 32)));
	blkin_put_be64_((uint8_t *)to + 8, blkin_hex_of_((uint32_t)value));
	return to + 16;
}

#ifdef __cplusplus
}
#endif

#endif
