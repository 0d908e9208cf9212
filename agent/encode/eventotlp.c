/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/eventotlp.h"

#include <string.h>

#include "encode/eventplace.h"
#include "encode/otlp.h"
#include "encode/otlpvalue.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* What the parts of one event share. */
struct walk {
	struct eventotlp *memory;
	struct event_cursor from; /* the scope's */
	struct buffer *out;
	size_t most; /* the size that @out may have */
	bool failed; /* it is too large, or the record is damaged */
};

#define LITERAL(literal) ((struct text){literal, sizeof(literal) - 1})

static void check_size(struct walk *walk)
{
	if (walk->out->size + walk->memory->cut.size > walk->most)
		walk->failed = true;
}

static void put_cut(struct walk *walk, uint32_t number, const struct event_place *place)
{
	struct buffer *pointer = &walk->memory->place;

	pointer->size = 0;
	event_place_put(pointer, place);
	otlpvalue_text(&walk->memory->cut, ARRAY_VALUES,
		(struct text){(const char *)pointer->data, (uint32_t)pointer->size});
	otlpvalue_none(walk->out, number);
}

/* Fields: each is an AnyValue, the field @number of what it is in. */

static size_t open_pair(struct buffer *out, uint32_t number, struct text prefix, struct text key)
{
	size_t pair = otlpvalue_open(out, number);

	otlpvalue_key(out, prefix, key);
	return pair;
}

static size_t open_map_pair(struct buffer *out, struct text key)
{
	return open_pair(out, MAP_VALUES, LITERAL(""), key);
}

static void put_labels(struct walk *walk)
{
	struct buffer *out = walk->out;
	size_t pair = open_map_pair(out, LITERAL("labels")), value = otlpvalue_open(out, KEYVALUE_VALUE),
	       array = otlpvalue_open(out, ANYVALUE_ARRAY);

	for (uint64_t count = event_take_count(&walk->from); count > 0 && !walk->from.failed; count--)
		otlpvalue_text(out, ARRAY_VALUES, event_take_text(&walk->from));
	otlpvalue_close(out, array);
	otlpvalue_close(out, value);
	otlpvalue_close(out, pair);
}

static void put_enumeration(struct walk *walk, uint32_t number, enum field_kind kind)
{
	struct buffer *out = walk->out;
	size_t value = otlpvalue_open(out, number), map = otlpvalue_open(out, ANYVALUE_MAP),
	       pair = open_map_pair(out, LITERAL("value"));

	if (kind == FIELD_SIGNED_ENUM)
		otlpvalue_signed(out, KEYVALUE_VALUE, event_take_signed(&walk->from));
	else
		otlpvalue_unsigned(out, KEYVALUE_VALUE, event_take_unsigned(&walk->from));
	otlpvalue_close(out, pair);
	put_labels(walk);
	otlpvalue_close(out, map);
	otlpvalue_close(out, value);
}

static void put_value(struct walk *walk, uint32_t number, const struct event_place *place);

/* A KeyValue. */
static void put_member(
	struct walk *walk, uint32_t number, struct text prefix, const struct event_place *place)
{
	struct text name = event_take_text(&walk->from);
	const struct event_place here = {place, &name, 0};
	size_t pair = open_pair(walk->out, number, prefix, name);

	put_value(walk, KEYVALUE_VALUE, &here);
	otlpvalue_close(walk->out, pair);
}

static void put_members(
	struct walk *walk, uint32_t number, struct text prefix, const struct event_place *place)
{
	uint64_t count = event_take_count(&walk->from);

	for (; count > 0 && !walk->failed; count--)
		put_member(walk, number, prefix, place);
}

static void put_elements(struct walk *walk, const struct event_place *place)
{
	uint64_t count = event_take_count(&walk->from);
	struct event_place here = {place, NULL, 0};

	for (; here.index < count && !walk->failed; here.index++)
		put_value(walk, ARRAY_VALUES, &here);
}

/* Of a variant, which it is matters, as what it is depends on that: a map of one. */
static void put_whole(
	struct walk *walk, uint32_t number, enum field_kind kind, const struct event_place *place)
{
	size_t value = otlpvalue_open(walk->out, number),
	       whole = otlpvalue_open(walk->out, kind == FIELD_ARRAY ? ANYVALUE_ARRAY : ANYVALUE_MAP);

