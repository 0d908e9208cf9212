/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlptraces.h"

#include "encode/otlpfromjson.h"
#include "encode/otlpspan.h"
#include "net/otlpfields.h"

struct taking {
	struct otlptraces_memory *memory;
	const struct otlptraces_sink *sink;
	struct otlpcheck_found found;
	struct otlpspan_context process, scope; /* that of a scope has its process's, too */
};

static void take_span(struct taking *is, const struct protobuf_field *bytes)
{
	struct span_memory *memory = &is->memory->span;
	const char *refused;
	struct span span;

	span_memory_clear(memory);
	otlpspan_reserve(memory, &is->found);
	refused = otlpspan_read(&span, &is->scope, bytes, memory);
	if (refused)
		is->sink->refuse(is->sink->data, refused);
	else
		is->sink->take(is->sink->data, &span);
}

/* Calls @take for each message in a field of the number. */
static void each(struct taking *is, const struct protobuf_field *message, uint32_t number,
	void (*take)(struct taking *is, const struct protobuf_field *field))
{
	struct protobuf_reader from = protobuf_read(message->bytes, message->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			take(is, &field);
}

static void take_scope(struct taking *is, const struct protobuf_field *scope)
{
	struct span_memory *memory = &is->memory->scope;

	span_memory_clear(memory);
	otlpspan_reserve(memory, &is->found);
	is->scope = is->process;
	otlpspan_scope(&is->scope, scope, memory);
	each(is, scope, SCOPE_SPANS_SPANS, take_span);
}

static void take_process(struct taking *is, const struct protobuf_field *process)
{
	struct span_memory *memory = &is->memory->process;

	span_memory_clear(memory);
	otlpspan_reserve(memory, &is->found);
	is->process = (struct otlpspan_context){0};
	otlpspan_process(&is->process, process, memory);
	each(is, process, RESOURCE_SPANS_SCOPE_SPANS, take_scope);
}

bool otlptraces_check(const uint8_t *request, size_t size, struct otlpcheck_found *found)
{
	*found = (struct otlpcheck_found){0};
	return otlpcheck(&otlp_request, request, size, found);
}

void otlptraces_read_checked(const uint8_t *request, size_t size, const struct otlpcheck_found *found,
	struct otlptraces_memory *memory, const struct otlptraces_sink *sink)
{
	const struct protobuf_field whole = {.bytes = request, .size = size};
	struct taking is = {.memory = memory, .sink = sink, .found = *found};

	each(&is, &whole, REQUEST_RESOURCE_SPANS, take_process);
}

bool otlptraces_read(const uint8_t *request, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink)
{
	struct otlpcheck_found found;

	if (!otlptraces_check(request, size, &found))
		return false;
	otlptraces_read_checked(request, size, &found, memory, sink);
	return true;
}

bool otlptraces_read_process(const uint8_t *resource_spans, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink)
{
	const struct protobuf_field whole = {.bytes = resource_spans, .size = size};
	struct taking is = {.memory = memory, .sink = sink};

	if (!otlpcheck(&otlp_resource_spans, resource_spans, size, &is.found))
		return false;
	take_process(&is, &whole);
	return true;
}

bool otlptraces_read_json(const char *request, size_t size, struct otlptraces_memory *memory,
	const struct otlptraces_sink *sink)
{
	memory->request.size = 0;
	return otlpfromjson(&memory->request, &otlp_request, request, size, &memory->texts) &&
	       otlptraces_read(memory->request.data, memory->request.size, memory, sink);
}
