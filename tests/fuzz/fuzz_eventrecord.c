/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer's way into records of events, as another process or a disk may have them. Whatever the bytes are,
 * nothing comes of them, or one line of JSON, valid and UTF-8, and a LogRecord that is as long as its parts
 * say; each no larger than it may be. Then it has a time, too.
 */
#include <string.h>

#include <glib.h>

#include "base/utf8.h"
#include "encode/eventjson.h"
#include "encode/eventotlp.h"
#include "encode/jsonread.h"
#include "fuzz.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

#define ITEM_HEAD 8

static struct eventjson json;
static struct eventotlp otlp = {.host = "node"};
static struct buffer out;

/* What is nested at most. */
static unsigned depth_of(const struct buffer *text)
{
	unsigned depth = 0, most = 0;
	bool within = false; /* a string */

	for (size_t i = 0; i < text->size; i++) {
		uint8_t c = text->data[i];

		if (c == '"')
			within = !within;
		else if (within)
			i += c == '\\';
		else
			depth += (c == '{' || c == '[') - (unsigned)(c == '}' || c == ']');
		most = MAX(most, depth);
	}
	return most;
}

/* At the deepest level an enumeration may be, of which the reader here thinks that it is too deep. */
static void hold_json(void)
{
	g_autofree char *room = g_malloc(out.size + 1);
	struct jsonread from = {
		.at = (const char *)out.data, .end = (const char *)out.data + out.size, .room = room};

	fuzz_hold(utf8_valid(from.at, out.size), "it is UTF-8");
	fuzz_hold(!memchr(out.data, '\n', out.size), "it is one line");
	if (depth_of(&out) > EVENT_DEPTH_MAX)
		return;
	jsonread_skip(&from);
	fuzz_hold(jsonread_is_over(&from), "it is JSON");
}

static void hold_value(const struct protobuf_field *value);

/* A KeyValue, or an AnyValue. */
static void hold_parts(const struct protobuf_field *whole)
{
	struct protobuf_reader from = protobuf_read(whole->bytes, whole->size), pair;
	struct protobuf_field part, of;

	while (protobuf_next(&from, &part)) {
		fuzz_hold(part.number == 1 && part.type == PROTOBUF_BYTES, "its parts are such");
		if (whole->number == ANYVALUE_ARRAY) {
			hold_value(&part);
			continue;
		}
		pair = protobuf_read(part.bytes, part.size);
		fuzz_hold(protobuf_next(&pair, &of) && of.number == KEYVALUE_KEY, "a pair has a key");
		fuzz_hold(protobuf_next(&pair, &of) && of.number == KEYVALUE_VALUE, "and a value");
		hold_value(&of);
		fuzz_hold(!protobuf_next(&pair, &of) && !pair.failed, "and nothing else");
	}
	fuzz_hold(!from.failed, "they have the sizes that they say");
}

static void hold_value(const struct protobuf_field *value)
{
	struct protobuf_reader from = protobuf_read(value->bytes, value->size);
	struct protobuf_field field;

	if (!value->size)
		return; /* none */
	fuzz_hold(protobuf_next(&from, &field), "a value can be read");
	if (field.number == ANYVALUE_MAP || field.number == ANYVALUE_ARRAY)
		hold_parts(&field);
	if (field.number == ANYVALUE_STRING)
		fuzz_hold(utf8_valid((const char *)field.bytes, field.size), "a string is UTF-8");
	fuzz_hold(!protobuf_next(&from, &field) && !from.failed, "there is nothing behind it");
}

static void hold_otlp(void)
{
	size_t head = (size_t)out.data[0] << 24 | (size_t)out.data[1] << 16 | (size_t)out.data[2] << 8 |
		      out.data[3];
	struct protobuf_reader from;
	struct protobuf_field field;

	fuzz_hold(head >= ITEM_HEAD && head < out.size, "an item has a record");
	from = protobuf_read(out.data + head, out.size - head);
	while (protobuf_next(&from, &field))
		if (field.number == LOG_BODY)
			hold_value(&field);
	fuzz_hold(!from.failed, "it is whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool good;

	out.size = 0;
	good = eventjson_put(&json, &out, data, size);
	fuzz_hold(good == (out.size > 0) && out.size <= EVENT_SIZE_MAX, "it is whole, or nothing");
	if (good)
		hold_json();
	out.size = 0;
	good = eventotlp_put(&otlp, &out, data, size);
	fuzz_hold(good == (out.size > 0) && out.size <= EVENT_SIZE_MAX, "it is whole, or nothing");
	if (good)
		hold_otlp();
	return 0;
}
