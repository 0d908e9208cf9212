/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a span in TBinary: spanread.h. */
#include <string.h>

#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "wire/tbinary.h"

/* What is found while the fields come by. */
struct reading {
	struct tbinary_reader from;
	struct span *span;
	struct spanread_memory *memory;
	bool has_host;      /* the local endpoint was there */
	bool timed;         /* the span's own timestamp was */
	int64_t begin, end; /* of the core annotations; 0: not there */
};

static struct text get_text(struct tbinary_reader *from)
{
	struct text text;

	text.data = (const char *)tbinary_get_string(from, &text.size);
	return text;
}

static uint64_t get_i64(struct tbinary_reader *from)
{
	uint64_t high = tbinary_get_i32(from);

	return high << 32 | tbinary_get_i32(from);
}

static uint16_t get_i16(struct tbinary_reader *from)
{
	unsigned high = tbinary_get_u8(from);

	return (uint16_t)(high << 8 | tbinary_get_u8(from));
}

static void get_endpoint(struct tbinary_reader *from, struct endpoint *endpoint)
{
	struct text long_address;
	uint32_t address;
	uint8_t type;
	int16_t id;

	*endpoint = (struct endpoint){0};
	while (tbinary_get_field(from, &type, &id)) {
		if (id == 1 && type == TBINARY_I32) {
			address = tbinary_get_i32(from);
			tbinary_put_i32(endpoint->address, address);
			endpoint->address_size = address ? 4 : endpoint->address_size;
		} else if (id == 2 && type == TBINARY_I16) {
			endpoint->port = get_i16(from);
		} else if (id == 3 && type == TBINARY_STRING) {
			endpoint->service = get_text(from);
		} else if (id == 4 && type == TBINARY_STRING) {
			long_address = get_text(from);
			if (long_address.size == 16) {
				memcpy(endpoint->address, long_address.data, 16);
				endpoint->address_size = 16;
			}
		} else {
			tbinary_skip(from, type);
		}
	}
}

static const struct core {
	char words[3];
	enum span_kind kind;
	bool ends;
} cores[] = {
	{"cs", SPAN_CLIENT, false},
	{"cr", SPAN_CLIENT, true},
	{"sr", SPAN_SERVER, false},
	{"ss", SPAN_SERVER, true},
	{"ms", SPAN_PRODUCER, false},
	{"mr", SPAN_CONSUMER, false},
};

static const struct core *find_core(struct text value)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++)
		if (value.size == 2 && !memcmp(value.data, cores[i].words, 2))
			return &cores[i];
	return NULL;
}

/* The kind is that of the first core annotation; its begin and end are no annotations, once each. */
static void take_annotation(struct reading *is, int64_t time, struct text value, bool with_host)
{
	const struct core *core = with_host ? find_core(value) : NULL;
	int64_t *edge = core && core->ends ? &is->end : &is->begin;

	if (core && is->span->kind == SPAN_LOCAL)
		is->span->kind = core->kind;
	if (core && core->kind == is->span->kind && !*edge)
		*edge = time;
	else
		spanread_annotation(is->memory, spanread_ns(time), value);
}

static void get_annotation(struct reading *is)
{
	struct text value = {"", 0};
	bool with_host = false;
	int64_t time = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (id == 1 && type == TBINARY_I64) {
			time = (int64_t)get_i64(&is->from);
		} else if (id == 2 && type == TBINARY_STRING) {
			value = get_text(&is->from);
		} else if (id == 3 && type == TBINARY_STRUCT) {
			get_endpoint(&is->from, &is->span->local);
			is->has_host = with_host = true;
		} else {
			tbinary_skip(&is->from, type);
		}
	}
	take_annotation(is, time, value, with_host);
}

