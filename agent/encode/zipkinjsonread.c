/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a span in JSON: spanread.h. */
#include <string.h>

#include "core/iptext.h"
#include "encode/jsonread.h"
#include "encode/spanread.h"

/* Up to 16 hexadecimal digits. */
static uint64_t read_hex(struct jsonread *from, const char *at, size_t size)
{
	uint64_t id = 0;

	for (size_t i = 0; i < size; i++) {
		const char *digits = "0123456789abcdef", *digit = at[i] ? strchr(digits, at[i]) : NULL;

		if (!digit)
			from->failed = true;
		id = id << 4 | (digit ? (uint64_t)(digit - digits) : 0);
	}
	from->failed |= !size || size > 16;
	return id;
}

static uint64_t get_id(struct jsonread *from)
{
	struct text text = jsonread_text(from);

	return read_hex(from, text.data, text.size);
}

static void get_trace_id(struct jsonread *from, struct span *span)
{
	struct text text = jsonread_text(from);
	size_t high = text.size > 16 ? text.size - 16 : 0;

	span->trace_id_high = high ? read_hex(from, text.data, high) : 0;
	span->trace_id = read_hex(from, text.data + high, text.size - high);
}

static enum span_kind get_kind(struct jsonread *from)
{
	static const char *const kinds[] = {NULL, "CLIENT", "SERVER", "PRODUCER", "CONSUMER"};
	struct text text = jsonread_text(from);

	for (int kind = SPAN_CLIENT; kind <= SPAN_CONSUMER; kind++)
		if (text_is(text, kinds[kind]))
			return (enum span_kind)kind;
	return SPAN_LOCAL;
}

static void get_endpoint(struct jsonread *from, struct endpoint *endpoint)
{
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key)) {
		if (jsonread_is_null(from))
			jsonread_skip(from);
		else if (text_is(key, "serviceName"))
			endpoint->service = jsonread_text(from);
		else if (text_is(key, "ipv4") || text_is(key, "ipv6"))
			iptext_read(endpoint, jsonread_text(from));
		else if (text_is(key, "port"))
			endpoint->port = (uint16_t)jsonread_number(from);
		else
			jsonread_skip(from);
	}
}

static void get_annotations(struct jsonread *from, struct span_memory *memory)
{
	struct text key;

	jsonread_open(from, '[');
	while (jsonread_element(from)) {
		struct text value = {"", 0};
		int64_t time = 0;

		jsonread_open(from, '{');
		while (jsonread_key(from, &key)) {
			if (text_is(key, "timestamp"))
				time = jsonread_number(from);
			else if (text_is(key, "value"))
				value = jsonread_text(from);
			else
				jsonread_skip(from);
		}
		spanread_annotation(memory, spanread_ns(time), value);
	}
}

static void get_tags(struct jsonread *from, struct span_memory *memory)
{
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key))
		spanread_tag(memory, &(struct tag){key, jsonread_text(from), TAG_TEXT});
}

static void get_lines(struct jsonread *from, struct text key, struct span_memory *memory)
{
	if (text_is(key, "annotations"))
		get_annotations(from, memory);
	else if (text_is(key, "tags"))
		get_tags(from, memory);
	else
		jsonread_skip(from);
}

/* As Zipkin has it, null is the same as no member, but for the ids. */
static void get_member(struct jsonread *from, struct text key, struct span *span, struct span_memory *memory)
{
	if (text_is(key, "traceId")) {
		get_trace_id(from, span);
	} else if (text_is(key, "id")) {
		span->id = get_id(from);
	} else if (jsonread_is_null(from)) {
		jsonread_skip(from);
	} else if (text_is(key, "parentId")) {
		span->parent_id = get_id(from);
	} else if (text_is(key, "kind")) {
		span->kind = get_kind(from);
	} else if (text_is(key, "name")) {
		span->name = jsonread_text(from);
	} else if (text_is(key, "timestamp")) {
		span->timestamp = spanread_ns(jsonread_number(from));
	} else if (text_is(key, "duration")) {
		span->duration = spanread_ns(jsonread_number(from));
	} else if (text_is(key, "localEndpoint")) {
		get_endpoint(from, &span->local);
	} else if (text_is(key, "remoteEndpoint")) {
		get_endpoint(from, &span->remote);
		span->has_remote = true;
	} else if (text_is(key, "shared")) {
		span->shared = jsonread_bool(from);
	} else if (text_is(key, "debug")) {
		span->debug = jsonread_bool(from);
	} else {
		get_lines(from, key, memory);
	}
}

bool spanread_json(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct jsonread from = {.at = (const char *)bytes, .end = (const char *)bytes + size};
	struct text key;

	span_memory_clear(memory);
	from.room = (char *)buffer_reserve(&memory->texts, size);
	*span = (struct span){0};
	jsonread_open(&from, '{');
	while (jsonread_key(&from, &key))
		get_member(&from, key, span, memory);
	spanread_lines(memory, span);
	return jsonread_is_over(&from) && (span->trace_id || span->trace_id_high) && span->id;
}
