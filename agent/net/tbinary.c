/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/tbinary.h"

#include <stdarg.h>
#include <stdio.h>

/* Structs, lists and maps in each other: a span needs four. */
#define DEPTH_MAX 16
#define VERSION_MASK 0xffff0000u

static bool walk_value(
	struct tbinary_reader *reader, uint8_t type, const struct tbinary_field *field, int depth);

static bool fail(struct tbinary_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct tbinary_reader *reader, const char *format, ...)
{
	size_t size = sizeof(reader->error), used;
	va_list args;

	if (tbinary_failed(reader))
		return false;
	va_start(args, format);
	vsnprintf(reader->error, size, format, args);
	va_end(args);
	used = strlen(reader->error);
	snprintf(reader->error + used, size - used, " at byte %zu", reader->at);
	return false;
}

static bool need(struct tbinary_reader *reader, size_t bytes)
{
	if (tbinary_failed(reader))
		return false;
	if (tbinary_left(reader) < bytes)
		return fail(reader, "ends in the middle of a value");
	return true;
}

/* A number of @bytes bytes, 4 at most; 0 if they are not there. */
static uint32_t get_number(struct tbinary_reader *reader, unsigned int bytes)
{
	uint32_t value = 0;

	if (!need(reader, bytes))
		return 0;
	while (bytes--)
		value = value << 8 | reader->data[reader->at++];
	return value;
}

uint8_t tbinary_get_u8(struct tbinary_reader *reader)
{
	return (uint8_t)get_number(reader, 1);
}

uint32_t tbinary_get_i32(struct tbinary_reader *reader)
{
	return get_number(reader, 4);
}

uint64_t tbinary_get_i64(struct tbinary_reader *reader)
{
	uint64_t high = get_number(reader, 4);

	return high << 32 | get_number(reader, 4);
}

/* The bytes of a value of a type, at least; 0: no such type. */
static size_t size_of_type(uint8_t type)
{
	static const uint8_t sizes[] = {
		[TBINARY_BOOL] = 1,
		[TBINARY_BYTE] = 1,
		[TBINARY_STRUCT] = 1,
		[TBINARY_I16] = 2,
		[TBINARY_I32] = 4,
		[TBINARY_STRING] = 4,
		[TBINARY_LIST] = 5,
		[TBINARY_SET] = 5,
		[TBINARY_MAP] = 6,
		[TBINARY_I64] = 8,
		[TBINARY_DOUBLE] = 8,
	};

	return type < sizeof(sizes) ? sizes[type] : 0;
}

/* Takes a count of things of @each bytes at least, all of which must have room in what is left. */
static bool get_count(struct tbinary_reader *reader, size_t each, uint32_t *count)
{
	if (!need(reader, 4))
		return false;
	*count = tbinary_get_i32(reader);
	if (*count <= INT32_MAX && (uint64_t)*count * each <= tbinary_left(reader))
		return true;
	reader->at -= 4;
	return fail(reader, "a length of %d does not fit what follows", (int32_t)*count);
}

const uint8_t *tbinary_get_string(struct tbinary_reader *reader, uint32_t *size)
{
	const uint8_t *string;

	if (!get_count(reader, 1, size)) {
		*size = 0;
		return NULL;
	}
	string = reader->data + reader->at;
	reader->at += *size;
	return string;
}

bool tbinary_get_field(struct tbinary_reader *reader, uint8_t *type, int16_t *id)
{
	*type = tbinary_get_u8(reader);
	if (*type == TBINARY_STOP)
		return false;
	if (!size_of_type(*type)) {
		reader->at--;
		return fail(reader, "the unknown type %u", *type);
	}
	*id = (int16_t)get_number(reader, 2);
	return !tbinary_failed(reader);
}

