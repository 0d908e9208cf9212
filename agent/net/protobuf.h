/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protocol Buffers' wire format, by hand: putting it into memory that is there, and reading what may be
 * damaged. As documented at protobuf.dev, "Encoding".
 */
#ifndef NET_PROTOBUF_H
#define NET_PROTOBUF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_I64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_I32 = 5 };

/* The most bytes of a field's number and type, and of a varint. */
#define PROTOBUF_FIELD_MAX 5
#define PROTOBUF_VARINT_MAX 10

/* Putting: each returns where it ends. */

static inline uint8_t *protobuf_put_varint(uint8_t *to, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*to++ = (uint8_t)(number | 0x80);
	*to++ = (uint8_t)number;
	return to;
}

static inline size_t protobuf_varint_size(uint64_t number)
{
	size_t size = 1;

	while (number >>= 7)
		size++;
	return size;
}

/* With a literal @field, the compiler leaves a byte or two. */
static inline uint8_t *protobuf_put_field(uint8_t *to, uint32_t field, enum protobuf_type type)
{
	return protobuf_put_varint(to, field << 3 | type);
}

static inline uint8_t *protobuf_put_i64(uint8_t *to, uint32_t field, uint64_t number)
{
	to = protobuf_put_field(to, field, PROTOBUF_I64);
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(number >> 8 * i);
	return to + 8;
}

static inline uint8_t *protobuf_put_i32(uint8_t *to, uint32_t field, uint32_t number)
{
	to = protobuf_put_field(to, field, PROTOBUF_I32);
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(number >> 8 * i);
	return to + 4;
}

/* The head of a message, a text or bytes; @size bytes are to follow. */
static inline uint8_t *protobuf_put_head(uint8_t *to, uint32_t field, size_t size)
{
	return protobuf_put_varint(protobuf_put_field(to, field, PROTOBUF_BYTES), size);
}

static inline uint8_t *protobuf_put_bytes(uint8_t *to, uint32_t field, const void *bytes, size_t size)
{
	to = protobuf_put_head(to, field, size);
	if (size)
		memcpy(to, bytes, size);
	return to + size;
}

/* Bytes that a head and what follows take, of a field below 16. */
static inline size_t protobuf_bytes_size(size_t size)
{
	return 1 + protobuf_varint_size(size) + size;
}

/* Reading: never beyond the end. After a failure everything is empty. */

struct protobuf_reader {
	const uint8_t *at, *end;
	bool failed;
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_type type;
	uint64_t value;       /* of a varint and of numbers of fixed size */
	const uint8_t *bytes; /* borrowed */
	size_t size;
};

static inline struct protobuf_reader protobuf_read(const void *bytes, size_t size)
{
	const uint8_t *at = size ? bytes : (const void *)"";

	return (struct protobuf_reader){at, at + size, false};
}

static inline uint64_t protobuf_get_i64(const uint8_t *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return le64toh(number);
}

bool protobuf_next_any(struct protobuf_reader *reader, struct protobuf_field *field);

/* Reads the next field. False at the end, or if it has failed. Most have a number, and a size, of one byte.
 */
static inline bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
	const uint8_t *at = reader->at;
	const size_t left = (size_t)(reader->end - at);

	if (left >= 2 && (uint8_t)(at[0] - 8) < 0x80 - 8 && !reader->failed) {
		const uint32_t number = at[0] >> 3, type = at[0] & 7;

		if (type == PROTOBUF_BYTES && at[1] < 0x80 && at[1] <= left - 2) {
			*field = (struct protobuf_field){number, PROTOBUF_BYTES, 0, at + 2, at[1]};
			reader->at = at + 2 + at[1];
			return true;
		}
		if (type == PROTOBUF_VARINT && at[1] < 0x80) {
			*field = (struct protobuf_field){number, PROTOBUF_VARINT, at[1], NULL, 0};
			reader->at = at + 2;
			return true;
		}
		if (type == PROTOBUF_I64 && left >= 9) {
			*field = (struct protobuf_field){
				number, PROTOBUF_I64, protobuf_get_i64(at + 1), NULL, 0};
			reader->at = at + 9;
			return true;
		}
	}
	return protobuf_next_any(reader, field);
}

#endif
