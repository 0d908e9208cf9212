/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpspan.h"

#include <glib.h>

#include "base/pack.h"
#include "core/attributeendpoint.h"
#include "encode/spanread.h"
#include "net/otlpfields.h"

struct reading {
	struct span *span;
	struct span_more *more;
	struct span_memory *memory;
	const char *refused;
	struct attributes *of_annotations;
	struct span_link *links;
	struct tag *tags; /* its own */
	size_t events;    /* there are in it */
	struct protobuf_reader
		nested; /* from the first event, or link, to behind the last; at NULL: it has none */
};

static uint64_t id_of(const uint8_t *bytes)
{
	struct unpacker from = unpacker_of(bytes, 8);

	return unpack_u64(&from);
}

void otlpspan_reserve(struct span_memory *memory, const struct otlpcheck_found *most)
{
	buffer_reserve(&memory->tags, most->attributes * sizeof(struct tag));
	buffer_reserve(&memory->annotations, most->events * sizeof(struct annotation));
	buffer_reserve(&memory->texts, OTLPATTRIBUTES_TEXTS(most->bytes));
	buffer_reserve(&memory->more, sizeof(struct span_more) + most->events * sizeof(struct attributes) +
					      most->links * sizeof(struct span_link));
}

/* The process and the scope */

static void take_resource(
	struct otlpspan_context *context, const struct protobuf_field *resource, struct span_memory *memory)
{
	struct attributes *attributes = &context->more.resource;

	*attributes = otlpattributes_take(resource, RESOURCE_ATTRIBUTES, RESOURCE_DROPPED, memory);
	for (size_t i = 0; i < attributes->count; i++)
		endpoint_take_process(&context->span, &attributes->tags[i]);
}

void otlpspan_process(struct otlpspan_context *context, const struct protobuf_field *resource_spans,
	struct span_memory *memory)
{
	struct protobuf_reader from = protobuf_read(resource_spans->bytes, resource_spans->size);
	struct protobuf_field field, resource = {0};

	while (protobuf_next(&from, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == RESOURCE_SPANS_RESOURCE)
			resource = field;
		else if (field.number == RESOURCE_SPANS_SCHEMA)
			context->more.resource_schema = otlpattributes_text(&field);
	}
	take_resource(context, &resource, memory);
}

static void take_scope(struct span_more *more, const struct protobuf_field *scope, struct span_memory *memory)
{
	struct protobuf_reader from = protobuf_read(scope->bytes, scope->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == SCOPE_NAME)
			more->scope_name = otlpattributes_text(&field);
		else if (field.number == SCOPE_VERSION)
			more->scope_version = otlpattributes_text(&field);
	}
	more->scope = otlpattributes_take(scope, SCOPE_ATTRIBUTES, SCOPE_DROPPED, memory);
}

void otlpspan_scope(struct otlpspan_context *context, const struct protobuf_field *scope_spans,
	struct span_memory *memory)
{
	struct protobuf_reader from = protobuf_read(scope_spans->bytes, scope_spans->size);
	struct protobuf_field field, scope = {0};

	while (protobuf_next(&from, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == SCOPE_SPANS_SCOPE)
			scope = field;
		else if (field.number == SCOPE_SPANS_SCHEMA)
			context->more.scope_schema = otlpattributes_text(&field);
	}
	take_scope(&context->more, &scope, memory);
}

/* The span's own fields */

static void take_trace_id(struct reading *is, const struct protobuf_field *field)
{
	if (field->size != 16) {
		is->refused = "has a trace id that is not of 16 bytes";
		return;
	}
	is->span->trace_id_high = id_of(field->bytes);
	is->span->trace_id = id_of(field->bytes + 8);
}

static void take_id(struct reading *is, const struct protobuf_field *field)
{
	if (field->size == 8)
		is->span->id = id_of(field->bytes);
	else
		is->refused = "has an id that is not of 8 bytes";
}

static void take_parent(struct reading *is, const struct protobuf_field *field)
{
	if (field->size == 8)
		is->span->parent_id = id_of(field->bytes);
	else if (field->size)
		is->refused = "has a parent's id that is not of 8 bytes";
}