static bool is_text(struct text text, const char *word)
{
	return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

/* The remote endpoint is in `sa`, `ca` or `ma`, a truth value; an empty `lc` has just the place. */
static void take_tag(
	struct reading *is, struct text key, struct text value, uint32_t kind, const struct endpoint *host)
{
	bool is_place = host && is_text(key, "lc") && !value.size;

	if (host && kind == 0 && (is_text(key, "sa") || is_text(key, "ca") || is_text(key, "ma"))) {
		is->span->has_remote = true;
		is->span->remote = *host;
		return;
	}
	if (host && !is->has_host) {
		is->span->local = *host;
		is->has_host = true;
	}
	if (!is_place)
		spanread_tag(is->memory, &(struct tag){key, value, TAG_TEXT});
}

static void get_tag(struct reading *is)
{
	struct text key = {"", 0}, value = {"", 0};
	struct endpoint host;
	bool with_host = false;
	uint32_t kind = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING) {
			key = get_text(&is->from);
		} else if (id == 2 && type == TBINARY_STRING) {
			value = get_text(&is->from);
		} else if (id == 3 && type == TBINARY_I32) {
			kind = tbinary_get_i32(&is->from);
		} else if (id == 4 && type == TBINARY_STRUCT) {
			get_endpoint(&is->from, &host);
			with_host = true;
		} else {
			tbinary_skip(&is->from, type);
		}
	}
	take_tag(is, key, value, kind, with_host ? &host : NULL);
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

static void get_number_field(struct reading *is, int16_t id)
{
	struct span *span = is->span;
	uint64_t number = get_i64(&is->from);

	if (id == 1)
		span->trace_id = number;
	else if (id == 4)
		span->id = number;
	else if (id == 5)
		span->parent_id = number;
	else if (id == 10)
		span->timestamp = spanread_ns((int64_t)number);
	else if (id == 11)
		span->duration = spanread_ns((int64_t)number);
	else if (id == 12)
		span->trace_id_high = number;
	is->timed |= id == 10;
}

static void get_span(struct reading *is)
{
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (type == TBINARY_I64)
			get_number_field(is, id);
		else if (id == 3 && type == TBINARY_STRING)
			is->span->name = get_text(&is->from);
		else if (id == 6 && type == TBINARY_LIST)
			get_list(is, get_annotation);
		else if (id == 8 && type == TBINARY_LIST)
			get_list(is, get_tag);
		else if (id == 9 && type == TBINARY_BOOL)
			is->span->debug = tbinary_get_u8(&is->from) != 0;
		else
			tbinary_skip(&is->from, type);
	}
}

/* The server's half of a shared span has no times of its own. */
static void settle_times(struct reading *is)
{
	struct span *span = is->span;

	if (is->timed)
		return;
	span->shared = true;
	span->timestamp = spanread_ns(is->begin);
	span->duration = is->begin && is->end > is->begin ? spanread_ns(is->end) - span->timestamp : 0;
}

/* What the encoder has added follows from the tag `error`. */
static void drop_reason(struct spanread_memory *memory)
{
	struct tag *tags = (struct tag *)(void *)memory->tags.data, *error = NULL, *added = NULL;
	size_t count = memory->tags.size / sizeof(*tags);

	for (size_t i = 0; i < count; i++) {
		if (is_text(tags[i].key, "error"))
			error = &tags[i];
		else if (is_text(tags[i].key, ZIPKIN_STATUS_DESCRIPTION))
			added = &tags[i];
	}
	if (!error || !added || error->value.size != added->value.size ||
		memcmp(error->value.data, added->value.data, error->value.size) != 0)
		return;
	memmove(added, added + 1, (size_t)(tags + count - added - 1) * sizeof(*tags));
	memory->tags.size -= sizeof(*tags);
}

bool spanread_thrift(struct span *span, const uint8_t *bytes, size_t size, struct spanread_memory *memory)
{
	struct reading is = {.from = tbinary_read(bytes, size), .span = span, .memory = memory};

	spanread_clear(memory);
	*span = (struct span){0};
	get_span(&is);
	settle_times(&is);
	drop_reason(memory);
	spanread_lines(memory, span);
	return !tbinary_failed(&is.from) && !tbinary_left(&is.from);
}
