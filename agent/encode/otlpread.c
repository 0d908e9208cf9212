/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an item of otlp.h: spanread.h. */
#include "base/pack.h"
#include "core/attributeendpoint.h"
#include "encode/otlpcheck.h"
#include "encode/otlpspan.h"
#include "encode/spanread.h"
#include "net/otlpfields.h"
#include "net/otlpitem.h"

struct reading {
	struct span *span;
	struct span_memory *memory;
	bool failed;
	bool has_more; /* what Zipkin has no word for, and of that: */
	struct text trace_state;
	enum span_status status;
};

static uint64_t id_of(struct reading *is, const uint8_t *bytes, size_t size)
{
	struct unpacker from = unpacker_of(bytes, size);
	uint64_t id = unpack_u64(&from);

	is->failed |= size != 8;
	return id;
}

/* Attributes */

/* What no version of the agent has written is a text here, an empty one: maps, bytes. One that is not finite
 * is a text, too. */
static struct tag read_attribute(struct reading *is, const struct protobuf_field *attribute)
{
	struct tag tag;

	is->failed |= !otlpattributes_read(&tag, attribute, &is->memory->texts);
	is->has_more |= tag.type == TAG_LIST;
	if (tag.type >= TAG_BYTES && tag.type != TAG_LIST)
		tag = (struct tag){tag.key, {"", 0}, TAG_TEXT};
	if (tag.type == TAG_DOUBLE && (*tag.value.data == 'N' || tag.value.data[tag.value.size - 1] == 'y'))
		tag.type = TAG_TEXT;
	return tag;
}

static void take_attribute(struct reading *is, const struct protobuf_field *field)
{
	struct tag tag = read_attribute(is, field);
	struct span *span = is->span;

	if (text_is(tag.key, OTLP_SHARED) && tag.type == TAG_BOOL)
		span->shared = true;
	else if (text_is(tag.key, OTLP_DEBUG) && tag.type == TAG_BOOL)
		span->debug = true;
	else if (!endpoint_take_remote(span, &tag))
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
			value = otlpattributes_text(&field);
		else if (field.number == EVENT_ATTRIBUTES)
			is->has_more = true;
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
			error.value = otlpattributes_text(&field);
		else if (field.number == STATUS_CODE && field.type == PROTOBUF_VARINT)
			failed = field.value == STATUS_ERROR;
		if (field.number == STATUS_CODE && field.value == SPAN_STATUS_OK) {
			is->status = SPAN_STATUS_OK;
			is->has_more = true;
		}
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
		span->name = otlpattributes_text(field);
	else if (field->number == SPAN_ATTRIBUTES)
		take_attribute(is, field);
	else if (field->number == SPAN_EVENTS)
		take_event(is, field);
	else if (field->number == SPAN_STATUS)
		take_status(is, field);
	else if (field->number == SPAN_TRACE_STATE)
		is->trace_state = otlpattributes_text(field);
	is->has_more |= field->number == SPAN_TRACE_STATE || field->number == SPAN_LINKS;
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
	return text_is(key, OTLP_HOST) || text_is(key, OTLP_INSTANCE) || text_is(key, OTLP_SDK_NAME) ||
	       text_is(key, OTLP_SDK_LANGUAGE) || text_is(key, OTLP_SDK_VERSION);
}

/* What the span has no place for, as an output's `tags`, is a tag. */
static void take_resource(struct reading *is, const struct tag *tag)
{
	struct span *span = is->span;

	if (is_of_wire(tag->key))
		return;
	if (!endpoint_take_process(span, tag))
		spanread_tag(is->memory, tag);
	else if (text_is(span->local.service, OTLP_NO_SERVICE))
		span->local.service = (struct text){"", 0};
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

/* Reads what Zipkin has no word for, of a span whose lines are read. Its tags move. */
static void read_more(struct reading *is, const struct otlpitem *item)
{
	const struct protobuf_field bytes = {.bytes = item->span, .size = item->span_size};
	struct span_memory *memory = is->memory;
	struct otlpcheck_found most = {0};
	struct span_more *more;

	is->failed |= !otlpcheck(&otlp_span, item->span, item->span_size, &most);
	if (is->failed)
		return;
	buffer_reserve(&memory->tags, most.attributes * sizeof(struct tag));
	buffer_reserve(&memory->annotations, most.events * sizeof(struct annotation));
	more = (struct span_more *)(void *)buffer_reserve(
		&memory->more, sizeof(*more) + most.events * sizeof(struct attributes) +
				       most.links * sizeof(struct span_link));
	*more = (struct span_more){
		.ours = true, .trace_state = is->trace_state, .status = is->status, .flags = OTLP_SAMPLED};
	spanread_lines(memory, is->span);
	otlpspan_nested(is->span, more, &most, &bytes, memory);
	is->span->more = more;
}

/* What the agent has made up. */
static bool read_made(struct span *span, const struct otlpitem *item, struct span_memory *memory)
{
	struct reading is = {.span = span, .memory = memory};

	/* twice: see read_more */
	buffer_reserve(&memory->texts, 2 * OTLPATTRIBUTES_TEXTS(item->process_size + item->span_size));
	*span = (struct span){.pid = item->pid};
	take_process(&is, protobuf_read(item->process, item->process_size));
	take_span(&is, protobuf_read(item->span, item->span_size));
	spanread_lines(memory, span);
	if (is.has_more)
		read_more(&is, item);
	return !is.failed && span->id && (span->trace_id || span->trace_id_high);
}

/* Sums what the parts need. */
static bool check(
	const struct otlp_message *of, const struct protobuf_field *part, struct otlpcheck_found *sum)
{
	struct otlpcheck_found most = {0};
	bool good = otlpcheck(of, part->bytes, part->size, &most);

	sum->attributes += most.attributes;
	sum->events += most.events;
	sum->links += most.links;
	sum->bytes += most.bytes;
	return good;
}

/* What an SDK has sent. */
static bool read_whole(struct span *span, const struct otlpitem *item, struct span_memory *memory)
{
	const struct protobuf_field process = {.bytes = item->process, .size = item->process_size},
				    scope = {.bytes = item->scope, .size = item->scope_size},
				    its_span = {.bytes = item->span, .size = item->span_size};
	struct otlpspan_context context = {0};
	struct otlpcheck_found sum = {0};

	if (!check(&otlp_resource_spans, &process, &sum) || !check(&otlp_scope_spans, &scope, &sum) ||
		!check(&otlp_span, &its_span, &sum))
		return false;
	otlpspan_reserve(memory, &sum);
	otlpspan_process(&context, &process, memory);
	otlpspan_scope(&context, &scope, memory);
	return !otlpspan_read(span, &context, &its_span, memory);
}

bool spanread_otlp(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct otlpitem item;

	if (!otlpitem_read(&item, bytes, size))
		return false;
	span_memory_clear(memory);
	return item.whole ? read_whole(span, &item, memory) : read_made(span, &item, memory);
}
