/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a span in TBinary: spanread.h. */
#include <string.h>

#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "net/tbinary.h"

/* Types of binary annotations. */
enum { TYPE_BOOL = 0, TYPE_STRING = 6 };

/* Annotations that may say the span's times; each stays an annotation if it does not. */
enum edge { BEGIN, END, WIRE_SENT, WIRE_RECEIVED, EDGES };

struct found {
	bool is_there;
	int64_t time; /* ns */
	size_t at;    /* among the annotations */
};

/* Whose address it is, when that is a tag: the server's, the client's, the broker's. */
enum remote { REMOTE_SERVER, REMOTE_CLIENT, REMOTE_BROKER, REMOTES };

/* What is found while the fields come by. */
struct reading {
	struct tbinary_reader from;
	struct span *span;
	struct span_memory *memory;
	bool has_host; /* the local endpoint was there */
	struct found edges[EDGES];
	bool has_remote[REMOTES];
	struct endpoint remotes[REMOTES];
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
	enum edge edge;
} cores[] = {
	{"cs", SPAN_CLIENT, BEGIN},
	{"cr", SPAN_CLIENT, END},
	{"sr", SPAN_SERVER, BEGIN},
	{"ss", SPAN_SERVER, END},
	{"ms", SPAN_PRODUCER, BEGIN},
	{"mr", SPAN_CONSUMER, BEGIN},
	{"ws", SPAN_LOCAL, WIRE_SENT},
	{"wr", SPAN_LOCAL, WIRE_RECEIVED},
};

static const struct core *find_core(struct text value)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++)
		if (value.size == 2 && !memcmp(value.data, cores[i].words, 2))
			return &cores[i];
	return NULL;
}

/* The kind is that of the first core annotation; each of its edges counts once. */
static void take_annotation(struct reading *is, int64_t time, struct text value, bool with_host)
{
	const struct core *core = with_host ? find_core(value) : NULL;
	struct found *edge = core ? &is->edges[core->edge] : NULL;

	if (core && is->span->kind == SPAN_LOCAL)
		is->span->kind = core->kind;
	if (core && !edge->is_there && (core->kind == is->span->kind || core->kind == SPAN_LOCAL))
		*edge = (struct found){
			true, spanread_ns(time), is->memory->annotations.size / sizeof(struct annotation)};
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

static const char *const addresses[REMOTES] = {"sa", "ca", "ma"};

static bool is_address(struct text key)
{
	return is_text(key, addresses[0]) || is_text(key, addresses[1]) || is_text(key, addresses[2]);
}

static void take_remote(struct reading *is, struct text key, const struct endpoint *host)
{
	for (int i = 0; i < REMOTES; i++) {
		if (!is_text(key, addresses[i]))
			continue;
		is->has_remote[i] = true;
		is->remotes[i] = *host;
	}
}

/*
 * The remote endpoint is in `sa`, `ca` or `ma`, which are true; an empty `lc` has just the place. What is no
 * text otherwise is not shown by Zipkin, either.
 */
static void take_tag(
	struct reading *is, struct text key, struct text value, uint32_t kind, const struct endpoint *host)
{
	bool is_place = host && is_text(key, "lc") && !value.size;

	if (host && kind == TYPE_BOOL && value.size == 1 && *value.data == 1)
		take_remote(is, key, host);
	if (kind != TYPE_STRING) {
		is->memory->left_out += kind != TYPE_BOOL || !is_address(key);
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

/* An annotation that the span's kind and times say is none. */
static void drop(struct reading *is, struct found *edge)
{
	struct buffer *lines = &is->memory->annotations;
	size_t begin = edge->at * sizeof(struct annotation), end = begin + sizeof(struct annotation);

	if (!edge->is_there)
		return;
	memmove(lines->data + begin, lines->data + end, lines->size - end);
	lines->size -= sizeof(struct annotation);
	for (int i = 0; i < EDGES; i++)
		is->edges[i].at -= is->edges[i].at > edge->at;
	edge->is_there = false;
}

/* What a span says that it took counts, if it is whole; or else what its annotations do. */
static void settle_between(struct span *span, const struct found *begin, const struct found *end)
{
	if (span->timestamp && span->duration)
		return;
	span->timestamp = begin->time;
	span->duration = end->is_there && end->time > begin->time ? end->time - begin->time : 0;
}

/*
 * The server's half of a shared span has no times of its own, or no duration. An end without a beginning says
 * nothing but when it was, unless it is where the span's duration ends.
 */
static void settle_call(struct reading *is)
{
	struct found *begin = &is->edges[BEGIN], *end = &is->edges[END];
	struct span *span = is->span;
	bool ends = end->is_there, whole = span->timestamp && span->duration,
	     begins = begin->is_there || (ends && whole && end->time == span->timestamp + span->duration);

	if (span->kind == SPAN_SERVER)
		span->shared = begins && (!span->timestamp || (ends && !span->duration));
	if (begin->is_there && (ends || !span->timestamp))
		settle_between(span, begin, end);
	if (begins)
		drop(is, end);
	drop(is, begin);
}

/* A message that is sent ends on the wire, and one that is received begins there. */
static void settle_message(struct reading *is)
{
	struct found *core = &is->edges[BEGIN], *sent = &is->edges[WIRE_SENT],
		     *received = &is->edges[WIRE_RECEIVED];

	if (is->span->kind == SPAN_PRODUCER)
		settle_between(is->span, core, sent);
	else if (received->is_there)
		settle_between(is->span, received, core);
	else
		settle_between(is->span, core, &(struct found){0});
	drop(is, core);
	drop(is, sent);
	drop(is, received);
}

/* As Zipkin does when it makes a span of version 2 of one of version 1. */
static void settle_times(struct reading *is)
{
	is->span->shared = !is->span->timestamp;
	if (is->span->kind == SPAN_CLIENT || is->span->kind == SPAN_SERVER)
		settle_call(is);
	else if (is->span->kind != SPAN_LOCAL)
		settle_message(is);
	if (!is->span->timestamp)
		is->span->duration = 0;
}

/* Of what is no call, a server's address counts first; a client's alone says that this is the server's side.
 */
static enum remote other_side(struct reading *is)
{
	struct span *span = is->span;

	if (span->kind == SPAN_CLIENT || span->kind == SPAN_SERVER)
		return span->kind == SPAN_CLIENT ? REMOTE_SERVER : REMOTE_CLIENT;
	if (is->has_remote[REMOTE_SERVER]) {
		if (is->has_remote[REMOTE_CLIENT] && !is->has_host)
			span->local = is->remotes[REMOTE_CLIENT];
		return REMOTE_SERVER;
	}
	if (is->has_remote[REMOTE_CLIENT]) {
		span->kind = SPAN_SERVER;
		return REMOTE_CLIENT;
	}
	return span->kind == SPAN_LOCAL ? REMOTE_SERVER : REMOTE_BROKER;
}

static void settle_remote(struct reading *is)
{
	enum remote other = other_side(is);

	is->span->has_remote = is->has_remote[other];
	if (is->span->has_remote)
		is->span->remote = is->remotes[other];
}

/* What the encoder has added follows from the tag `error`. */
static void drop_reason(struct span_memory *memory)
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

bool spanread_thrift(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory)
{
	struct reading is = {.from = tbinary_read(bytes, size), .span = span, .memory = memory};

	span_memory_clear(memory);
	*span = (struct span){0};
	get_span(&is);
	settle_times(&is);
	settle_remote(&is);
	drop_reason(memory);
	spanread_lines(memory, span);
	return !tbinary_failed(&is.from) && !tbinary_left(&is.from);
}
