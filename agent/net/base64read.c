/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/base64read.h"

#include <pthread.h>
#include <string.h>

#define BLANK 64
#define PAD 65
#define NONE 66

static uint8_t meaning[256];

static void fill(void)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	memset(meaning, NONE, sizeof(meaning));
	for (uint8_t i = 0; i < 64; i++)
		meaning[(uint8_t)alphabet[i]] = i;
	meaning['\r'] = meaning['\n'] = meaning[' '] = meaning['\t'] = BLANK;
	meaning['='] = PAD;
}

/* Whole groups of four, up to the first character that is none of the alphabet; returns how many it took. */
static size_t read_groups(uint8_t **to, const uint8_t *from, size_t size)
{
	uint8_t *out = *to;
	size_t at = 0;

	for (; size - at >= 4; at += 4) {
		uint8_t a = meaning[from[at]], b = meaning[from[at + 1]], c = meaning[from[at + 2]],
			d = meaning[from[at + 3]];

		if ((a | b | c | d) >= BLANK)
			break;
		out[0] = (uint8_t)(a << 2 | b >> 4);
		out[1] = (uint8_t)(b << 4 | c >> 2);
		out[2] = (uint8_t)(c << 6 | d);
		out += 3;
	}
	*to = out;
	return at;
}

/* The rest, one by one. */
static bool read_rest(uint8_t **to, const uint8_t *from, size_t size)
{
	uint32_t bits = 0, count = 0, pads = 0;
	uint8_t *out = *to;

	for (size_t at = 0; at < size; at++) {
		uint8_t is = meaning[from[at]];

		if (is == NONE || (is < BLANK && pads))
			return false;
		pads += is == PAD;
		if (is >= BLANK)
			continue;
		bits = bits << 6 | is;
		if (++count % 4 != 0)
			continue;
		*out++ = (uint8_t)(bits >> 16);
		*out++ = (uint8_t)(bits >> 8);
		*out++ = (uint8_t)bits;
	}
	if (count % 4 == 1 || (pads && (count + pads) % 4 != 0))
		return false;
	if (count % 4 >= 2)
		*out++ = (uint8_t)(count % 4 == 3 ? bits >> 10 : bits >> 4);
	if (count % 4 == 3)
		*out++ = (uint8_t)(bits >> 2);
	*to = out;
	return true;
}

bool base64_read(struct buffer *out, const char *from, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint8_t *start = buffer_reserve(out, size / 4 * 3 + 3), *to = start;
	size_t done;

	pthread_once(&once, fill);
	done = read_groups(&to, (const uint8_t *)from, size);
	if (!read_rest(&to, (const uint8_t *)from + done, size - done))
		return false;
	out->size += (size_t)(to - start);
	return true;
}