/* A list or set. For one that is read, @field says what its elements have to be. */
static bool walk_list(struct tbinary_reader *reader, const struct tbinary_field *field, int depth)
{
	const struct tbinary_field element = {.type = TBINARY_STRUCT, .of = field ? field->of : NULL};
	uint32_t count;
	uint8_t type;

	if (!need(reader, TBINARY_LIST_HEAD))
		return false;
	type = tbinary_get_u8(reader);
	if (!get_count(reader, size_of_type(type), &count))
		return false;
	if (count && !size_of_type(type))
		return fail(reader, "a list of the unknown type %u", type);
	if (count && field && type != TBINARY_STRUCT)
		return fail(reader, "a list of type %u where structs belong", type);
	if (field && count > field->max)
		return fail(reader, "a list of %u elements, more than %u", count, field->max);
	while (count--)
		if (!walk_value(reader, type, field ? &element : NULL, depth))
			return false;
	return true;
}

static bool walk_map(struct tbinary_reader *reader, int depth)
{
	uint32_t count;
	uint8_t key, value;

	if (!need(reader, 6))
		return false;
	key = tbinary_get_u8(reader);
	value = tbinary_get_u8(reader);
	if (!get_count(reader, size_of_type(key) + size_of_type(value), &count))
		return false;
	if (count && (!size_of_type(key) || !size_of_type(value)))
		return fail(reader, "a map of the unknown types %u and %u", key, value);
	while (count--)
		if (!walk_value(reader, key, NULL, depth) || !walk_value(reader, value, NULL, depth))
			return false;
	return true;
}

static const struct tbinary_field *find_field(const struct tbinary_struct *of, int16_t id, uint8_t type)
{
	for (size_t i = 0; of && i < of->count; i++)
		if (of->fields[i].id == id && of->fields[i].type == type)
			return &of->fields[i];
	return NULL;
}

static bool walk_struct(struct tbinary_reader *reader, const struct tbinary_struct *of, int depth)
{
	const struct tbinary_field *field;
	uint64_t seen = 0, bit;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(reader, &type, &id)) {
		field = find_field(of, id, type);
		bit = field ? UINT64_C(1) << (field - of->fields) : 0;
		if (seen & bit)
			return fail(reader, "a second field %d in %s", id, of->name);
		seen |= bit;
		if (!walk_value(reader, type, field, depth))
			return false;
	}
	return !tbinary_failed(reader);
}

/* @field: what the value is read as; NULL if it is skipped. */
static bool walk_value(
	struct tbinary_reader *reader, uint8_t type, const struct tbinary_field *field, int depth)
{
	size_t size = size_of_type(type);
	uint32_t length;

	if (depth >= DEPTH_MAX)
		return fail(reader, "nested more than %d deep", DEPTH_MAX);
	switch (type) {
	case TBINARY_STRUCT:
		return walk_struct(reader, field ? field->of : NULL, depth + 1);
	case TBINARY_LIST:
	case TBINARY_SET:
		return walk_list(reader, field, depth + 1);
	case TBINARY_MAP:
		return walk_map(reader, depth + 1);
	case TBINARY_STRING:
		return tbinary_get_string(reader, &length) != NULL;
	}
	if (!size)
		return fail(reader, "the unknown type %u", type);
	if (!need(reader, size))
		return false;
	reader->at += size;
	return true;
}

void tbinary_skip(struct tbinary_reader *reader, uint8_t type)
{
	walk_value(reader, type, NULL, 0);
}

bool tbinary_check(struct tbinary_reader *reader, const struct tbinary_struct *of)
{
	return walk_struct(reader, of, 0);
}

bool tbinary_get_message(struct tbinary_reader *reader, struct tbinary_message *message)
{
	size_t start = reader->at;
	uint32_t first = tbinary_get_i32(reader);
	bool strict = first & 0x80000000u;

	if (strict && (first & VERSION_MASK) != TBINARY_VERSION_1)
		return fail(reader, "a message of the unknown version 0x%08x", first);
	if (!strict && !tbinary_failed(reader))
		reader->at = start;
	message->method = tbinary_get_string(reader, &message->method_size);
	message->type = strict ? (uint8_t)first : tbinary_get_u8(reader);
	message->seqid = (int32_t)tbinary_get_i32(reader);
	return !tbinary_failed(reader);
}
