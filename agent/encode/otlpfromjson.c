/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpfromjson.h"

#include <errno.h>

#include <glib.h>

#include "core/value.h"
#include "encode/jsonread.h"
#include "encode/otlpvalue.h"
#include "net/base64read.h"
#include "net/protobuf.h"

/* For a double with all of its digits: the smallest has 767 behind 324 zeroes. */
#define NUMBER_ROOM 1200

static void put_message(struct jsonread *from, struct buffer *out, const struct otlp_message *of, int depth);

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

/* Ids that are not there may be empty texts. One that is too long, or ends amid a byte, becomes a byte, which
 * is no id either. */
static void put_hex(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	struct text text = jsonread_text(from);
	bool fits = text.size % 2 == 0 && text.size / 2 <= 16;
	uint8_t id[16] = {0};

	for (uint32_t i = 0; i < text.size && !from->failed; i++) {
		int digit = g_ascii_xdigit_value(text.data[i]);

		from->failed = digit < 0;
		if (fits && !from->failed)
			id[i / 2] = (uint8_t)(i % 2 ? id[i / 2] << 4 | digit : digit);
	}
	if (text.size && !from->failed)
		put_bytes(out, is->number, id, fits ? text.size / 2 : 1);
}

static void put_base64(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	struct text text = jsonread_text(from);
	size_t begin = otlpvalue_open(out, is->number);

	if (!from->failed && !base64_read(out, text.data, text.size))
		from->failed = true;
	otlpvalue_close(out, begin);
}

/* A number, which may be a text; returns the text. */
static struct text get_number(struct jsonread *from, char number[NUMBER_ROOM])
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
	number[0] = '\0';
	if (text.size < NUMBER_ROOM && !from->failed) {
		memcpy(number, text.data, text.size);
		number[text.size] = '\0';
		g_strstrip(number);
	}
	return text;
}

static void put_number(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	char number[NUMBER_ROOM], *end;
	uint64_t value;

	get_number(from, number);
	errno = 0;
	value = is->kind == OTLP_LONG ? (uint64_t)g_ascii_strtoll(number, &end, 10)
				      : g_ascii_strtoull(number, &end, 10);
	from->failed |= errno || *end || end == number;
	put_field(out, is, value);
}

static void put_enum(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	char number[NUMBER_ROOM];
	struct jsonread again = *from;
	struct text text = get_number(from, number);

	for (uint64_t i = 0; is->names[i]; i++) {
		if (text_is(text, is->names[i])) {
			put_field(out, is, i);
			return;
		}
	}
	*from = again;
	put_number(from, out, is);
}

static void put_double(struct jsonread *from, struct buffer *out, const struct otlp_field *is)
{
	char number[NUMBER_ROOM], *end;
	double value;
	uint64_t bits;

	get_number(from, number);
	value = g_ascii_strtod(number, &end);
	from->failed |= *end || end == number;
	memcpy(&bits, &value, sizeof(bits));
	put_field(out, is, bits);
}

/* @depth is how many values it is within. */
static void put_nested(struct jsonread *from, struct buffer *out, const struct otlp_field *is, int depth)
{
	size_t begin = otlpvalue_open(out, is->number);

	if (is->of == &otlp_any_value && ++depth > VALUE_DEPTH_MAX + 1)
		jsonread_skip(from);
	else
		put_message(from, out, is->of, depth);
	otlpvalue_close(out, begin);
}

static void put_value(struct jsonread *from, struct buffer *out, const struct otlp_field *is, int depth)
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
	case OTLP_BYTES:
		put_base64(from, out, is);
		break;
	case OTLP_ENUM:
		put_enum(from, out, is);
		break;
	case OTLP_DOUBLE:
		put_double(from, out, is);
		break;
	case OTLP_BOOL:
		put_field(out, is, jsonread_bool(from));
		break;
	case OTLP_MESSAGE:
		put_nested(from, out, is, depth);
		break;
	case OTLP_MESSAGES:
		jsonread_open(from, '[');
		while (jsonread_element(from))
			put_nested(from, out, is, depth);
		break;
	default:
		put_number(from, out, is);
	}
}

static const struct otlp_field *find_field(const struct otlp_message *of, struct text name)
{
	for (size_t i = 0; i < of->count; i++)
		if (text_is(name, of->fields[i].name))
			return &of->fields[i];
	return NULL;
}

static void put_message(struct jsonread *from, struct buffer *out, const struct otlp_message *of, int depth)
{
	struct text name;

	jsonread_open(from, '{');
	while (jsonread_key(from, &name)) {
		const struct otlp_field *is = find_field(of, name);

		if (!is || jsonread_is_null(from))
			jsonread_skip(from);
		else
			put_value(from, out, is, depth);
	}
}

bool otlpfromjson(
	struct buffer *out, const struct otlp_message *of, const char *text, size_t size, struct buffer *room)
{
	struct jsonread from = {.at = text, .end = text + size};

	room->size = 0;
	from.room = (char *)buffer_reserve(room, size + 1);
	put_message(&from, out, of, 0);
	return jsonread_is_over(&from);
}
