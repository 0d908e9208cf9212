/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlplogs.h"

#include "net/otlpfields.h"
#include "net/protobuf.h"

/* Of what stands before a record, and before what it is in. */
#define HEADS (3 * (PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX))

struct reading {
	struct buffer *room; /* the process, the scope, and behind both the request */
	size_t process_size, scope_size;
	void (*take)(void *data, const uint8_t *payload, size_t size);
	void *data;
};

bool otlplogs_check(const uint8_t *request, size_t size, struct otlpcheck_found *found)
{
	*found = (struct otlpcheck_found){0};
	return otlpcheck(&otlp_logs_request, request, size, found);
}

/* Appends all fields of the message but the lists of @number, as they stand there. */
static size_t put_others(struct buffer *out, const struct protobuf_field *message, uint32_t number)
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	const size_t before = out->size;
	struct protobuf_field field;

	for (const uint8_t *at = from.at; protobuf_next(&from, &field); at = from.at)
		if (field.number != number || field.type != PROTOBUF_BYTES)
			buffer_put(out, at, (size_t)(from.at - at));
	return out->size - before;
}

static void take_record(struct reading *is, const struct protobuf_field *record)
{
	const size_t start = is->process_size + is->scope_size,
		     scope = is->scope_size + protobuf_bytes_size(record->size),
		     process = is->process_size + protobuf_bytes_size(scope);
	uint8_t *payload, *to;

	is->room->size = start;
	payload = to = buffer_reserve(is->room, HEADS + start + record->size);
	to = protobuf_put_head(to, REQUEST_RESOURCE_SPANS, process);
	memcpy(to, is->room->data, is->process_size);
	to = protobuf_put_head(to + is->process_size, RESOURCE_SPANS_SCOPE_SPANS, scope);
	memcpy(to, is->room->data + is->process_size, is->scope_size);
	to = protobuf_put_bytes(to + is->scope_size, SCOPE_SPANS_SPANS, record->bytes, record->size);
	is->take(is->data, payload, (size_t)(to - payload));
}

/* Calls @take for each message in a field of the number. */
static void each(struct reading *is, const struct protobuf_field *message, uint32_t number,
	void (*take)(struct reading *is, const struct protobuf_field *field))
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			take(is, &field);
}

static void take_scope(struct reading *is, const struct protobuf_field *scope)
{
	is->room->size = is->process_size;
	is->scope_size = put_others(is->room, scope, SCOPE_SPANS_SPANS);
	each(is, scope, SCOPE_SPANS_SPANS, take_record);
}

static void take_process(struct reading *is, const struct protobuf_field *process)
{
	is->room->size = 0;
	is->process_size = put_others(is->room, process, RESOURCE_SPANS_SCOPE_SPANS);
	each(is, process, RESOURCE_SPANS_SCOPE_SPANS, take_scope);
}

void otlplogs_read(const uint8_t *request, size_t size, struct buffer *room,
	void (*take)(void *data, const uint8_t *payload, size_t size), void *data)
{
	const struct protobuf_field whole = {.bytes = request, .size = size};
	struct reading is = {.room = room, .take = take, .data = data};

	buffer_reserve(room, 1);
	each(&is, &whole, REQUEST_RESOURCE_SPANS, take_process);
}

/* The message in the last field, if that has the number and no other has; false if not. @others are the bytes
 * before it. */
static bool take_last(struct protobuf_field *message, uint32_t number, struct protobuf_field *others)
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field = {0}, last = {0};

	for (const uint8_t *at = from.at; protobuf_next(&from, &field); at = from.at) {
		if (last.bytes)
			return false;
		if (field.number != number || field.type != PROTOBUF_BYTES)
			continue;
		last = field;
		*others = (struct protobuf_field){
			.bytes = message->bytes, .size = (size_t)(at - message->bytes)};
	}
	*message = last;
	return last.bytes && !from.failed;
}

bool otlplogs_split(const uint8_t *payload, size_t size, struct otlpitem *item)
{
	struct protobuf_field message = {.bytes = payload, .size = size}, none, process, scope;
	struct otlpcheck_found found;

	if (!otlplogs_check(payload, size, &found) || !take_last(&message, REQUEST_RESOURCE_SPANS, &none) ||
		none.size || !take_last(&message, RESOURCE_SPANS_SCOPE_SPANS, &process) ||
		!take_last(&message, SCOPE_SPANS_SPANS, &scope))
		return false;
	*item = (struct otlpitem){.process = process.bytes,
		.process_size = (uint32_t)process.size,
		.scope = scope.bytes,
		.scope_size = (uint32_t)scope.size,
		.span = message.bytes,
		.span_size = message.size,
		.whole = true};
	return true;
}
