/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading OTLP's JSON: otlpjson.h. It becomes Protocol Buffers first, whose reader there is (otlpread.c). */
#include <errno.h>
#include <stdlib.h>

#include <glib.h>

#include "encode/jsonread.h"
#include "encode/otlp.h"
#include "encode/otlpjson.h"
#include "encode/otlpschema.h"
#include "wire/otlpfields.h"
#include "wire/protobuf.h"

/* The longest number is a double of 17 digits. */
#define NUMBER_ROOM 40

/* From JSON to Protocol Buffers */

static void put_message(struct jsonread *from, struct buffer *out, const struct otlp_message *of);

static void put_field(struct buffer *out, const struct otlp_field *is, uint64_t number)
{
	uint8_t *start = buffer_reserve(out, PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX), *to = start;

	switch (otlp_type_of(is->kind)) {
	case PROTOBUF_VARINT:
		to = protobuf_put_varint(protobuf_put_field(to, is->number, PROTOBUF_VARINT), number);
		break;
	case PROTOBUF_I64:
		to = protobuf_put_i64(to, is->number, number);
		break;
	default:
		to = protobuf_put_i32(to, is->number, (uint32_t)number);
	}
	out->size += (size_t)(to - start);
}

static void put_bytes(struct buffer *out, uint32_t number, const void *bytes, size_t size)
{
	uint8_t *start = buffer_reserve(out, PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX + size);

	out->size += (size_t)(protobuf_put_bytes(start, number, bytes, size) - start);
}

/* Ids that are not there may be empty texts. */
static void put_hex(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	struct text text = jsonread_text(from);
	uint8_t id[16];

	if (text.size % 2 || text.size / 2 > sizeof(id))
		from->failed = true;
	for (uint32_t i = 0; i < text.size && !from->failed; i++) {
		int digit = g_ascii_xdigit_value(text.data[i]);

		from->failed = digit < 0;
		id[i / 2] = (uint8_t)(i % 2 ? id[i / 2] << 4 | digit : digit);
	}
	if (text.size && !from->failed)
		put_bytes(out, is->number, id, text.size / 2);
}

/* A number, which may be a text. */
static void get_number(struct jsonread *from, char number[NUMBER_ROOM])
{
	struct jsonread again = *from;
	struct text text = jsonread_text(&again);

	if (again.failed) {
		text.data = from->at;
		jsonread_skip(from);
		text.size = (uint32_t)(from->at - text.data);
	} else {
		*from = again;
	}
	from->failed |= !text.size || text.size >= NUMBER_ROOM;
	number[0] = '\0';
	if (from->failed)
		return;
	memcpy(number, text.data, text.size);
	number[text.size] = '\0';
}

static void put_number(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	char number[NUMBER_ROOM], *end;
	uint64_t value;

	get_number(from, number);
	g_strstrip(number);
	errno = 0;
	value = is->kind == OTLP_LONG ? (uint64_t)g_ascii_strtoll(number, &end, 10)
				      : g_ascii_strtoull(number, &end, 10);
	from->failed |= errno || *end || end == number;
	put_field(out, is, value);
}

static void put_double(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	char number[NUMBER_ROOM], *end;
	double value;
	uint64_t bits;

	get_number(from, number);
	g_strstrip(number);
	value = g_ascii_strtod(number, &end);
	from->failed |= *end || end == number;
	memcpy(&bits, &value, sizeof(bits));
	put_field(out, is, bits);
}

static void put_nested(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	struct buffer message = {0};

	put_message(from, &message, is->of);
	put_bytes(out, is->number, message.data, message.size);
	buffer_free(&message);
}

