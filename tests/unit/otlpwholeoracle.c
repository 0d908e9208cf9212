/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlpwholeoracle.h"

#include <stdlib.h>
#include <string.h>

#include "core/value.h"
#include "otlp.pb-c.h"

/* All that is made for one message; freed together. */
static GPtrArray *made;

static void *get(size_t size)
{
	void *memory = g_malloc0(size + 1);

	g_ptr_array_add(made, memory);
	return memory;
}

static char *string(struct text text)
{
	char *copy = get(text.size + 1);

	if (text.size)
		memcpy(copy, text.data, text.size);
	return copy;
}

static ProtobufCBinaryData id(uint64_t high, uint64_t low, size_t size)
{
	uint64_t bytes[2] = {GUINT64_TO_BE(high), GUINT64_TO_BE(low)};
	ProtobufCBinaryData data = {high || low ? size : 0, get(16)};

	memcpy(data.data, size == 16 ? bytes : bytes + 1, size);
	return data;
}

static Otlp__AnyValue *value_of(const struct tag *tag);

static Otlp__KeyValue *pair_of(const struct tag *tag)
{
	Otlp__KeyValue *pair = get(sizeof(*pair));

	otlp__key_value__init(pair);
	pair->key = string(tag->key);
	pair->value = value_of(tag);
	return pair;
}

static Otlp__ArrayValue *array_of(struct text rest)
{
	Otlp__ArrayValue *array = get(sizeof(*array));
	struct tag value;

	otlp__array_value__init(array);
	array->values = get(sizeof(*array->values) * (rest.size + 1));
	while (value_next(&rest, false, &value))
		array->values[array->n_values++] = value_of(&value);
	return array;
}

static Otlp__KeyValueList *map_of(struct text rest)
{
	Otlp__KeyValueList *map = get(sizeof(*map));
	struct tag value;

	otlp__key_value_list__init(map);
	map->values = get(sizeof(*map->values) * (rest.size + 1));
	while (value_next(&rest, true, &value))
		map->values[map->n_values++] = pair_of(&value);
	return map;
}

static Otlp__AnyValue *value_of(const struct tag *tag)
{
	Otlp__AnyValue *value = get(sizeof(*value));

	otlp__any_value__init(value);
	switch (tag->type) {
	case TAG_TEXT:
		value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value->string_value = string(tag->value);
		break;
	case TAG_INT:
		value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value->int_value = g_ascii_strtoll(string(tag->value), NULL, 10);
		break;
	case TAG_DOUBLE:
		value->value_case = OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE;
		value->double_value = g_ascii_strtod(string(tag->value), NULL);
		break;
	case TAG_BOOL:
		value->value_case = OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
		value->bool_value = tag->value.size == 4;
		break;
	case TAG_BYTES:
		value->value_case = OTLP__ANY_VALUE__VALUE_BYTES_VALUE;
		value->bytes_value.len = tag->value.size;
		value->bytes_value.data = (uint8_t *)string(tag->value);
		break;
	case TAG_LIST:
		value->value_case = OTLP__ANY_VALUE__VALUE_ARRAY_VALUE;
		value->array_value = array_of(tag->value);
		break;
	case TAG_MAP:
		value->value_case = OTLP__ANY_VALUE__VALUE_KVLIST_VALUE;
		value->kvlist_value = map_of(tag->value);
		break;
	default:
		break;
	}
	return value;
}

static Otlp__KeyValue **pairs_of(const struct tag *tags, size_t count, size_t *n)
{
	Otlp__KeyValue **pairs = get(sizeof(*pairs) * count);

	for (size_t i = 0; i < count; i++)
		pairs[i] = pair_of(&tags[i]);
	*n = count;
	return pairs;
}

/* Of any message that has attributes. */
#define SET_ATTRIBUTES(to, attributes_)                                                                      \
	do {                                                                                                 \
		(to)->attributes = pairs_of((attributes_)->tags, (attributes_)->count, &(to)->n_attributes); \
		(to)->dropped_attributes_count = (attributes_)->dropped;                                     \
	} while (0)

static void set_events(Otlp__Span *to, const struct span *span)
{
	to->n_events = span->annotation_count;
	to->events = get(sizeof(*to->events) * span->annotation_count);
	for (size_t i = 0; i < span->annotation_count; i++) {
		Otlp__Event *event = to->events[i] = get(sizeof(*event));

		otlp__event__init(event);
		event->time_unix_nano = (uint64_t)span->annotations[i].time;
		event->name = string(span->annotations[i].value);
		if (span->more->of_annotations)
			SET_ATTRIBUTES(event, &span->more->of_annotations[i]);
	}
}

static void set_links(Otlp__Span *to, const struct span_more *more)
{
	to->n_links = more->link_count;
	to->links = get(sizeof(*to->links) * more->link_count);
	for (size_t i = 0; i < more->link_count; i++) {
		const struct span_link *from = &more->links[i];
		Otlp__Link *link = to->links[i] = get(sizeof(*link));

		otlp__link__init(link);
		link->trace_id = id(from->trace_id_high, from->trace_id, 16);
		link->span_id = id(0, from->id, 8);
		link->trace_state = string(from->trace_state);
		link->flags = from->flags;
		SET_ATTRIBUTES(link, &from->attributes);
	}
}

static void set_status(Otlp__Span *to, const struct span_more *more)
{
	if (!more->status && !more->status_message.size)
		return;
	to->status = get(sizeof(*to->status));
	otlp__status__init(to->status);
	to->status->code = (Otlp__StatusCode)more->status;
	to->status->message = string(more->status_message);
}

