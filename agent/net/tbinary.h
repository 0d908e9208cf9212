/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thrift's TBinary (https://github.com/apache/thrift, doc/specs/thrift-binary-protocol.md): written, read,
 * and checked before anything acts on it. Numbers are big endian.
 */
#ifndef NET_TBINARY_H
#define NET_TBINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum tbinary_type {
	TBINARY_STOP = 0, /* the end of a struct */
	TBINARY_BOOL = 2,
	TBINARY_BYTE = 3,
	TBINARY_DOUBLE = 4,
	TBINARY_I16 = 6,
	TBINARY_I32 = 8,
	TBINARY_I64 = 10,
	TBINARY_STRING = 11,
	TBINARY_STRUCT = 12,
	TBINARY_MAP = 13,
	TBINARY_SET = 14,
	TBINARY_LIST = 15
};

enum tbinary_message_type { TBINARY_CALL = 1, TBINARY_REPLY = 2, TBINARY_EXCEPTION = 3, TBINARY_ONEWAY = 4 };

/* A strict message starts with this and its type. */
#define TBINARY_VERSION_1 0x80010000u
/* Bytes before the elements of a list. */
#define TBINARY_LIST_HEAD 5
/* Bytes of the length before a frame, in Thrift's framed transport. */
#define TBINARY_FRAME_HEAD 4

/* Writing. Each put writes at @to, where there has to be room, and returns where it ends. */

static inline uint8_t *tbinary_put_i16(uint8_t *to, uint16_t value)
{
	value = __builtin_bswap16(value);
	memcpy(to, &value, 2);
	return to + 2;
}

static inline uint8_t *tbinary_put_i32(uint8_t *to, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(to, &value, 4);
	return to + 4;
}

static inline uint8_t *tbinary_put_i64(uint8_t *to, uint64_t value)
{
	value = __builtin_bswap64(value);
	memcpy(to, &value, 8);
	return to + 8;
}

/* What stands before a field's value: three bytes, and for speed a fourth, over which the value comes. */
static inline uint8_t *tbinary_put_field(uint8_t *to, enum tbinary_type type, uint16_t id)
{
	return tbinary_put_i32(to, (uint32_t)type << 24 | (uint32_t)id << 8) - 1;
}

/* What stands before a string's bytes in a field: seven bytes, and for speed an eighth, over which they come.
 */
static inline uint8_t *tbinary_put_string_head(uint8_t *to, uint16_t id, uint32_t size)
{
	return tbinary_put_i64(
		       to, (uint64_t)TBINARY_STRING << 56 | (uint64_t)id << 40 | (uint64_t)size << 8) -
	       1;
}

/* Bytes as they are, without a length. */
static inline uint8_t *tbinary_put_bytes(uint8_t *to, const void *data, size_t size)
{
	memcpy(to, data, size);
	return to + size;
}

static inline uint8_t *tbinary_put_string(uint8_t *to, const void *data, size_t size)
{
	return tbinary_put_bytes(tbinary_put_i32(to, (uint32_t)size), data, size);
}

/* TBINARY_LIST_HEAD bytes; the elements come behind them. */
static inline uint8_t *tbinary_put_list(uint8_t *to, enum tbinary_type type, uint32_t count)
{
	*to = (uint8_t)type;
	return tbinary_put_i32(to + 1, count);
}

static inline uint8_t *tbinary_put_stop(uint8_t *to)
{
	*to = TBINARY_STOP;
	return to + 1;
}

/*
 * Reading. A reader never goes beyond the end of its bytes. The first thing that is wrong stays in @error,
 * with the byte where it was found; from there on every get returns zeros.
 */
struct tbinary_reader {
	const uint8_t *data; /* borrowed */
	size_t size, at;
	char error[160]; /* "" while all is well */
};

/* The number whose bytes stand there. */
static inline uint32_t tbinary_i32_at(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, 4);
	return __builtin_bswap32(value);
}

static inline struct tbinary_reader tbinary_read(const void *data, size_t size)
{
	return (struct tbinary_reader){.data = data, .size = size};
}

static inline bool tbinary_failed(const struct tbinary_reader *reader)
{
	return *reader->error;
}

/* Bytes that are left. */
static inline size_t tbinary_left(const struct tbinary_reader *reader)
{
	return reader->size - reader->at;
}

uint8_t tbinary_get_u8(struct tbinary_reader *reader);
uint32_t tbinary_get_i32(struct tbinary_reader *reader);
uint64_t tbinary_get_i64(struct tbinary_reader *reader);

/* Returns a string of *@size bytes, without a NUL; NULL, and 0, if it is not there. */
const uint8_t *tbinary_get_string(struct tbinary_reader *reader, uint32_t *size);

/* Reads what stands before a field's value. Returns false at the end of the struct, or if it has failed. */
bool tbinary_get_field(struct tbinary_reader *reader, uint8_t *type, int16_t *id);

/* Goes to the end of a value, which has to be sound; structs and lists in each other have a limit. */
void tbinary_skip(struct tbinary_reader *reader, uint8_t type);

/* What stands before a message's struct. */
struct tbinary_message {
	const uint8_t *method; /* borrowed, without a NUL */
	uint32_t method_size;
	uint8_t type; /* an enum tbinary_message_type, or anything else */
	int32_t seqid;
};

/* Reads a message's header, strict or of the old form without a version. Returns false if it has failed. */
bool tbinary_get_message(struct tbinary_reader *reader, struct tbinary_message *message);

/*
 * Checking a struct as a whole, so that who then reads it needs no check: each of its fields comes once, and
 * a list is not longer than it may be, and has the structs that it should have. A field of another id or type
 * is one to be skipped, which has to be sound all the same.
 */
struct tbinary_field {
	int16_t id;
	uint8_t type;
	const struct tbinary_struct *of; /* of a struct, and of a list of structs */
	uint32_t max;                    /* elements of a list */
};

struct tbinary_struct {
	const char *name;
	const struct tbinary_field *fields; /* 64 at most */
	size_t count;
};

/* Goes to the end of a struct. Returns false if it has failed. */
bool tbinary_check(struct tbinary_reader *reader, const struct tbinary_struct *of);

#endif
