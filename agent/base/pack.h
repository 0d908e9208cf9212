/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and text as bytes, big-endian, for data that is kept on disk between two runs.
 *
 * The data may be damaged when it is read, so an unpacker never reads beyond its end: it then returns zeros,
 * and reports at the end that it failed.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

static inline void pack_number(struct buffer *out, uint64_t number, unsigned bytes)
{
	uint8_t *to = buffer_reserve(out, bytes);

	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
	out->size += bytes;
}

static inline void pack_u8(struct buffer *out, uint8_t number)
{
	pack_number(out, number, 1);
}

static inline void pack_u32(struct buffer *out, uint32_t number)
{
	pack_number(out, number, 4);
}

static inline void pack_u64(struct buffer *out, uint64_t number)
{
	pack_number(out, number, 8);
}

/* Bytes, preceded by their size. */
static inline void pack_bytes(struct buffer *out, const void *data, size_t size)
{
	pack_u32(out, (uint32_t)size);
	buffer_put(out, data, size);
}

static inline void pack_text(struct buffer *out, const char *text)
{
	pack_bytes(out, text, strlen(text));
}

struct unpacker {
	const uint8_t *at, *end;
	bool failed;
};

static inline struct unpacker unpacker_of(const void *data, size_t size)
{
	const uint8_t *at = size ? data : (const void *)"";

	return (struct unpacker){at, at + size, false};
}

/* Borrows the next @size bytes; NULL if there are fewer. */
static inline const uint8_t *unpack_run(struct unpacker *from, size_t size)
{
	const uint8_t *at = from->at;

	if (from->failed || (size_t)(from->end - at) < size) {
		from->failed = true;
		return NULL;
	}
	from->at += size;
	return at;
}

static inline uint64_t unpack_number(struct unpacker *from, unsigned bytes)
{
	const uint8_t *at = unpack_run(from, bytes);
	uint64_t number = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

static inline uint8_t unpack_u8(struct unpacker *from)
{
	return (uint8_t)unpack_number(from, 1);
}

static inline uint32_t unpack_u32(struct unpacker *from)
{
	return (uint32_t)unpack_number(from, 4);
}

static inline uint64_t unpack_u64(struct unpacker *from)
{
	return unpack_number(from, 8);
}

/* What pack_bytes wrote; empty if it failed. */
static inline struct unpacker unpack_bytes(struct unpacker *from)
{
	uint32_t size = unpack_u32(from);
	const uint8_t *at = unpack_run(from, size);

	return (struct unpacker){at, at ? at + size : at, at == NULL};
}

/* Copies what pack_text wrote to @text; fails if it does not fit, or contains a NUL. */
static inline void unpack_text(struct unpacker *from, char *text, size_t room)
{
	struct unpacker bytes = unpack_bytes(from);
	size_t size = (size_t)(bytes.end - bytes.at);

	text[0] = '\0';
	if (bytes.failed || size >= room || memchr(bytes.at, '\0', size)) {
		from->failed = true;
		return;
	}
	memcpy(text, bytes.at, size);
	text[size] = '\0';
}

#endif
