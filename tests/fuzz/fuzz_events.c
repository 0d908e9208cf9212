/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer's way into any event as JSON and as a LogRecord: the bytes say of what classes the fields are,
 * and what is in them (tests/unit/eventmaker.h). Whatever that is, the JSON is what other code writes down,
 * on one line, valid, UTF-8; and the record is as long as its parts say, at each depth.
 */
#include <string.h>

#include <glib.h>

#include "../unit/eventrig.h"
#include "base/utf8.h"
#include "encode/jsonread.h"
#include "fuzz.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

#define ITEM_HEAD 8

static struct event_rig rig;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	event_rig_begin(&rig);
	return 0;
}

/* JSON */

static void hold_json(const struct buffer *json)
{
	g_autofree char *room = g_malloc(json->size + 1);
	struct jsonread from = {
		.at = (const char *)json->data, .end = (const char *)json->data + json->size, .room = room};

	fuzz_hold(utf8_valid(from.at, json->size), "it is UTF-8");
	fuzz_hold(!memchr(json->data, '\n', json->size), "it is one line");
	jsonread_skip(&from);
	fuzz_hold(jsonread_is_over(&from), "it is JSON");
}

static void hold_expected(const struct buffer *json)
{
	const struct event_maker *maker = &rig.maker;
	GString *all = g_string_new(NULL);

	g_string_printf(all, "{\"event\":\"made\",\"payload\":%s", maker->payload->str);
	if (maker->bytes->len)
		g_string_append_printf(all, ",\"bytes\":{%s}", maker->bytes->str);
	g_string_append_c(all, '}');
	fuzz_hold(all->len == json->size && !memcmp(all->str, json->data, json->size),
		"it is what is expected");
	g_string_free(all, TRUE);
}

/* The record */

static void hold_value(const uint8_t *bytes, size_t size);

static void hold_pair(const uint8_t *bytes, size_t size)
{
	struct protobuf_reader from = protobuf_read(bytes, size);
	struct protobuf_field field;

	fuzz_hold(protobuf_next(&from, &field) && field.number == KEYVALUE_KEY, "a pair has a key");
	fuzz_hold(utf8_valid((const char *)field.bytes, field.size), "it is UTF-8");
	fuzz_hold(protobuf_next(&from, &field) && field.number == KEYVALUE_VALUE, "and a value");
	hold_value(field.bytes, field.size);
	fuzz_hold(!protobuf_next(&from, &field) && !from.failed, "and nothing else");
}

static void hold_parts(const struct protobuf_field *whole)
{
	struct protobuf_reader from = protobuf_read(whole->bytes, whole->size);
	struct protobuf_field part;

	while (protobuf_next(&from, &part)) {
		fuzz_hold(part.number == 1 && part.type == PROTOBUF_BYTES, "its parts are such");
		if (whole->number == ANYVALUE_MAP)
			hold_pair(part.bytes, part.size);
		else
			hold_value(part.bytes, part.size);
	}
	fuzz_hold(!from.failed, "they have the sizes that they say");
}

static void hold_value(const uint8_t *bytes, size_t size)
{
	struct protobuf_reader from = protobuf_read(bytes, size);
	struct protobuf_field field;

	if (!size)
		return; /* none */
	fuzz_hold(protobuf_next(&from, &field), "a value can be read");
	if (field.number == ANYVALUE_MAP || field.number == ANYVALUE_ARRAY)
		hold_parts(&field);
	if (field.number == ANYVALUE_STRING)
		fuzz_hold(utf8_valid((const char *)field.bytes, field.size), "a string is UTF-8");
	fuzz_hold(!protobuf_next(&from, &field) && !from.failed, "there is nothing behind it");
}

static void hold_record(const struct buffer *item)
{
	size_t head = (size_t)item->data[2] << 8 | item->data[3];
	struct protobuf_reader from = protobuf_read(item->data + head, item->size - head);
	struct protobuf_field field;
	bool body = false;

	fuzz_hold(head >= ITEM_HEAD && head < item->size, "an item has a record");
	while (protobuf_next(&from, &field)) {
		if (field.number == LOG_BODY)
			hold_value(field.bytes, field.size);
		body |= field.number == LOG_BODY;
	}
	fuzz_hold(!from.failed && body, "it has a body, and is whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	event_rig_run(&rig, data, size);
	hold_json(&rig.json);
	hold_expected(&rig.json);
	hold_record(&rig.otlp);
	return 0;
}
