/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an item of otlp.h: spanread.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/pack.h"
#include "encode/iptext.h"
#include "base/shortest.h"
#include "encode/spanread.h"
#include "wire/otlpfields.h"
#include "wire/protobuf.h"

struct reading {
	struct span *span;
	struct span_memory *memory;
	bool failed;
};

static bool is_text(struct text text, const char *word)
{
	return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static struct text text_of(const struct protobuf_field *field)
{
	return (struct text){(const char *)field->bytes, (uint32_t)field->size};
}

static uint64_t id_of(struct reading *is, const uint8_t *bytes, size_t size)
{
	struct unpacker from = unpacker_of(bytes, size);
	uint64_t id = unpack_u64(&from);

	is->failed |= size != 8;
	return id;
}

/* Attributes */

/* Texts stay where they are while more are put: there is room for all. */
static struct text keep(struct reading *is, const char *text, int size)
{
	struct buffer *texts = &is->memory->texts;
	struct text kept = {(const char *)texts->data + texts->size, (uint32_t)size};

	buffer_put(texts, text, (size_t)size);
	return kept;
}

static void set_value(struct reading *is, const struct protobuf_field *field, struct tag *tag)
{
	char number[SHORTEST_ROOM];
	const char *word;
	double value;

	if (field->number == ANYVALUE_STRING && field->type == PROTOBUF_BYTES) {
		tag->value = text_of(field);
		tag->type = TAG_TEXT;
	} else if (field->number == ANYVALUE_BOOL && field->type == PROTOBUF_VARINT) {
		tag->value = field->value ? (struct text){"true", 4} : (struct text){"false", 5};
		tag->type = TAG_BOOL;
	} else if (field->number == ANYVALUE_INT && field->type == PROTOBUF_VARINT) {
		tag->value =
			keep(is, number, snprintf(number, sizeof(number), "%lld", (long long)field->value));
		tag->type = TAG_INT;
	} else if (field->number == ANYVALUE_DOUBLE && field->type == PROTOBUF_I64) {
		memcpy(&value, &field->value, sizeof(value));
		word = shortest_word(value);
		tag->value = word ? (struct text){word, (uint32_t)strlen(word)}
				  : keep(is, number, (int)shortest_print(number, value));
		tag->type = word ? TAG_TEXT : TAG_DOUBLE;
	}
}

static struct tag read_attribute(struct reading *is, const struct protobuf_field *attribute)
{
	struct protobuf_reader from = protobuf_read(attribute->bytes, attribute->size), value;
	struct tag tag = {{"", 0}, {"", 0}, TAG_TEXT};
	struct protobuf_field field, inner;

	while (protobuf_next(&from, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == KEYVALUE_KEY)
			tag.key = text_of(&field);
		if (field.number != KEYVALUE_VALUE)
			continue;
		value = protobuf_read(field.bytes, field.size);
		while (protobuf_next(&value, &inner))
			set_value(is, &inner, &tag);
		is->failed |= value.failed;
	}
	is->failed |= from.failed;
	return tag;
}

/* 0 if it has more than @digits. */
static uint32_t number_of(struct text value, size_t digits)
{
	char number[16] = "";

	memcpy(number, value.data, value.size <= digits ? value.size : 0);
	return (uint32_t)strtoul(number, NULL, 10);
}

static uint16_t port_of(struct text value)
{
	return (uint16_t)number_of(value, 7);
}

/* Returns whether the attribute is one of those that the encoder makes of an endpoint. */
static bool take_endpoint(struct endpoint *endpoint, const struct tag *tag, bool address, bool port)
{
	if (address && tag->type == TAG_TEXT)
		return iptext_read(endpoint, tag->value);
	if (!port || tag->type != TAG_INT || port_of(tag->value) == 0)
		return false;
	endpoint->port = port_of(tag->value);
	return true;
}

static bool take_remote(struct span *span, const struct tag *tag)
{
	bool client = span->kind == SPAN_SERVER,
	     address = is_text(tag->key, client ? OTLP_CLIENT_ADDRESS : OTLP_SERVER_ADDRESS),
	     port = is_text(tag->key, client ? OTLP_CLIENT_PORT : OTLP_SERVER_PORT), taken;

	if (is_text(tag->key, OTLP_PEER_SERVICE) && tag->type == TAG_TEXT) {
		span->remote.service = tag->value;
		taken = true;
	} else {
		taken = take_endpoint(&span->remote, tag, address, port);
	}
	span->has_remote |= taken;
	return taken;
}

static void take_attribute(struct reading *is, const struct protobuf_field *field)
{
	struct tag tag = read_attribute(is, field);
	struct span *span = is->span;

	if (is_text(tag.key, OTLP_SHARED) && tag.type == TAG_BOOL)
		span->shared = true;
	else if (is_text(tag.key, OTLP_DEBUG) && tag.type == TAG_BOOL)
		span->debug = true;
	else if (!take_remote(span, &tag))
		spanread_tag(is->memory, &tag);
}

/* The rest of a span */

static void take_event(struct reading *is, const struct protobuf_field *event)
{
	struct protobuf_reader from = protobuf_read(event->bytes, event->size);
	struct text value = {"", 0};
	struct protobuf_field field;
	int64_t time = 0;

	while (protobuf_next(&from, &field)) {
		if (field.number == EVENT_TIME && field.type == PROTOBUF_I64)
			time = (int64_t)field.value;
		else if (field.number == EVENT_NAME && field.type == PROTOBUF_BYTES)
			value = text_of(&field);
	}
	is->failed |= from.failed;
	spanread_annotation(is->memory, time, value);
}

static void take_status(struct reading *is, const struct protobuf_field *status)
{
	struct protobuf_reader from = protobuf_read(status->bytes, status->size);
	struct tag error = {{"error", 5}, {"true", 4}, TAG_TEXT};
	struct protobuf_field field;
	bool failed = false;

	while (protobuf_next(&from, &field)) {
		if (field.number == STATUS_MESSAGE && field.type == PROTOBUF_BYTES)
			error.value = text_of(&field);
		else if (field.number == STATUS_CODE && field.type == PROTOBUF_VARINT)
			failed = field.value == STATUS_ERROR;
	}
	is->failed |= from.failed;
	if (failed)
		spanread_tag(is->memory, &error);
}

static void take_trace_id(struct reading *is, const struct protobuf_field *field)
{
	is->failed |= field->size != 16;
	if (is->failed)
		return;
	is->span->trace_id_high = id_of(is, field->bytes, 8);
	is->span->trace_id = id_of(is, field->bytes + 8, 8);
}

static enum span_kind kind_of(uint64_t kind)
{
	static const enum span_kind kinds[] = {
		[OTLP_CLIENT] = SPAN_CLIENT,
		[OTLP_SERVER] = SPAN_SERVER,
		[OTLP_PRODUCER] = SPAN_PRODUCER,
		[OTLP_CONSUMER] = SPAN_CONSUMER,
	};

	return kind <= OTLP_CONSUMER && kind > OTLP_INTERNAL ? kinds[kind] : SPAN_LOCAL;
}

static void take_bytes(struct reading *is, const struct protobuf_field *field)
{
	struct span *span = is->span;

	if (field->number == SPAN_TRACE_ID)
		take_trace_id(is, field);
	else if (field->number == SPAN_ID)
		span->id = id_of(is, field->bytes, field->size);
	else if (field->number == SPAN_PARENT_ID)
		span->parent_id = id_of(is, field->bytes, field->size);
	else if (field->number == SPAN_NAME)
		span->name = text_of(field);
	else if (field->number == SPAN_ATTRIBUTES)
		take_attribute(is, field);
	else if (field->number == SPAN_EVENTS)
		take_event(is, field);
	else if (field->number == SPAN_STATUS)
		take_status(is, field);
}

static void take_span(struct reading *is, struct protobuf_reader from)
{
	struct protobuf_field field;
	struct span *span = is->span;

	while (protobuf_next(&from, &field)) {
		if (field.type == PROTOBUF_BYTES)
			take_bytes(is, &field);
		else if (field.number == SPAN_KIND && field.type == PROTOBUF_VARINT)
			span->kind = kind_of(field.value);
		else if (field.number == SPAN_START && field.type == PROTOBUF_I64)
			span->timestamp = spanread_time((int64_t)field.value);
		else if (field.number == SPAN_END && field.type == PROTOBUF_I64)
			span->duration = spanread_time((int64_t)field.value) - span->timestamp;
	}
	is->failed |= from.failed;
}

/* The process */

/* What a wire adds, for the node that sends. */
static bool is_of_wire(struct text key)
{
	return is_text(key, OTLP_HOST) || is_text(key, OTLP_INSTANCE) || is_text(key, OTLP_SDK_NAME) ||
	       is_text(key, OTLP_SDK_LANGUAGE) || is_text(key, OTLP_SDK_VERSION);
}

/* What the span has no place for, as an output's `tags`, is a tag. */
static void take_resource(struct reading *is, const struct tag *tag)
{
	bool address = is_text(tag->key, OTLP_LOCAL_ADDRESS), port = is_text(tag->key, OTLP_LOCAL_PORT);
	struct span *span = is->span;

	if (is_text(tag->key, OTLP_SERVICE))
		span->local.service =
			is_text(tag->value, OTLP_NO_SERVICE) ? (struct text){"", 0} : tag->value;
	else if (is_text(tag->key, OTLP_PROGRAM))
		span->program = tag->value;
	else if (is_text(tag->key, OTLP_PID) && tag->type == TAG_INT)
		span->pid = number_of(tag->value, 10);
	else if (!is_of_wire(tag->key) && !take_endpoint(&span->local, tag, address, port))
		spanread_tag(is->memory, tag);
}

static void take_process(struct reading *is, struct protobuf_reader from)
{
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		struct tag tag;

		if (field.number != RESOURCE_ATTRIBUTES || field.type != PROTOBUF_BYTES)
			continue;
		tag = read_attribute(is, &field);
		take_resource(is, &tag);
	}
	is->failed |= from.failed;
}

bool spanread_otlp(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct reading is = {.span = span, .memory = memory};
	struct unpacker from = unpacker_of(bytes, size);
	uint32_t head = unpack_u32(&from), pid = unpack_u32(&from);
	const uint8_t *process = head >= 8 ? unpack_run(&from, head - 8) : NULL;

	if (!process || from.failed)
		return false;
	span_memory_clear(memory);
	/* a number takes more bytes as text than in the item, but not more than this */
	buffer_reserve(&memory->texts, size * SHORTEST_ROOM / 2 + SHORTEST_ROOM);
	*span = (struct span){.pid = pid};
	take_process(&is, protobuf_read(process, head - 8));
	take_span(&is, protobuf_read(from.at, (size_t)(from.end - from.at)));
	spanread_lines(memory, span);
	return !is.failed && span->id && (span->trace_id || span->trace_id_high);
}
