/* SPDX-License-Identifier: BSD-2-Clause */
/* What a request becomes, before it does: otlp.h. A few bytes of one may stand for many in memory. */
#include "encode/otlpattributes.h"
#include "encode/otlpschema.h"
#include "inlet/otlp/otlp.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* What a record has beside the bytes that the request has: for each span, and for what may be empty there. */
#define SPAN_BYTES 128
#define ATTRIBUTE_BYTES 8
#define EVENT_BYTES 16
#define LINK_BYTES 32
/* For a resource or scope without spans: it is work all the same. */
#define EMPTY_BYTES 64

struct weighing {
	size_t records;
	size_t reading; /* the most that one message takes */
};

static bool is_little(const struct weighing *is)
{
	return is->records <= OTLP_RECORDS_MAX && is->reading <= OTLP_READING_MAX;
}

/* What is in a resource, a scope or a span. */
struct parts {
	size_t attributes, events, links;
};

/* Of more it is known that they are too many. */
#define PARTS_MAX (OTLP_READING_MAX / sizeof(struct annotation))

static void count_parts(
	const struct otlp_message *of, const struct protobuf_field *message, struct parts *parts)
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field;

	while (parts->attributes + parts->events + parts->links <= PARTS_MAX &&
		protobuf_next(&from, &field)) {
		const struct otlp_field *known =
			field.type == PROTOBUF_BYTES ? otlp_field_of(of, field.number) : NULL;

		if (!known || !known->of)
			continue;
		parts->attributes += known->of == &otlp_key_value;
		parts->events += known->of == &otlp_event;
		parts->links += known->of == &otlp_link;
		if (known->of == &otlp_event || known->of == &otlp_link)
			count_parts(known->of, &field, parts);
	}
}

/* Returns what it takes in a record. */
static size_t weigh(struct weighing *is, const struct otlp_message *of, const struct protobuf_field *message)
{
	struct parts parts = {0};
	size_t reading;

	count_parts(of, message, &parts);
	reading = OTLPATTRIBUTES_TEXTS(message->size) + parts.attributes * sizeof(struct tag) +
		  parts.events * (sizeof(struct annotation) + sizeof(struct attributes)) +
		  parts.links * sizeof(struct span_link);
	is->reading = MAX(is->reading, reading);
	return message->size + parts.attributes * ATTRIBUTE_BYTES + parts.events * EVENT_BYTES +
	       parts.links * LINK_BYTES;
}

/* What the spans of a process, or a scope, have of it each: all of its fields that are not these. */
static size_t weigh_shared(struct weighing *is, const struct otlp_message *of,
	const struct protobuf_field *message, uint32_t own)
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field;
	size_t sum = 0;

	while (protobuf_next(&from, &field)) {
		const struct otlp_field *known = otlp_field_of(of, field.number);

		if (field.type == PROTOBUF_BYTES && field.number != own)
			sum += known && known->of ? weigh(is, known->of, &field) : field.size;
	}
	return sum;
}

static void weigh_scope(struct weighing *is, const struct protobuf_field *scope, size_t shared)
{
	struct protobuf_reader from = protobuf_read(scope->bytes, scope->size);
	struct protobuf_field field;

	shared += weigh_shared(is, &otlp_scope_spans, scope, SCOPE_SPANS_SPANS) + SPAN_BYTES;
	is->records += EMPTY_BYTES;
	while (is_little(is) && protobuf_next(&from, &field))
		if (field.type == PROTOBUF_BYTES && field.number == SCOPE_SPANS_SPANS)
			is->records += shared + weigh(is, &otlp_span, &field);
}

static void weigh_process(struct weighing *is, const struct protobuf_field *process)
{
	size_t shared = weigh_shared(is, &otlp_resource_spans, process, RESOURCE_SPANS_SCOPE_SPANS);
	struct protobuf_reader from = protobuf_read(process->bytes, process->size);
	struct protobuf_field field;

	is->records += EMPTY_BYTES;
	while (is_little(is) && protobuf_next(&from, &field))
		if (field.type == PROTOBUF_BYTES && field.number == RESOURCE_SPANS_SCOPE_SPANS)
			weigh_scope(is, &field, shared);
}

bool otlp_weigh(const uint8_t *request, size_t size, size_t *weight)
{
	struct protobuf_reader from = protobuf_read(request, size);
	struct protobuf_field field;
	struct weighing is = {0};

	while (is_little(&is) && protobuf_next(&from, &field))
		if (field.type == PROTOBUF_BYTES && field.number == REQUEST_RESOURCE_SPANS)
			weigh_process(&is, &field);
	*weight = MAX(is.records, size);
	return is_little(&is);
}
