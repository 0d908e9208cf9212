/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpjson.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/shortest.h"
#include "core/value.h"
#include "encode/jsontext.h"
#include "encode/otlpschema.h"
#include "net/base64.h"
#include "net/protobuf.h"

/* Of a number, its name and what stands around them. */
#define FIELD_ROOM 64

static bool put_message(
	struct buffer *out, const struct otlp_message *of, struct protobuf_reader from, int depth);

static void put(struct buffer *out, const char *text)
{
	buffer_put(out, text, strlen(text));
}

static void put_text(struct buffer *out, const struct protobuf_field *field)
{
	char *start = (char *)buffer_reserve(out, JSONTEXT_MAX(field->size));
	unsigned repaired = 0;

	out->size +=
		(size_t)(jsontext_put(start, (const char *)field->bytes, field->size, &repaired) - start);
}

static void put_hex(struct buffer *out, const struct protobuf_field *field)
{
	static const char digits[] = "0123456789abcdef";
	char *to = (char *)buffer_reserve(out, 2 * field->size + 2), *start = to;

	*to++ = '"';
	for (size_t i = 0; i < field->size; i++) {
		*to++ = digits[field->bytes[i] >> 4];
		*to++ = digits[field->bytes[i] & 15];
	}
	*to++ = '"';
	out->size += (size_t)(to - start);
}

static void put_bytes(struct buffer *out, const struct protobuf_field *field)
{
	char *to = (char *)buffer_reserve(out, BASE64_SIZE(field->size) + 2);

	*to = '"';
	base64_encode(to + 1, field->bytes, field->size);
	to[BASE64_SIZE(field->size) + 1] = '"';
	out->size += BASE64_SIZE(field->size) + 2;
}

/* JSON has no number that is not finite. */
static void put_double(struct buffer *out, uint64_t bits)
{
	char text[SHORTEST_ROOM];
	const char *word;
	double value;

	memcpy(&value, &bits, sizeof(value));
	word = shortest_word(value);
	if (word)
		buffer_printf(out, "\"%s\"", word);
	else
		buffer_put(out, text, shortest_print(text, value));
}

/* @depth is how many values it is within: what is nested too deep is none, as core/value.h has it. */
static bool put_nested(
	struct buffer *out, const struct otlp_message *of, const struct protobuf_field *field, int depth)
{
	if (of != &otlp_any_value || ++depth <= VALUE_DEPTH_MAX + 1)
		return put_message(out, of, protobuf_read(field->bytes, field->size), depth);
	put(out, "{}");
	return true;
}

static bool put_value(
	struct buffer *out, const struct otlp_field *is, const struct protobuf_field *field, int depth)
{
	switch (is->kind) {
	case OTLP_TEXT:
		put_text(out, field);
		return true;
	case OTLP_HEX:
		put_hex(out, field);
		return true;
	case OTLP_BYTES:
		put_bytes(out, field);
		return true;
	case OTLP_ENUM:
	case OTLP_COUNT:
	case OTLP_FLAGS:
		buffer_printf(out, "%" PRIu64, field->value);
		return true;
	case OTLP_LONG:
		buffer_printf(out, "\"%" PRId64 "\"", (int64_t)field->value);
		return true;
	case OTLP_TIME:
		buffer_printf(out, "\"%" PRIu64 "\"", field->value);
		return true;
	case OTLP_BOOL:
		put(out, field->value ? "true" : "false");
		return true;
	case OTLP_DOUBLE:
		put_double(out, field->value);
		return true;
	default:
		return put_nested(out, is->of, field, depth);
	}
}

/* Begins a member, or goes on with the list that is open. */
static bool begin(struct buffer *out, const struct otlp_message *of, const struct otlp_field *is,
	const struct otlp_field **list, uint32_t *seen)
{
	uint32_t bit = 1u << (is - of->fields);

	if (*list == is) {
		put(out, ",");
		return true;
	}
	if (*list)
		put(out, "]");
	*list = is->kind == OTLP_MESSAGES ? is : NULL;
	buffer_printf(out, "%s\"%s\":%s", *seen ? "," : "", is->name, *list ? "[" : "");
	if (*seen & bit)
		return false;
	*seen |= bit;
	return true;
}

/* What is not known, or of another type, is left out. */
static bool put_message(
	struct buffer *out, const struct otlp_message *of, struct protobuf_reader from, int depth)
{
	const struct otlp_field *list = NULL;
	struct protobuf_field field;
	uint32_t seen = 0;

	put(out, "{");
	while (protobuf_next(&from, &field)) {
		const struct otlp_field *is = otlp_field_of(of, field.number);

		if (!is || field.type != otlp_type_of(is->kind))
			continue;
		if (!begin(out, of, is, &list, &seen) || !put_value(out, is, &field, depth))
			return false;
	}
	put(out, list ? "]}" : "}");
	return !from.failed;
}

bool otlpjson_put(struct buffer *out, const uint8_t *request, size_t size)
{
	size_t start = out->size;

	if (put_message(out, &otlp_request, protobuf_read(request, size), 0))
		return true;
	out->size = start;
	return false;
}
