/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem */

#include "net/httpchunks.h"

#include <string.h>

#include <glib.h>

#define LINE_END "\r\n"
/* More is no size, with what may stand behind it, */
#define SIZE_LINE_MAX 256
#define DIGITS_MAX 8
/* and no lines behind the last chunk. */
#define TRAILER_MAX (16 * 1024)

/* Behind the digits there may be an extension. */
static enum httpchunks read_size(const uint8_t *data, size_t size, uint64_t *length, size_t *used)
{
	const uint8_t *end = memmem(data, MIN(size, SIZE_LINE_MAX), LINE_END, 2), *at = data;

	if (!end)
		return size < SIZE_LINE_MAX ? HTTPCHUNKS_MORE : HTTPCHUNKS_BAD;
	*length = 0;
	for (; at < end && at < data + DIGITS_MAX && g_ascii_isxdigit(*at); at++)
		*length = *length * 16 + (uint64_t)g_ascii_xdigit_value((char)*at);
	*used = (size_t)(end - data) + 2;
	return at > data && (at == end || memchr("; \t", *at, 3)) ? HTTPCHUNKS_DATA : HTTPCHUNKS_BAD;
}

/* Headers, perhaps, and an empty line; @chunk has what is before them. */
static enum httpchunks read_trailer(const uint8_t *data, size_t size, struct httpchunk *chunk)
{
	size_t rest = size - chunk->used;
	const uint8_t *end;

	data += chunk->used;
	if (rest >= 2 && !memcmp(data, LINE_END, 2)) {
		chunk->used += 2;
		return HTTPCHUNKS_END;
	}
	end = memmem(data, MIN(rest, TRAILER_MAX), LINE_END LINE_END, 4);
	if (!end)
		return rest < TRAILER_MAX ? HTTPCHUNKS_MORE : HTTPCHUNKS_BAD;
	chunk->used += (size_t)(end - data) + 4;
	return HTTPCHUNKS_END;
}

enum httpchunks httpchunks_read(const uint8_t *data, size_t size, struct httpchunk *chunk)
{
	uint64_t length;
	enum httpchunks found = read_size(data, size, &length, &chunk->used);

	if (found != HTTPCHUNKS_DATA)
		return found;
	if (!length)
		return read_trailer(data, size, chunk);
	chunk->data = data + chunk->used;
	chunk->size = length;
	if (size - chunk->used < length + 2)
		return HTTPCHUNKS_MORE;
	chunk->used += length + 2;
	return memcmp(chunk->data + length, LINE_END, 2) == 0 ? HTTPCHUNKS_DATA : HTTPCHUNKS_BAD;
}