static void take_status(struct span_more *more, const struct protobuf_field *status)
{
	struct protobuf_reader from = protobuf_read(status->bytes, status->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		if (field.number == STATUS_MESSAGE && field.type == PROTOBUF_BYTES)
			more->status_message = otlpattributes_text(&field);
		else if (field.number == STATUS_CODE && field.type == PROTOBUF_VARINT)
			more->status = field.value <= SPAN_STATUS_ERROR ? (enum span_status)field.value
									: SPAN_STATUS_UNSET;
	}
}

static void take_bytes(struct reading *is, const struct protobuf_field *field)
{
	switch (field->number) {
	case SPAN_TRACE_ID:
		take_trace_id(is, field);
		break;
	case SPAN_ID:
		take_id(is, field);
		break;
	case SPAN_TRACE_STATE:
		is->more->trace_state = otlpattributes_text(field);
		break;
	case SPAN_PARENT_ID:
		take_parent(is, field);
		break;
	case SPAN_NAME:
		is->span->name = otlpattributes_text(field);
		break;
	case SPAN_ATTRIBUTES:
		otlpattributes_read(&is->tags[is->span->tag_count++], field, &is->memory->texts);
		break;
	case SPAN_EVENTS:
		is->events++;
		break;
	case SPAN_STATUS:
		take_status(is->more, field);
	}
}

static void take_kind(struct reading *is, uint64_t kind)
{
	static const enum span_kind kinds[] = {
		[OTLP_INTERNAL] = SPAN_LOCAL,
		[OTLP_CLIENT] = SPAN_CLIENT,
		[OTLP_SERVER] = SPAN_SERVER,
		[OTLP_PRODUCER] = SPAN_PRODUCER,
		[OTLP_CONSUMER] = SPAN_CONSUMER,
	};

	is->more->no_kind = kind < OTLP_INTERNAL || kind > OTLP_CONSUMER;
	is->span->kind = is->more->no_kind ? SPAN_LOCAL : kinds[kind];
}

static void take_number(struct reading *is, const struct protobuf_field *field)
{
	uint32_t number = (uint32_t)field->value;

	switch (field->number << 3 | field->type) {
	case SPAN_KIND << 3 | PROTOBUF_VARINT:
		take_kind(is, field->value);
		break;
	case SPAN_START << 3 | PROTOBUF_I64:
		is->span->timestamp = spanread_time((int64_t)field->value);
		break;
	case SPAN_END << 3 | PROTOBUF_I64:
		is->span->last_event = spanread_time((int64_t)field->value);
		break;
	case SPAN_DROPPED_ATTRIBUTES << 3 | PROTOBUF_VARINT:
		is->more->dropped_tags = number;
		break;
	case SPAN_DROPPED_EVENTS << 3 | PROTOBUF_VARINT:
		is->more->dropped_annotations = number;
		break;
	case SPAN_DROPPED_LINKS << 3 | PROTOBUF_VARINT:
		is->more->dropped_links += number;
		break;
	case SPAN_FLAGS << 3 | PROTOBUF_I32:
		is->more->flags = number;
	}
}

static void take_fields(struct reading *is, const struct protobuf_field *bytes)
{
	struct protobuf_reader from = protobuf_read(bytes->bytes, bytes->size);
	struct protobuf_field field;

	is->more->no_kind = true;
	for (const uint8_t *at = from.at; protobuf_next(&from, &field); at = from.at) {
		if (field.type != PROTOBUF_BYTES) {
			take_number(is, &field);
			continue;
		}
		take_bytes(is, &field);
		if (field.number == SPAN_EVENTS || field.number == SPAN_LINKS) {
			is->nested.at = is->nested.at ? is->nested.at : at;
			is->nested.end = from.at;
		}
	}
	is->memory->tags.size += is->span->tag_count * sizeof(*is->tags);
	is->span->duration = is->span->last_event - is->span->timestamp;
	is->span->last_event = MAX(is->span->last_event, is->span->timestamp);
}

/* Events and links */

