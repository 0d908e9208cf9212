/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading lines of OTLP's JSON: otlpjson.h. They become Protocol Buffers first, whose readers there are. */
#include "encode/jsonread.h"
#include "encode/otlp.h"
#include "encode/otlpattributes.h"
#include "encode/otlpfromjson.h"
#include "encode/otlpjson.h"
#include "encode/otlptraces.h"
#include "net/otlpfields.h"

struct taking {
	struct span_memory *memory;
	const struct otlpjson_sink *sink;
	struct otlptraces_memory whole; /* for what is not ours */
	struct buffer item;             /* of what is: net/otlpitem.h */
	bool good;
};

/* Calls @take for each message in a field of the number. */
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

/* Ours: what net/otlprequest.c has added goes again */

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

static void take_scope(struct taking *is, const struct protobuf_field *scope)
{
	each(is, scope, SCOPE_SPANS_SPANS, take_span);
}

static void take_resource(struct taking *is, const struct protobuf_field *resource)
{
	buffer_put(&is->item, resource->bytes, resource->size);
}

static void take_ours(struct taking *is, const struct protobuf_field *spans)
{
	is->item.size = 0;
	buffer_reserve(&is->item, OTLP_ITEM_HEAD);
	is->item.size = OTLP_ITEM_HEAD;
	each(is, spans, RESOURCE_SPANS_RESOURCE, take_resource);
	otlp_put_item_head(is->item.data, (uint32_t)is->item.size, 0);
	each(is, spans, RESOURCE_SPANS_SCOPE_SPANS, take_scope);
}

/* Of others */

static void take_whole(void *data, const struct span *span)
{
	struct taking *is = data;

	is->sink->take(is->sink->data, span);
}

static void refuse(void *data, const char *why)
{
	struct taking *is = data;

	(void)why;
	is->good = false;
}

static bool names_us(const struct protobuf_field *resource, struct buffer *texts)
{
	struct protobuf_reader from = protobuf_read(resource->bytes, resource->size);
	struct protobuf_field field;
	struct tag tag;

	while (protobuf_next(&from, &field)) {
		texts->size = 0;
		if (field.number == RESOURCE_ATTRIBUTES && field.type == PROTOBUF_BYTES &&
			otlpattributes_read(&tag, &field, texts) && text_is(tag.key, OTLP_SDK_NAME))
			return tag.type == TAG_TEXT && text_is(tag.value, OTLP_SDK_OURS);
	}
	return false;
}

static bool is_ours(struct taking *is, const struct protobuf_field *spans)
{
	struct protobuf_reader from = protobuf_read(spans->bytes, spans->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == RESOURCE_SPANS_RESOURCE && names_us(&field, &is->memory->texts))
			return true;
	return false;
}

static void take_process(struct taking *is, const struct protobuf_field *spans)
{
	const struct otlptraces_sink sink = {take_whole, refuse, is};

	if (is_ours(is, spans))
		take_ours(is, spans);
	else
		is->good &= otlptraces_read_process(spans->bytes, spans->size, &is->whole, &sink);
}

bool otlpjson_read(
	const char *line, size_t size, struct span_memory *memory, const struct otlpjson_sink *sink)
{
	struct taking is = {.memory = memory, .sink = sink};
	struct buffer *request = &is.whole.request;

	is.good = otlpfromjson(request, &otlp_request, line, size, &is.whole.texts);
	if (is.good)
		each(&is, &(struct protobuf_field){.bytes = request->data, .size = request->size},
			REQUEST_RESOURCE_SPANS, take_process);
	buffer_free(&is.item);
	otlptraces_memory_free(&is.whole);
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