static void put_value(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	struct text text;

	switch (is->kind) {
	case OTLP_TEXT:
		text = jsonread_text(from);
		put_bytes(out, is->number, text.data, text.size);
		break;
	case OTLP_HEX:
		put_hex(from, out, is);
		break;
	case OTLP_DOUBLE:
		put_double(from, out, is);
		break;
	case OTLP_BOOL:
		put_field(out, is, jsonread_bool(from));
		break;
	case OTLP_MESSAGE:
		put_nested(from, out, is);
		break;
	case OTLP_MESSAGES:
		jsonread_open(from, '[');
		while (jsonread_element(from))
			put_nested(from, out, is);
		break;
	default:
		put_number(from, out, is);
	}
}

static const struct otlp_field *find_field(const struct otlp_message *of, struct text name)
{
	for (size_t i = 0; i < of->count; i++)
		if (strlen(of->fields[i].name) == name.size &&
			!memcmp(of->fields[i].name, name.data, name.size))
			return &of->fields[i];
	return NULL;
}

static void put_message(struct jsonread *from, struct buffer *out, const struct otlp_message *of)
{
	struct text name;

	jsonread_open(from, '{');
	while (jsonread_key(from, &name)) {
		const struct otlp_field *is = find_field(of, name);

		if (is)
			put_value(from, out, is);
		else
			jsonread_skip(from);
	}
}

/* From the request to its spans */

struct taking {
	struct span_memory *memory;
	const struct otlpjson_sink *sink;
	struct buffer item; /* of otlp.h */
	bool good;
};

static void take_span(struct taking *is, const struct protobuf_field *bytes)
{
	size_t head = is->item.size;
	struct span span;

	buffer_put(&is->item, bytes->bytes, bytes->size);
	if (spanread_otlp(&span, is->item.data, is->item.size, is->memory))
		is->sink->take(is->sink->data, &span);
	else
		is->good = false;
	is->item.size = head;
}

/* Calls @take for each field of a number. */
static void each(struct taking *is, const struct protobuf_field *message, uint32_t number,
	void (*take)(struct taking *is, const struct protobuf_field *field))
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == number)
			take(is, &field);
	is->good &= !from.failed;
}

static void take_scope(struct taking *is, const struct protobuf_field *scope)
{
	each(is, scope, SCOPE_SPANS_SPANS, take_span);
}

static void take_process(struct taking *is, const struct protobuf_field *resource)
{
	buffer_put(&is->item, resource->bytes, resource->size);
}

static void take_resource(struct taking *is, const struct protobuf_field *spans)
{
	is->item.size = 0;
	buffer_reserve(&is->item, OTLP_ITEM_HEAD);
	is->item.size = OTLP_ITEM_HEAD;
	each(is, spans, RESOURCE_SPANS_RESOURCE, take_process);
	otlp_put_item_head(is->item.data, (uint32_t)is->item.size, 0);
	each(is, spans, RESOURCE_SPANS_SCOPE_SPANS, take_scope);
}

bool otlpjson_read(
	const char *line, size_t size, struct span_memory *memory, const struct otlpjson_sink *sink)
{
	struct jsonread from = {.at = line, .end = line + size};
	struct taking is = {.memory = memory, .sink = sink, .good = true};
	struct buffer request = {0}, room = {0};

	from.room = (char *)buffer_reserve(&room, size + 1);
	put_message(&from, &request, &otlp_request);
	is.good = jsonread_is_over(&from);
	if (is.good)
		each(&is, &(struct protobuf_field){.bytes = request.data, .size = request.size},
			REQUEST_RESOURCE_SPANS, take_resource);
	buffer_free(&is.item);
	buffer_free(&request);
	buffer_free(&room);
	return is.good;
}

bool otlpjson_is(const char *line, size_t size)
{
	struct jsonread from = {.at = line, .end = line + size};
	struct buffer room = {0};
	struct text key = {"", 0};
	bool is;

	from.room = (char *)buffer_reserve(&room, size + 1);
	is = jsonread_open(&from, '{') && jsonread_key(&from, &key) && key.size == strlen("resourceSpans") &&
	     !memcmp(key.data, "resourceSpans", key.size);
	buffer_free(&room);
	return is;
}
