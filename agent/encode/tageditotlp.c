/* SPDX-License-Identifier: BSD-2-Clause */
/* Changing attributes of a span of OTLP: tagedit.h. */
#include "base/pack.h"
#include "encode/otlp.h"
#include "encode/tagedit.h"
#include "wire/otlpfields.h"
#include "wire/protobuf.h"

/* Of an attribute or a status, but for its texts. */
#define TAG_ROOM 48

/* A field of the span that is a tag. */
struct part {
	const uint8_t *begin, *end; /* with its head */
	const uint8_t *value;       /* the AnyValue, */
	size_t value_size;
	bool is_status;
};

static struct text text_of(const struct protobuf_field *field)
{
	return (struct text){(const char *)field->bytes, (uint32_t)field->size};
}

/* A flag is what the span says in other formats without a tag. */
static bool is_flag(const struct tag *tag)
{
	return tag->type == TAG_BOOL && (text_is(tag->key, OTLP_SHARED) || text_is(tag->key, OTLP_DEBUG));
}

static bool read_value(const struct part *part, struct tag *tag)
{
	struct protobuf_reader from = protobuf_read(part->value, part->value_size);
	struct protobuf_field field;

	tag->type = TAG_INT; /* or whatever else is no text */
	while (protobuf_next(&from, &field)) {
		if (field.number == ANYVALUE_STRING && field.type == PROTOBUF_BYTES) {
			tag->value = text_of(&field);
			tag->type = TAG_TEXT;
		} else if (field.number == ANYVALUE_BOOL && field.type == PROTOBUF_VARINT) {
			tag->type = TAG_BOOL;
		}
	}
	return !from.failed;
}

static bool read_attribute(const struct protobuf_field *attribute, struct part *part, struct tag *tag)
{
	struct protobuf_reader from = protobuf_read(attribute->bytes, attribute->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		if (field.number == KEYVALUE_KEY && field.type == PROTOBUF_BYTES) {
			tag->key = text_of(&field);
		} else if (field.number == KEYVALUE_VALUE && field.type == PROTOBUF_BYTES) {
			part->value = field.bytes;
			part->value_size = field.size;
		}
	}
	return !from.failed && read_value(part, tag);
}

/* As encode/otlp.h writes it of a tag `error`. */
static bool read_status(const struct protobuf_field *status, struct part *part, struct tag *tag)
{
	struct protobuf_reader from = protobuf_read(status->bytes, status->size);
	struct protobuf_field field;

	part->is_status = true;
	tag->key = (struct text){"error", 5};
	tag->value = (struct text){"true", 4};
	while (protobuf_next(&from, &field))
		if (field.number == STATUS_MESSAGE && field.type == PROTOBUF_BYTES)
			tag->value = text_of(&field);
	return !from.failed;
}

static bool read_field(const struct protobuf_field *field, struct part *part, struct tagedit_memory *memory)
{
	struct tag tag = {{"", 0}, {"", 0}, TAG_TEXT};

	if (field->number == SPAN_ATTRIBUTES) {
		if (!read_attribute(field, part, &tag))
			return false;
	} else if (!read_status(field, part, &tag)) {
		return false;
	}
	if (!is_flag(&tag)) {
		buffer_put(&memory->tags, &tag, sizeof(tag));
		buffer_put(&memory->parts, part, sizeof(*part));
	}
	return true;
}

static bool read_span(const uint8_t *span, size_t size, struct tagedit_memory *memory)
{
	struct protobuf_reader from = protobuf_read(span, size);
	struct part part = {.begin = from.at};
	struct protobuf_field field;

	memory->tags.size = memory->parts.size = 0;
	while (protobuf_next(&from, &field)) {
		part.end = from.at;
		if (field.type == PROTOBUF_BYTES &&
			(field.number == SPAN_ATTRIBUTES || field.number == SPAN_STATUS) &&
			!read_field(&field, &part, memory))
			return false;
		part = (struct part){.begin = from.at};
	}
	return !from.failed;
}

static void put_attribute(struct buffer *out, const struct part *part, const struct tagedit *edit)
{
	const struct text value = tagedit_value(edit, (struct text){NULL, 0});
	size_t size = edit->redacted ? protobuf_bytes_size(value.size) : part->value_size;
	uint8_t *start = buffer_reserve(out, edit->key.size + size + TAG_ROOM), *to = start;

	to = protobuf_put_head(
		to, SPAN_ATTRIBUTES, protobuf_bytes_size(edit->key.size) + protobuf_bytes_size(size));
	to = protobuf_put_bytes(to, KEYVALUE_KEY, edit->key.data, edit->key.size);
	if (edit->redacted)
		to = protobuf_put_bytes(
			protobuf_put_head(to, KEYVALUE_VALUE, size), ANYVALUE_STRING, value.data, value.size);
	else
		to = protobuf_put_bytes(to, KEYVALUE_VALUE, part->value, part->value_size);
	out->size += (size_t)(to - start);
}

/* A status that changes is redacted: it cannot be renamed. */
static void put_status(struct buffer *out, const struct tagedit *edit)
{
	const struct text value = tagedit_value(edit, (struct text){NULL, 0});
	uint8_t *start = buffer_reserve(out, value.size + TAG_ROOM), *to = start;

	to = protobuf_put_head(to, SPAN_STATUS, protobuf_bytes_size(value.size) + 2);
	to = protobuf_put_bytes(to, STATUS_MESSAGE, value.data, value.size);
	to = protobuf_put_varint(protobuf_put_field(to, STATUS_CODE, PROTOBUF_VARINT), STATUS_ERROR);
	out->size += (size_t)(to - start);
}

static void put_item(struct buffer *out, struct text item, const struct tagedit_memory *memory)
{
	const struct part *parts = (const struct part *)(const void *)memory->parts.data;
	const struct tagedit *edits = tagedit_list(memory);
	const uint8_t *copied = (const uint8_t *)item.data, *end = copied + item.size;

	for (size_t i = 0; i < memory->parts.size / sizeof(*parts); i++) {
		if (edits[i].what == TAGEDIT_STAYS)
			continue;
		buffer_put(out, copied, (size_t)(parts[i].begin - copied));
		copied = parts[i].end;
		if (edits[i].what == TAGEDIT_GOES)
			continue;
		if (parts[i].is_status)
			put_status(out, &edits[i]);
		else
			put_attribute(out, &parts[i], &edits[i]);
	}
	buffer_put(out, copied, (size_t)(end - copied));
}

enum tagedit_result tagedit_otlp(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	struct unpacker from = unpacker_of(item.data, item.size);
	uint32_t head = unpack_u32(&from);

	if (from.failed || head < OTLP_ITEM_HEAD || head > item.size ||
		!read_span((const uint8_t *)item.data + head, item.size - head, memory))
		return TAGEDIT_NO_SPAN;
	if (!tagedit_judge(rules, memory, counts))
		return TAGEDIT_SAME;
	put_item(out, item, memory);
	return TAGEDIT_CHANGED;
}