static void take_event(struct reading *is, const struct protobuf_field *event)
{
	struct protobuf_reader from = protobuf_read(event->bytes, event->size);
	struct attributes *attributes = &is->of_annotations[is->span->annotation_count++];
	struct annotation annotation = {0, {"", 0}};
	struct protobuf_field field;
	bool more = false;

	*attributes = (struct attributes){0};
	while (protobuf_next(&from, &field)) {
		more |= field.number == EVENT_ATTRIBUTES || field.number == EVENT_DROPPED;
		if (field.number == EVENT_TIME && field.type == PROTOBUF_I64)
			annotation.time = (int64_t)field.value;
		else if (field.number == EVENT_NAME && field.type == PROTOBUF_BYTES)
			annotation.value = otlpattributes_text(&field);
	}
	buffer_put(&is->memory->annotations, &annotation, sizeof(annotation));
	if (more)
		*attributes = otlpattributes_take(event, EVENT_ATTRIBUTES, EVENT_DROPPED, is->memory);
	if (attributes->count || attributes->dropped)
		is->more->of_annotations = is->of_annotations;
}

/* False if it is none: an id is of another size. */
static bool read_link(struct span_link *link, const struct protobuf_field *bytes)
{
	struct protobuf_reader from = protobuf_read(bytes->bytes, bytes->size);
	struct protobuf_field field;
	bool good = true;

	*link = (struct span_link){.trace_state = {"", 0}};
	while (protobuf_next(&from, &field)) {
		if (field.number == LINK_FLAGS && field.type == PROTOBUF_I32)
			link->flags = (uint32_t)field.value;
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == LINK_TRACE_STATE)
			link->trace_state = otlpattributes_text(&field);
		else if (field.number == LINK_TRACE_ID && field.size == 16) {
			link->trace_id_high = id_of(field.bytes);
			link->trace_id = id_of(field.bytes + 8);
		} else if (field.number == LINK_ID && field.size == 8)
			link->id = id_of(field.bytes);
		else if (field.number == LINK_TRACE_ID || field.number == LINK_ID)
			good &= !field.size;
	}
	return good;
}

static void take_link(struct reading *is, const struct protobuf_field *bytes)
{
	struct span_link *link = &is->links[is->more->link_count];

	if (!read_link(link, bytes)) {
		is->more->dropped_links++;
		return;
	}
	link->attributes = otlpattributes_take(bytes, LINK_ATTRIBUTES, LINK_DROPPED, is->memory);
	is->more->link_count++;
}

/* They come last, so that the span's own attributes stand together. */
static void take_nested(struct reading *is)
{
	struct protobuf_field field;

	is->of_annotations = (struct attributes *)(void *)(is->more + 1);
	is->links = (struct span_link *)(void *)(is->of_annotations + is->events);
	while (is->nested.at && protobuf_next(&is->nested, &field)) {
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == SPAN_EVENTS)
			take_event(is, &field);
		else if (field.number == SPAN_LINKS)
			take_link(is, &field);
	}
	is->more->links = is->links;
}

const char *otlpspan_read(struct span *span, const struct otlpspan_context *context,
	const struct protobuf_field *bytes, struct span_memory *memory)
{
	struct span_more *more = (struct span_more *)(void *)(memory->more.data + memory->more.size);
	struct tag *tags = (struct tag *)(void *)(memory->tags.data + memory->tags.size);
	struct reading is = {.span = span, .more = more, .memory = memory, .tags = tags};

	*span = context->span;
	*more = context->more;
	span->tags = tags;
	take_fields(&is, bytes);
	if (!is.refused && !span->id)
		is.refused = "has no id";
	if (!is.refused && !span->trace_id && !span->trace_id_high)
		is.refused = "has no trace id";
	if (is.refused)
		return is.refused;
	span->annotations =
		(const struct annotation *)(void *)(memory->annotations.data + memory->annotations.size);
	take_nested(&is);
	for (size_t i = 0; i < span->tag_count; i++)
		endpoint_take_remote(span, &span->tags[i]);
	span->more = more;
	return NULL;
}

void otlpspan_nested(struct span *span, struct span_more *more, const struct otlpcheck_found *most,
	const struct protobuf_field *bytes, struct span_memory *memory)
{
	struct reading is = {.span = span,
		.more = more,
		.memory = memory,
		.events = most->events,
		.nested = protobuf_read(bytes->bytes, bytes->size)};

	span->annotations =
		(const struct annotation *)(void *)(memory->annotations.data + memory->annotations.size);
	span->annotation_count = 0;
	take_nested(&is);
}