	if (event_enter(&walk->from)) {
		if (kind == FIELD_ARRAY)
			put_elements(walk, place);
		else if (kind == FIELD_STRUCTURE)
			put_members(walk, MAP_VALUES, LITERAL(""), place);
		else
			put_member(walk, MAP_VALUES, LITERAL(""), place);
		event_leave(&walk->from);
	}
	otlpvalue_close(walk->out, whole);
	otlpvalue_close(walk->out, value);
}

static void put_value(struct walk *walk, uint32_t number, const struct event_place *place)
{
	struct event_cursor *from = &walk->from;
	struct buffer *out = walk->out;
	enum field_kind kind = event_take_kind(from);

	check_size(walk);
	switch (kind) {
	case FIELD_BOOL:
		otlpvalue_bool(out, number, event_take_bool(from));
		break;
	case FIELD_BITS:
	case FIELD_UNSIGNED:
		otlpvalue_unsigned(out, number, event_take_unsigned(from));
		break;
	case FIELD_SIGNED:
		otlpvalue_signed(out, number, event_take_signed(from));
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		put_enumeration(walk, number, kind);
		break;
	case FIELD_SINGLE:
	case FIELD_DOUBLE:
		otlpvalue_real(out, number, event_take_real(from));
		break;
	case FIELD_STRING:
		otlpvalue_text(out, number, event_take_text(from));
		break;
	case FIELD_STRUCTURE:
	case FIELD_ARRAY:
	case FIELD_VARIANT:
		put_whole(walk, number, kind, place);
		break;
	case FIELD_OPTION:
		otlpvalue_none(out, number);
		break;
	case FIELD_CUT:
		put_cut(walk, number, place);
		break;
	default:
		break; /* it has failed */
	}
	walk->failed |= from->failed;
}

/* Attributes */

static void put_text(struct buffer *out, uint32_t number, struct text key, struct text value)
{
	size_t pair = open_pair(out, number, LITERAL(""), key);

	otlpvalue_text(out, KEYVALUE_VALUE, value);
	otlpvalue_close(out, pair);
}

static void put_known(struct buffer *out, uint32_t number, struct text key, struct known_number value)
{
	size_t pair;

	if (!value.known)
		return;
	pair = open_pair(out, number, LITERAL(""), key);
	otlpvalue_signed(out, KEYVALUE_VALUE, value.value);
	otlpvalue_close(out, pair);
}

/* The number that the event's clock showed, where it is no time. */
static void put_clock(struct buffer *out, const struct moment *moment)
{
	size_t pair;

	if (moment->kind != MOMENT_CYCLES)
		return;
	pair = open_pair(out, LOG_ATTRIBUTES, LITERAL(""), LITERAL(OTLP_CLOCK));
	otlpvalue_unsigned(out, KEYVALUE_VALUE, moment->cycles);
	otlpvalue_close(out, pair);
}

/* The members of a scope, if there is one: as @number of what they are in, after @prefix. */
static void put_scope(struct walk *walk, const struct event_record *record, enum event_scope scope,
	uint32_t number, struct text prefix, struct text name)
{
	const struct event_place place = {NULL, &name, 0};

	if (!(record->scopes >> scope & 1))
		return;
	walk->from = record->scope[scope];
	put_members(walk, number, prefix, &place);
	walk->failed |= !event_cursor_is_over(&walk->from);
}

static void put_cuts(struct walk *walk)
{
	const struct buffer *cut = &walk->memory->cut;
	size_t pair, value, array;

	if (!cut->size)
		return;
	pair = open_pair(walk->out, LOG_ATTRIBUTES, LITERAL(""), LITERAL(OTLP_CUT));
	value = otlpvalue_open(walk->out, KEYVALUE_VALUE);
	array = otlpvalue_open(walk->out, ANYVALUE_ARRAY);
	buffer_put(walk->out, cut->data, cut->size);
	otlpvalue_close(walk->out, array);
	otlpvalue_close(walk->out, value);
	otlpvalue_close(walk->out, pair);
}

