/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/valuejson.h"

#include "core/value.h"
#include "encode/jsontext.h"
#include "encode/jsonvalue.h"
#include "encode/tagnumber.h"
#include "net/base64.h"

static void put_word(struct buffer *out, const char *word)
{
	buffer_put(out, word, strlen(word));
}

static void put_string(struct buffer *out, struct text text)
{
	char *start = (char *)buffer_reserve(out, JSONTEXT_MAX((size_t)text.size));
	unsigned repaired = 0;

	out->size += (size_t)(jsontext_put(start, text.data, text.size, &repaired) - start);
}

static void put_base64(struct buffer *out, struct text bytes)
{
	char *to = (char *)buffer_reserve(out, BASE64_SIZE((size_t)bytes.size));

	base64_encode(to, (const uint8_t *)bytes.data, bytes.size);
	out->size += BASE64_SIZE((size_t)bytes.size);
}

/* Printed anew, as JSON has no word for some. */
static void put_number(struct buffer *out, const struct tag *value)
{
	char *to = (char *)buffer_reserve(out, JSONVALUE_MAX), *end;

	end = value->type == TAG_INT ? jsonvalue_signed(to, (int64_t)int_of(value->value))
				     : jsonvalue_real(to, double_of(value->value));
	out->size += (size_t)(end - to);
}

static void put_value(struct buffer *out, const struct tag *value, int depth);

static void put_list(struct buffer *out, const struct tag *list, int depth)
{
	bool map = list->type == TAG_MAP, first = true;
	struct text rest = list->value;
	struct tag value;

	put_word(out, map ? "{" : "[");
	while (value_next(&rest, map, &value)) {
		if (!first)
			put_word(out, ",");
		first = false;
		if (map) {
			put_string(out, value.key);
			put_word(out, ":");
		}
		put_value(out, &value, depth + 1);
	}
	put_word(out, map ? "}" : "]");
}

static void put_value(struct buffer *out, const struct tag *value, int depth)
{
	switch (value->type) {
	case TAG_TEXT:
		put_string(out, value->value);
		break;
	case TAG_INT:
	case TAG_DOUBLE:
		put_number(out, value);
		break;
	case TAG_BOOL:
		put_word(out, bool_of(value->value) ? "true" : "false");
		break;
	case TAG_BYTES:
		put_word(out, "\"");
		put_base64(out, value->value);
		put_word(out, "\"");
		break;
	case TAG_LIST:
	case TAG_MAP:
		if (depth < VALUE_DEPTH_MAX) {
			put_list(out, value, depth);
			break;
		} /* fall through */
	default:
		put_word(out, "null");
	}
}

void valuejson_object(struct buffer *out, const struct attributes *attributes)
{
	put_word(out, "{");
	for (size_t i = 0; i < attributes->count; i++) {
		if (i)
			put_word(out, ",");
		put_string(out, attributes->tags[i].key);
		put_word(out, ":");
		put_value(out, &attributes->tags[i], 0);
	}
	put_word(out, "}");
}

void valuejson_text(struct buffer *out, const struct tag *value)
{
	if (value->type == TAG_BYTES)
		put_base64(out, value->value);
	else if (value->type == TAG_LIST || value->type == TAG_MAP)
		put_value(out, value, 0);
	else
		buffer_put(out, value->value.data, value->value.size);
}
