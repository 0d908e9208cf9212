/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlporacle.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "otlp.pb-c.h"

/* All that is made for one message; freed together. */
static GPtrArray *made;

static void *get(size_t size)
{
	void *memory = g_malloc0(size);

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
	ProtobufCBinaryData data = {size, get(16)};

	memcpy(data.data, size == 16 ? bytes : bytes + 1, size);
	return data;
}

/* Attributes */

struct attribute_list {
	size_t n;
	Otlp__KeyValue *of[64];
};

static Otlp__AnyValue *add(struct attribute_list *attributes, const char *key)
{
	Otlp__KeyValue *pair = get(sizeof(*pair));

	otlp__key_value__init(pair);
	pair->key = (char *)key;
	pair->value = get(sizeof(*pair->value));
	otlp__any_value__init(pair->value);
	attributes->of[attributes->n++] = pair;
	return pair->value;
}

static void add_string(struct attribute_list *attributes, const char *key, char *text)
{
	Otlp__AnyValue *value = add(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = text;
}

static void add_int(struct attribute_list *attributes, const char *key, int64_t number)
{
	Otlp__AnyValue *value = add(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value->int_value = number;
}

static void add_bool(struct attribute_list *attributes, const char *key, bool truth)
{
	Otlp__AnyValue *value = add(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
	value->bool_value = truth;
}

static void add_tag(struct attribute_list *attributes, const struct tag *tag)
{
	char *key = string(tag->key), *text = string(tag->value);
	Otlp__AnyValue *value;

	if (tag->type == TAG_INT) {
		add_int(attributes, key, g_ascii_strtoll(text, NULL, 10));
	} else if (tag->type == TAG_BOOL) {
		add_bool(attributes, key, !strcmp(text, "true"));
	} else if (tag->type == TAG_DOUBLE) {
		value = add(attributes, key);
		value->value_case = OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE;
		value->double_value = g_ascii_strtod(text, NULL);
	} else {
		add_string(attributes, key, text);
	}
}

static void add_address(struct attribute_list *attributes, const char *key, const struct endpoint *endpoint)
{
	char *text = get(INET6_ADDRSTRLEN);

	if (!endpoint->address_size)
		return;
	inet_ntop(
		endpoint->address_size == 4 ? AF_INET : AF_INET6, endpoint->address, text, INET6_ADDRSTRLEN);
	add_string(attributes, key, text);
}

static void add_remote(struct attribute_list *attributes, const struct span *span)
{
	bool client = span->kind == SPAN_SERVER;

	if (span->remote.service.size)
		add_string(attributes, "peer.service", string(span->remote.service));
	add_address(attributes, client ? "client.address" : "server.address", &span->remote);
	if (span->remote.port)
		add_int(attributes, client ? "client.port" : "server.port", span->remote.port);
}

static Otlp__KeyValue **keep(const struct attribute_list *attributes, size_t *count)
{
	Otlp__KeyValue **kept = get(sizeof(attributes->of));

	memcpy(kept, attributes->of, sizeof(attributes->of));
	*count = attributes->n;
	return kept;
}

/* The span */

static void set_events(Otlp__Span *to, const struct span *span)
{
	to->n_events = span->annotation_count;
	to->events = get(sizeof(*to->events) * span->annotation_count);
	for (size_t i = 0; i < span->annotation_count; i++) {
		Otlp__Event *event = to->events[i] = get(sizeof(*event));

		otlp__event__init(event);
		event->time_unix_nano = (uint64_t)span->annotations[i].time;
		event->name = string(span->annotations[i].value);
	}
}

static void set_status(Otlp__Span *to, const char *error)
{
	to->status = get(sizeof(*to->status));
	otlp__status__init(to->status);
	to->status->code = OTLP__STATUS_CODE__STATUS_CODE_ERROR;
	if (strcmp(error, "true") != 0)
		to->status->message = (char *)error;
}

static Otlp__Span *make_span(const struct span *span)
{
	static const Otlp__SpanKind kinds[] = {OTLP__SPAN_KIND__SPAN_KIND_INTERNAL,
		OTLP__SPAN_KIND__SPAN_KIND_CLIENT, OTLP__SPAN_KIND__SPAN_KIND_SERVER,
		OTLP__SPAN_KIND__SPAN_KIND_PRODUCER, OTLP__SPAN_KIND__SPAN_KIND_CONSUMER};
	struct attribute_list attributes = {0};
	Otlp__Span *to = get(sizeof(*to));

	otlp__span__init(to);
	to->trace_id = id(span->trace_id_high, span->trace_id, 16);
	to->span_id = id(0, span->id, 8);
	if (span->parent_id)
		to->parent_span_id = id(0, span->parent_id, 8);
	to->name = string(span->name);
	to->kind = kinds[span->kind];
	to->start_time_unix_nano = (uint64_t)span->timestamp;
	to->end_time_unix_nano = (uint64_t)(span->timestamp + span->duration);
	for (size_t i = 0; i < span->tag_count; i++) {
		if (span->tags[i].key.size == 5 && !memcmp(span->tags[i].key.data, "error", 5))
			set_status(to, string(span->tags[i].value));
		else
			add_tag(&attributes, &span->tags[i]);
	}
	if (span->has_remote)
		add_remote(&attributes, span);
	if (span->shared)
		add_bool(&attributes, "zipkin.shared", true);
	if (span->debug)
		add_bool(&attributes, "zipkin.debug", true);
	to->attributes = keep(&attributes, &to->n_attributes);
	set_events(to, span);
	to->flags = 1;
	return to;
}

static GByteArray *pack(const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	GByteArray *bytes = g_byte_array_new();

	g_byte_array_set_size(bytes, (guint)size);
	protobuf_c_message_pack(message, bytes->data);
	g_ptr_array_unref(made);
	return bytes;
}

GByteArray *otlporacle_span(const struct span *span)
{
	made = g_ptr_array_new_with_free_func(g_free);
	return pack(&make_span(span)->base);
}

/* The request */

static bool is_text(struct text one, struct text other)
{
	return one.size == other.size && !memcmp(one.data, other.data, one.size);
}

static bool same_process(const struct span *one, const struct span *other)
{
	return one->pid == other->pid && is_text(one->program, other->program) &&
	       is_text(one->local.service, other->local.service) && one->local.port == other->local.port &&
	       one->local.address_size == other->local.address_size &&
	       !memcmp(one->local.address, other->local.address, one->local.address_size);
}

static Otlp__Resource *make_resource(const struct span *span, const char *host, const char *version)
{
	Otlp__Resource *resource = get(sizeof(*resource));
	struct attribute_list attributes = {0};
	char *instance = get(200);

	otlp__resource__init(resource);
	add_string(&attributes, "service.name",
		span->local.service.size ? string(span->local.service) : (char *)"unknown_service");
	if (span->program.size)
		add_string(&attributes, "process.executable.name", string(span->program));
	add_address(&attributes, "network.local.address", &span->local);
	if (span->local.port)
		add_int(&attributes, "network.local.port", span->local.port);
	if (span->pid) {
		g_snprintf(instance, 200, "%s:%u", host, span->pid);
		add_int(&attributes, "process.pid", span->pid);
		add_string(&attributes, "service.instance.id", instance);
	}
	add_string(&attributes, "host.name", (char *)host);
	add_string(&attributes, "telemetry.sdk.name", (char *)"blkin");
	add_string(&attributes, "telemetry.sdk.language", (char *)"c");
	add_string(&attributes, "telemetry.sdk.version", (char *)version);
	resource->attributes = keep(&attributes, &resource->n_attributes);
	return resource;
}

static Otlp__ScopeSpans *make_scope(
	const struct span *first, const struct span *spans, size_t count, const char *version)
{
	Otlp__ScopeSpans *scope = get(sizeof(*scope));

	otlp__scope_spans__init(scope);
	scope->scope = get(sizeof(*scope->scope));
	otlp__instrumentation_scope__init(scope->scope);
	scope->scope->name = (char *)"blkin";
	scope->scope->version = (char *)version;
	scope->spans = get(sizeof(*scope->spans) * count);
	for (size_t i = 0; i < count; i++)
		if (same_process(first, &spans[i]))
			scope->spans[scope->n_spans++] = make_span(&spans[i]);
	return scope;
}

static bool was_before(const struct span *spans, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same_process(&spans[i], &spans[index]))
			return true;
	return false;
}

GByteArray *otlporacle_request(const struct span *spans, size_t count, const char *host, const char *version)
{
	Otlp__ExportTraceServiceRequest *request;

	made = g_ptr_array_new_with_free_func(g_free);
	request = get(sizeof(*request));
	otlp__export_trace_service_request__init(request);
	request->resource_spans = get(sizeof(*request->resource_spans) * count);
	for (size_t i = 0; i < count; i++) {
		Otlp__ResourceSpans *group;

		if (was_before(spans, i))
			continue;
		group = get(sizeof(*group));
		otlp__resource_spans__init(group);
		group->resource = make_resource(&spans[i], host, version);
		group->scope_spans = get(sizeof(*group->scope_spans));
		group->scope_spans[group->n_scope_spans++] = make_scope(&spans[i], spans, count, version);
		request->resource_spans[request->n_resource_spans++] = group;
	}
	return pack(&request->base);
}
