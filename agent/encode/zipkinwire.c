/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkinwire.h"

#include "net/tbinary.h"

/* What is shared while the fields come by. */
struct reading {
	struct tbinary_reader from;
	struct zipkinwire_span *span;
	const struct zipkinwire_sink *sink;
};

static struct text get_text(struct tbinary_reader *from)
{
	struct text text;

	text.data = (const char *)tbinary_get_string(from, &text.size);
	return text;
}

static uint16_t get_i16(struct tbinary_reader *from)
{
	unsigned high = tbinary_get_u8(from);

	return (uint16_t)(high << 8 | tbinary_get_u8(from));
}

static void get_host(struct tbinary_reader *from, struct zipkinwire_host *host)
{
	uint8_t type;
	int16_t id;

	*host = (struct zipkinwire_host){0};
	while (tbinary_get_field(from, &type, &id)) {
		if (id == 1 && type == TBINARY_I32)
			host->ipv4 = tbinary_get_i32(from);
		else if (id == 2 && type == TBINARY_I16)
			host->port = get_i16(from);
		else if (id == 3 && type == TBINARY_STRING)
			host->service = get_text(from);
		else if (id == 4 && type == TBINARY_STRING)
			host->ipv6 = get_text(from);
		else
			tbinary_skip(from, type);
	}
}

static void get_annotation(struct reading *is)
{
	struct zipkinwire_annotation annotation = {0};
	struct zipkinwire_host host;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (id == 1 && type == TBINARY_I64) {
			annotation.time = (int64_t)tbinary_get_i64(&is->from);
		} else if (id == 2 && type == TBINARY_STRING) {
			annotation.value = get_text(&is->from);
		} else if (id == 3 && type == TBINARY_STRUCT) {
			get_host(&is->from, &host);
			annotation.host = &host;
		} else {
			tbinary_skip(&is->from, type);
		}
	}
	is->sink->annotation(is->sink->data, &annotation);
}

static void get_tag(struct reading *is)
{
	struct zipkinwire_tag tag = {.type = ZIPKINWIRE_NO_TYPE};
	struct zipkinwire_host host;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING) {
			tag.key = get_text(&is->from);
		} else if (id == 2 && type == TBINARY_STRING) {
			tag.value = get_text(&is->from);
		} else if (id == 3 && type == TBINARY_I32) {
			tag.type = (int32_t)tbinary_get_i32(&is->from);
		} else if (id == 4 && type == TBINARY_STRUCT) {
			get_host(&is->from, &host);
			tag.host = &host;
		} else {
			tbinary_skip(&is->from, type);
		}
	}
	is->sink->tag(is->sink->data, &tag);
}

static void get_list(struct reading *is, void (*get)(struct reading *is))
{
	uint8_t type = tbinary_get_u8(&is->from);
	uint32_t count = tbinary_get_i32(&is->from);

	while (count-- && !tbinary_failed(&is->from)) {
		if (type == TBINARY_STRUCT)
			get(is);
		else
			tbinary_skip(&is->from, type);
	}
}

static void get_number(struct reading *is, int16_t id)
{
	struct zipkinwire_span *span = is->span;
	uint64_t number = tbinary_get_i64(&is->from);

	if (id == 1)
		span->trace_id = number;
	else if (id == 4)
		span->id = number;
	else if (id == 5)
		span->parent_id = number;
	else if (id == 10)
		span->timestamp = (int64_t)number;
	else if (id == 11)
		span->duration = (int64_t)number;
	else if (id == 12)
		span->trace_id_high = number;
}

size_t zipkinwire_read(
	struct zipkinwire_span *span, const uint8_t *bytes, size_t size, const struct zipkinwire_sink *sink)
{
	struct reading is = {.from = tbinary_read(bytes, size), .span = span, .sink = sink};
	uint8_t type;
	int16_t id;

	*span = (struct zipkinwire_span){0};
	while (tbinary_get_field(&is.from, &type, &id)) {
		if (type == TBINARY_I64)
			get_number(&is, id);
		else if (id == 3 && type == TBINARY_STRING)
			span->name = get_text(&is.from);
		else if (id == 6 && type == TBINARY_LIST)
			get_list(&is, get_annotation);
		else if (id == 8 && type == TBINARY_LIST)
			get_list(&is, get_tag);
		else if (id == 9 && type == TBINARY_BOOL)
			span->debug = tbinary_get_u8(&is.from) != 0;
		else
			tbinary_skip(&is.from, type);
	}
	return tbinary_failed(&is.from) ? 0 : is.from.at;
}
