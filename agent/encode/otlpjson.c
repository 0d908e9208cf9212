/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpjson.h"

#include <inttypes.h>
#include <stdio.h>

#include "encode/jsontext.h"
#include "encode/otlpschema.h"
#include "base/shortest.h"
#include "wire/protobuf.h"

/* Of a number, its name and what stands around them. */
#define FIELD_ROOM 64

static bool put_message(struct buffer *out, const struct otlp_message *of, struct protobuf_reader from);

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

/* The encoder makes texts of what is not finite, but spools of before may have it. */
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

static bool put_value(struct buffer *out, const struct otlp_field *is, const struct protobuf_field *field)
{
	switch (is->kind) {
	case OTLP_TEXT:
		put_text(out, field);
		return true;
	case OTLP_HEX:
		put_hex(out, field);
		return true;
	case OTLP_ENUM:
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
		return put_message(out, is->of, protobuf_read(field->bytes, field->size));
	}
}

static const struct otlp_field *find_field(const struct otlp_message *of, uint32_t number)
{
	for (size_t i = 0; i < of->count; i++)
		if (of->fields[i].number == number)
			return &of->fields[i];
	return NULL;
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

static bool put_message(struct buffer *out, const struct otlp_message *of, struct protobuf_reader from)
{
	const struct otlp_field *list = NULL;
	struct protobuf_field field;
	uint32_t seen = 0;

	put(out, "{");
	while (protobuf_next(&from, &field)) {
		const struct otlp_field *is = find_field(of, field.number);

		if (!is || field.type != otlp_type_of(is->kind) || !begin(out, of, is, &list, &seen) ||
			!put_value(out, is, &field))
			return false;
	}
	put(out, list ? "]}" : "}");
	return !from.failed;
}

bool otlpjson_put(struct buffer *out, const uint8_t *request, size_t size)
{
	size_t start = out->size;

	if (put_message(out, &otlp_request, protobuf_read(request, size)))
		return true;
	out->size = start;
	return false;
}