/* The node that sends it has its name in the resource: another one is named here. */
static void put_attributes(struct walk *walk, const struct event_record *record)
{
	const struct event_head *head = &record->head;
	struct buffer *out = walk->out;

	if (head->host.size && !text_is(head->host, walk->memory->host))
		put_text(out, LOG_ATTRIBUTES, LITERAL(OTLP_HOST), head->host);
	if (head->domain.size)
		put_text(out, LOG_ATTRIBUTES, LITERAL(OTLP_DOMAIN), head->domain);
	put_clock(out, &head->moment);
	put_known(out, LOG_ATTRIBUTES, LITERAL(OTLP_THREAD), head->facts.tid);
	put_known(out, LOG_ATTRIBUTES, LITERAL(OTLP_CPU), head->facts.cpu);
	put_scope(walk, record, SCOPE_PACKET, LOG_ATTRIBUTES, LITERAL(OTLP_PACKET), LITERAL("packet"));
	put_scope(walk, record, SCOPE_COMMON, LOG_ATTRIBUTES, LITERAL(OTLP_CONTEXT), LITERAL("context"));
	put_scope(walk, record, SCOPE_SPECIFIC, LOG_ATTRIBUTES, LITERAL(OTLP_CONTEXT), LITERAL("context"));
	put_cuts(walk);
}

/* The record */

static void put_time(struct buffer *out, uint32_t number, int64_t time)
{
	uint8_t *to = buffer_reserve(out, PROTOBUF_FIELD_MAX + 8);

	out->size = (size_t)(protobuf_put_i64(to, number, (uint64_t)time) - out->data);
}

static void put_bytes(struct buffer *out, uint32_t number, struct text text)
{
	uint8_t *to = buffer_reserve(out, PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX + text.size);

	out->size = (size_t)(protobuf_put_bytes(to, number, text.data, text.size) - out->data);
}

static void put_level(struct buffer *out, const struct event_level *level)
{
	uint8_t *to = buffer_reserve(out, PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX);

	if (!level->name.size)
		return;
	to = protobuf_put_varint(protobuf_put_field(to, LOG_SEVERITY, PROTOBUF_VARINT), level->severity);
	out->size = (size_t)(to - out->data);
	put_bytes(out, LOG_SEVERITY_TEXT, level->name);
}

static void put_body(struct walk *walk, const struct event_record *record)
{
	size_t value, map;

	if (!(record->scopes >> SCOPE_PAYLOAD & 1))
		return;
	value = otlpvalue_open(walk->out, LOG_BODY);
	map = otlpvalue_open(walk->out, ANYVALUE_MAP);
	put_scope(walk, record, SCOPE_PAYLOAD, MAP_VALUES, LITERAL(""), LITERAL("payload"));
	otlpvalue_close(walk->out, map);
	otlpvalue_close(walk->out, value);
}

static void put_record(struct walk *walk, const struct event_record *record)
{
	const struct event_head *head = &record->head;

	if (head->moment.kind == MOMENT_TIME)
		put_time(walk->out, LOG_TIME, head->moment.time);
	put_level(walk->out, &head->level);
	put_body(walk, record);
	put_attributes(walk, record);
	put_time(walk->out, LOG_OBSERVED_TIME, head->observed);
	if (head->name.size)
		put_bytes(walk->out, LOG_EVENT_NAME, head->name);
}

/* The process */

static void put_process(struct buffer *out, const struct event_facts *facts)
{
	struct text program = facts->program;

	put_text(out, RESOURCE_ATTRIBUTES, LITERAL(OTLP_SERVICE),
		program.size ? program : LITERAL(OTLP_NO_SERVICE));
	if (program.size)
		put_text(out, RESOURCE_ATTRIBUTES, LITERAL(OTLP_PROGRAM), program);
	put_known(out, RESOURCE_ATTRIBUTES, LITERAL(OTLP_USER), facts->user);
}

static uint32_t pid_of(const struct event_facts *facts)
{
	bool fits = facts->pid.known && facts->pid.value > 0 && facts->pid.value <= UINT32_MAX;

	return fits ? (uint32_t)facts->pid.value : 0;
}

bool eventotlp_put(struct eventotlp *memory, struct buffer *out, const uint8_t *record, size_t size)
{
	size_t before = out->size;
	struct walk walk = {.memory = memory, .out = out, .most = before + EVENT_SIZE_MAX};
	struct event_record event;

	if (!event_record_open(&event, record, size))
		return false;
	memory->cut.size = 0;
	buffer_reserve(out, OTLP_ITEM_HEAD);
	out->size += OTLP_ITEM_HEAD;
	put_process(out, &event.head.facts);
	otlp_put_item_head(out->data + before, (uint32_t)(out->size - before), pid_of(&event.head.facts));
	put_record(&walk, &event);
	if (walk.failed || out->size > walk.most)
		out->size = before;
	return out->size > before;
}

void eventotlp_free(struct eventotlp *memory)
{
	buffer_free(&memory->cut);
	buffer_free(&memory->place);
}
