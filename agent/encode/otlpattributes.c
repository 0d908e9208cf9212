/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpattributes.h"

#include "base/shortest.h"
#include "core/value.h"
#include "encode/jsonvalue.h"
#include "net/otlpfields.h"

/* The most characters of a number. */
#define NUMBER_ROOM 40

_Static_assert(NUMBER_ROOM >= SHORTEST_ROOM && NUMBER_ROOM >= JSONVALUE_MAX, "any number fits");

struct reading {
	struct buffer *texts;
	bool failed;
};

/* Writes the number; one that is not finite is a word that strtod reads, too. */
static struct text print_double(char number[NUMBER_ROOM], uint64_t bits)
{
	const char *word;
	double value;

	memcpy(&value, &bits, sizeof(value));
	word = shortest_word(value);
	if (word)
		return (struct text){word, (uint32_t)strlen(word)};
	return (struct text){number, (uint32_t)shortest_print(number, value)};
}

/* Returns false if the field is none of these. A number is written to @number. */
static bool set_scalar(struct tag *value, const struct protobuf_field *field, char number[NUMBER_ROOM])
{
	uint32_t kind = field->number << 3 | field->type;

	switch (kind) {
	case ANYVALUE_STRING << 3 | PROTOBUF_BYTES:
		value->type = TAG_TEXT;
		value->value = otlpattributes_text(field);
		return true;
	case ANYVALUE_BYTES << 3 | PROTOBUF_BYTES:
		value->type = TAG_BYTES;
		value->value = otlpattributes_text(field);
		return true;
	case ANYVALUE_BOOL << 3 | PROTOBUF_VARINT:
		value->type = TAG_BOOL;
		value->value = field->value ? (struct text){"true", 4} : (struct text){"false", 5};
		return true;
	case ANYVALUE_INT << 3 | PROTOBUF_VARINT:
		value->type = TAG_INT;
		value->value.data = number;
		value->value.size = (uint32_t)(jsonvalue_signed(number, (int64_t)field->value) - number);
		return true;
	case ANYVALUE_DOUBLE << 3 | PROTOBUF_I64:
		value->type = TAG_DOUBLE;
		value->value = print_double(number, field->value);
		return true;
	default:
		return false;
	}
}

static bool list_type(const struct protobuf_field *field, enum tag_type *type)
{
	*type = field->number == ANYVALUE_ARRAY ? TAG_LIST : TAG_MAP;
	return field->type == PROTOBUF_BYTES &&
	       (field->number == ANYVALUE_ARRAY || field->number == ANYVALUE_MAP);
}

/* Lists and maps */

static void put_list(struct reading *is, const struct protobuf_field *list, enum tag_type type, int depth);

/* Appends the value: of several that it may have, the last one counts. */
static void put_value(
	struct reading *is, const struct protobuf_field *any, bool in_map, struct text key, int depth)
{
	struct protobuf_reader from = protobuf_read(any->bytes, any->size);
	struct tag value = {key, {"", 0}, TAG_NONE};
	struct protobuf_field field, list = {0};
	char number[NUMBER_ROOM];
	size_t begin;

	while (protobuf_next(&from, &field)) {
		enum tag_type type;

		if (list_type(&field, &type)) {
			value.type = type;
			list = field;
		} else {
			set_scalar(&value, &field, number);
		}
	}
	is->failed |= from.failed;
	if ((value.type != TAG_LIST && value.type != TAG_MAP) || depth >= VALUE_DEPTH_MAX) {
		if (value.type == TAG_LIST || value.type == TAG_MAP)
			value = (struct tag){key, {"", 0}, TAG_NONE};
		value_put(is->texts, in_map, &value);
		return;
	}
	begin = value_open(is->texts, in_map, key, value.type);
	put_list(is, &list, value.type, depth);
	value_close(is->texts, begin);
}

static void put_pair(struct reading *is, const struct protobuf_field *pair, int depth)
{
	struct protobuf_reader from = protobuf_read(pair->bytes, pair->size);
	struct protobuf_field field, value = {0};
	struct text key = {"", 0};

	while (protobuf_next(&from, &field)) {
		if (field.number == KEYVALUE_KEY && field.type == PROTOBUF_BYTES)
			key = otlpattributes_text(&field);
		else if (field.number == KEYVALUE_VALUE && field.type == PROTOBUF_BYTES)
			value = field;
	}
	is->failed |= from.failed;
	put_value(is, &value, true, key, depth);
}

/* The values of an ArrayValue or a KeyValueList, which is at @depth. */
static void put_list(struct reading *is, const struct protobuf_field *list, enum tag_type type, int depth)
{
	struct protobuf_reader from = protobuf_read(list->bytes, list->size);
	struct protobuf_field field;

	_Static_assert((int)ARRAY_VALUES == (int)MAP_VALUES, "both have their values in the same field");
	while (protobuf_next(&from, &field)) {
		if (field.number != ARRAY_VALUES || field.type != PROTOBUF_BYTES)
			continue;
		if (type == TAG_MAP)
			put_pair(is, &field, depth + 1);
		else
			put_value(is, &field, false, (struct text){"", 0}, depth + 1);
	}
	is->failed |= from.failed;
}

/* Attributes */

static void set_value(struct reading *is, const struct protobuf_field *field, struct tag *tag)
{
	char *number = (char *)buffer_reserve(is->texts, NUMBER_ROOM);
	size_t begin = is->texts->size;
	enum tag_type type;

	if (list_type(field, &type)) {
		put_list(is, field, type, 0);
		tag->type = type;
		tag->value = (struct text){
			(const char *)is->texts->data + begin, (uint32_t)(is->texts->size - begin)};
	} else if (set_scalar(tag, field, number) && tag->value.data == number) {
		is->texts->size += tag->value.size;
	}
}

bool otlpattributes_read(struct tag *tag, const struct protobuf_field *attribute, struct buffer *texts)
{
	struct protobuf_reader from = protobuf_read(attribute->bytes, attribute->size), value;
	struct reading is = {texts, false};
	struct protobuf_field field, inner;

	*tag = (struct tag){{"", 0}, {"", 0}, TAG_NONE};
	while (protobuf_next(&from, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == KEYVALUE_KEY)
			tag->key = otlpattributes_text(&field);
		if (field.number != KEYVALUE_VALUE)
			continue;
		value = protobuf_read(field.bytes, field.size);
		while (protobuf_next(&value, &inner))
			set_value(&is, &inner, tag);
		is.failed |= value.failed;
	}
	return !is.failed && !from.failed;
}

struct attributes otlpattributes_take(const struct protobuf_field *message, uint32_t field,
	uint32_t dropped_field, struct span_memory *memory)
{
	struct tag *tags = (struct tag *)(void *)(memory->tags.data + memory->tags.size);
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct attributes attributes = {tags, 0, 0};
	struct protobuf_field of;

	while (protobuf_next(&from, &of)) {
		if (of.number == field && of.type == PROTOBUF_BYTES)
			otlpattributes_read(&tags[attributes.count++], &of, &memory->texts);
		else if (of.number == dropped_field && of.type == PROTOBUF_VARINT)
			attributes.dropped = (uint32_t)of.value;
	}
	memory->tags.size += attributes.count * sizeof(*tags);
	return attributes;
}
