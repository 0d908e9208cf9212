/* SPDX-License-Identifier: BSD-2-Clause */
#include "tbinary.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Structs, lists and maps in each other: a span needs four. The generated reader recurses just as deep. */
#define DEPTH_MAX 16

struct walk {
	const uint8_t *data;
	size_t size;
	size_t at;
	char *error;
	size_t error_size;
};

static bool walk_value(
	struct walk *walk, uint8_t type, const struct tbinary_field *field, unsigned int depth);

static bool fail(struct walk *walk, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct walk *walk, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(walk->error, walk->error_size, format, args);
	va_end(args);
	if (size >= 0 && (size_t)size < walk->error_size)
		snprintf(walk->error + size, walk->error_size - (size_t)size, " at byte %zu", walk->at);
	return false;
}

static bool need(struct walk *walk, size_t bytes)
{
	if (walk->size - walk->at < bytes)
		return fail(walk, "ends in the middle of a value");
	return true;
}

/* @bytes of them are there. */
static uint64_t take(struct walk *walk, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | walk->data[walk->at++];
	return value;
}

/* The bytes of a value of a type, at least; 0: no such type. */
static size_t size_of_type(uint8_t type)
{
	switch (type) {
	case TBINARY_BOOL:
	case TBINARY_BYTE:
	case TBINARY_STRUCT:
		return 1;
	case TBINARY_I16:
		return 2;
	case TBINARY_I32:
	case TBINARY_STRING:
		return 4;
	case TBINARY_LIST:
	case TBINARY_SET:
		return 5;
	case TBINARY_MAP:
		return 6;
	case TBINARY_I64:
	case TBINARY_DOUBLE:
		return 8;
	default:
		return 0;
	}
}

/* Takes a count of things of @each bytes at least, all of which must have room in what is left. */
static bool take_count(struct walk *walk, size_t each, uint32_t *count)
{
	if (!need(walk, 4))
		return false;
	*count = (uint32_t)take(walk, 4);
	if (*count > INT32_MAX || (uint64_t)*count * each > walk->size - walk->at) {
		walk->at -= 4;
		return fail(walk, "a length of %d does not fit what follows", (int32_t)*count);
	}
	return true;
}

/* A list or set. For one that the reader knows, @field says what its elements have to be. */
static bool walk_list(struct walk *walk, const struct tbinary_field *field, unsigned int depth)
{
	const struct tbinary_field element = {.type = TBINARY_STRUCT, .of = field ? field->of : NULL};
	uint32_t count;
	uint8_t type;

	if (!need(walk, 5))
		return false;
	type = (uint8_t)take(walk, 1);
	if (!take_count(walk, size_of_type(type), &count))
		return false;
	if (count && !size_of_type(type))
		return fail(walk, "a list of the unknown type %u", type);
	if (count && field && type != TBINARY_STRUCT)
		return fail(walk, "a list of type %u where structs belong", type);
	if (field && count > field->max)
		return fail(walk, "a list of %u elements, more than %u", count, field->max);
	while (count--)
		if (!walk_value(walk, type, field ? &element : NULL, depth))
			return false;
	return true;
}

static bool walk_map(struct walk *walk, unsigned int depth)
{
	uint32_t count;
	uint8_t key, value;

	if (!need(walk, 6))
		return false;
	key = (uint8_t)take(walk, 1);
	value = (uint8_t)take(walk, 1);
	if (!take_count(walk, size_of_type(key) + size_of_type(value), &count))
		return false;
	if (count && (!size_of_type(key) || !size_of_type(value)))
		return fail(walk, "a map of the unknown types %u and %u", key, value);
	while (count--)
		if (!walk_value(walk, key, NULL, depth) || !walk_value(walk, value, NULL, depth))
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

static bool walk_struct(struct walk *walk, const struct tbinary_struct *of, unsigned int depth)
{
	const struct tbinary_field *field;
	uint64_t seen = 0, bit;
	uint8_t type;
	int16_t id;

	for (;;) {
		if (!need(walk, 1))
			return false;
		type = (uint8_t)take(walk, 1);
		if (type == TBINARY_STOP)
			return true;
		if (!size_of_type(type)) {
			walk->at--;
			return fail(walk, "the unknown type %u", type);
		}
		if (!need(walk, 2))
			return false;
		id = (int16_t)take(walk, 2);
		field = find_field(of, id, type);
		bit = field ? UINT64_C(1) << (field - of->fields) : 0;
		if (seen & bit)
			return fail(walk, "a second field %d in %s", id, of->name);
		seen |= bit;
		if (!walk_value(walk, type, field, depth))
			return false;
	}
}

/* @field: what the reader takes the value for; NULL if it skips it. */
static bool walk_value(struct walk *walk, uint8_t type, const struct tbinary_field *field, unsigned int depth)
{
	uint32_t size;

	if (depth >= DEPTH_MAX)
		return fail(walk, "nested more than %d deep", DEPTH_MAX);
	switch (type) {
	case TBINARY_STRUCT:
		return walk_struct(walk, field ? field->of : NULL, depth + 1);
	case TBINARY_LIST:
	case TBINARY_SET:
		return walk_list(walk, field, depth + 1);
	case TBINARY_MAP:
		return walk_map(walk, depth + 1);
	case TBINARY_STRING:
		if (!take_count(walk, 1, &size))
			return false;
		walk->at += size;
		return true;
	default:
		if (!need(walk, size_of_type(type)))
			return false;
		walk->at += size_of_type(type);
		return true;
	}
}

size_t tbinary_check(
	const void *data, size_t size, const struct tbinary_struct *of, char *error, size_t error_size)
{
	struct walk walk = {.data = data, .size = size, .error = error, .error_size = error_size};

	return walk_struct(&walk, of, 0) ? walk.at : 0;
}

bool tbinary_read_message(
	const void *data, size_t size, struct tbinary_message *message, char *error, size_t error_size)
{
	struct walk walk = {.data = data, .size = size, .error = error, .error_size = error_size};
	uint32_t first, length;
	bool strict;

	if (!need(&walk, 4))
		return false;
	first = (uint32_t)take(&walk, 4);
	strict = first & 0x80000000;
	if (strict && (first & 0xffff0000) != 0x80010000)
		return fail(&walk, "a message of the unknown version 0x%08x", first);
	if (!strict)
		walk.at = 0;
	if (!take_count(&walk, 1, &length))
		return false;
	if (length >= sizeof(message->method))
		return fail(&walk, "a method's name of %u bytes", length);
	memcpy(message->method, walk.data + walk.at, length);
	message->method[length] = '\0';
	walk.at += length;
	if (!need(&walk, strict ? 4 : 5))
		return false;
	message->type = strict ? first & 0xff : (uint8_t)take(&walk, 1);
	message->seqid = (int32_t)take(&walk, 4);
	message->size = walk.at;
	return true;
}