static Otlp__Span *span_of(const struct span *span)
{
	static const Otlp__SpanKind kinds[] = {OTLP__SPAN_KIND__SPAN_KIND_INTERNAL,
		OTLP__SPAN_KIND__SPAN_KIND_CLIENT, OTLP__SPAN_KIND__SPAN_KIND_SERVER,
		OTLP__SPAN_KIND__SPAN_KIND_PRODUCER, OTLP__SPAN_KIND__SPAN_KIND_CONSUMER};
	Otlp__Span *to = get(sizeof(*to));

	otlp__span__init(to);
	to->trace_id = id(span->trace_id_high, span->trace_id, 16);
	to->span_id = id(0, span->id, 8);
	to->parent_span_id = id(0, span->parent_id, 8);
	to->trace_state = string(span->more->trace_state);
	to->name = string(span->name);
	to->kind = span->more->no_kind ? OTLP__SPAN_KIND__SPAN_KIND_UNSPECIFIED : kinds[span->kind];
	to->start_time_unix_nano = (uint64_t)span->timestamp;
	to->end_time_unix_nano = (uint64_t)(span->timestamp + span->duration);
	to->attributes = pairs_of(span->tags, span->tag_count, &to->n_attributes);
	to->dropped_attributes_count = span->more->dropped_tags;
	set_events(to, span);
	to->dropped_events_count = span->more->dropped_annotations;
	set_links(to, span->more);
	to->dropped_links_count = span->more->dropped_links;
	set_status(to, span->more);
	to->flags = span->more->flags;
	return to;
}

/* Processes and scopes */

static GByteArray *pack(const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	GByteArray *bytes = g_byte_array_new();

	g_byte_array_set_size(bytes, (guint)size);
	protobuf_c_message_pack(message, bytes->data);
	return bytes;
}

static bool are_equal(const ProtobufCMessage *one, const ProtobufCMessage *other)
{
	GByteArray *first = pack(one), *second = pack(other);
	bool equal =
		first->len == second->len && (!first->len || !memcmp(first->data, second->data, first->len));

	g_byte_array_unref(first);
	g_byte_array_unref(second);
	return equal;
}

static Otlp__ResourceSpans *process_of(const struct span_more *more, size_t spans)
{
	Otlp__ResourceSpans *process = get(sizeof(*process));

	otlp__resource_spans__init(process);
	process->resource = get(sizeof(*process->resource));
	otlp__resource__init(process->resource);
	SET_ATTRIBUTES(process->resource, &more->resource);
	process->schema_url = string(more->resource_schema);
	process->scope_spans = get(sizeof(*process->scope_spans) * spans);
	return process;
}

static Otlp__ScopeSpans *scope_of(const struct span_more *more, size_t spans)
{
	Otlp__ScopeSpans *scope = get(sizeof(*scope));

	otlp__scope_spans__init(scope);
	scope->scope = get(sizeof(*scope->scope));
	otlp__instrumentation_scope__init(scope->scope);
	scope->scope->name = string(more->scope_name);
	scope->scope->version = string(more->scope_version);
	SET_ATTRIBUTES(scope->scope, &more->scope);
	scope->schema_url = string(more->scope_schema);
	scope->spans = get(sizeof(*scope->spans) * spans);
	return scope;
}

static Otlp__ScopeSpans *find_scope(Otlp__ResourceSpans *in, Otlp__ScopeSpans *scope)
{
	for (size_t i = 0; i < in->n_scope_spans; i++)
		if (are_equal(&in->scope_spans[i]->scope->base, &scope->scope->base) &&
			!strcmp(in->scope_spans[i]->schema_url, scope->schema_url))
			return in->scope_spans[i];
	return in->scope_spans[in->n_scope_spans++] = scope;
}

static Otlp__ResourceSpans *find_process(Otlp__ExportTraceServiceRequest *in, Otlp__ResourceSpans *process)
{
	for (size_t i = 0; i < in->n_resource_spans; i++)
		if (are_equal(&in->resource_spans[i]->resource->base, &process->resource->base) &&
			!strcmp(in->resource_spans[i]->schema_url, process->schema_url))
			return in->resource_spans[i];
	return in->resource_spans[in->n_resource_spans++] = process;
}

GByteArray *otlpwholeoracle_request(const struct span *const *spans, size_t count)
{
	Otlp__ExportTraceServiceRequest request = OTLP__EXPORT_TRACE_SERVICE_REQUEST__INIT;
	GByteArray *packed;

	made = g_ptr_array_new_with_free_func(g_free);
	request.resource_spans = get(sizeof(*request.resource_spans) * count);
	for (size_t i = 0; i < count; i++) {
		Otlp__ResourceSpans *process = find_process(&request, process_of(spans[i]->more, count));
		Otlp__ScopeSpans *scope = find_scope(process, scope_of(spans[i]->more, count));

		scope->spans[scope->n_spans++] = span_of(spans[i]);
	}
	packed = pack(&request.base);
	g_ptr_array_unref(made);
	return packed;
}

GByteArray *otlpwholeoracle_again(const uint8_t *request, size_t size)
{
	Otlp__ExportTraceServiceRequest *seen =
		otlp__export_trace_service_request__unpack(NULL, size, request);
	GByteArray *packed;

	if (!seen)
		return NULL;
	packed = pack(&seen->base);
	otlp__export_trace_service_request__free_unpacked(seen, NULL);
	return packed;
}
