/* SPDX-License-Identifier: BSD-2-Clause */
#include "read/eventotlp.h"

#include <string.h>

#include "encode/otlp.h"
#include "encode/otlpvalue.h"
#include "read/eventplace.h"
#include "wire/otlpfields.h"
#include "wire/protobuf.h"

/* What the parts of one event share. */
struct walk {
	struct event_otlp *otlp;
	struct buffer *out;
	size_t most; /* the size that @out may have */
	bool too_large;
};

#define LITERAL(literal) ((struct text){literal, sizeof(literal) - 1})

static struct text text_of(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

static void check_size(struct walk *walk)
{
	if (walk->out->size + walk->otlp->cut.size > walk->most)
		walk->too_large = true;
}

static void put_cut(struct walk *walk, uint32_t number, const struct event_place *place)
{
	struct buffer *pointer = &walk->otlp->place;

	pointer->size = 0;
	event_place_put(pointer, place);
	otlpvalue_text(&walk->otlp->cut, ARRAY_VALUES,
		(struct text){(const char *)pointer->data, (uint32_t)pointer->size});
	otlpvalue_none(walk->out, number);
}

/* Fields: each is an AnyValue, the field @number of what it is in. */

static void put_string(struct walk *walk, const bt_field *field, uint32_t number)
{
	size_t size = bt_field_string_get_length(field);

	if (size > EVENT_SIZE_MAX)
		walk->too_large = true;
	else
		otlpvalue_text(
			walk->out, number, (struct text){bt_field_string_get_value(field), (uint32_t)size});
}

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

static void put_labels(
	struct buffer *out, bt_field_class_enumeration_mapping_label_array labels, uint64_t count)
{
	size_t pair = open_map_pair(out, LITERAL("labels")), value = otlpvalue_open(out, KEYVALUE_VALUE),
	       array = otlpvalue_open(out, ANYVALUE_ARRAY);

	for (uint64_t i = 0; i < count; i++)
		otlpvalue_text(out, ARRAY_VALUES, text_of(labels[i]));
	otlpvalue_close(out, array);
	otlpvalue_close(out, value);
	otlpvalue_close(out, pair);
}

static void put_enumeration(struct buffer *out, const bt_field *field, uint32_t number, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	size_t value = otlpvalue_open(out, number), map = otlpvalue_open(out, ANYVALUE_MAP),
	       pair = open_map_pair(out, LITERAL("value"));
	uint64_t count = 0;

	if (is_signed) {
		otlpvalue_signed(out, KEYVALUE_VALUE, bt_field_integer_signed_get_value(field));
		bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count);
	} else {
		otlpvalue_unsigned(out, KEYVALUE_VALUE, bt_field_integer_unsigned_get_value(field));
		bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count);
	}
	otlpvalue_close(out, pair);
	put_labels(out, labels, count);
	otlpvalue_close(out, map);
	otlpvalue_close(out, value);
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place);

/* Each member is a KeyValue. */
static void put_members(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, struct text prefix, const struct event_place *place)
{
	for (uint32_t i = 0; i < plan->count && !walk->too_large; i++) {
		const struct field_plan *part = &plan->parts[i];
		const struct event_place here = {place, &part->name, 0};
		size_t pair = open_pair(walk->out, number, prefix, part->name);

		put_field(walk, part, bt_field_structure_borrow_member_field_by_index_const(field, i),
			KEYVALUE_VALUE, &here);
		otlpvalue_close(walk->out, pair);
	}
}

static void put_structure(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place)
{
	size_t value = otlpvalue_open(walk->out, number), map = otlpvalue_open(walk->out, ANYVALUE_MAP);

	put_members(walk, plan, field, MAP_VALUES, LITERAL(""), place);
	otlpvalue_close(walk->out, map);
	otlpvalue_close(walk->out, value);
}

static void put_elements(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place)
{
	size_t value = otlpvalue_open(walk->out, number), array = otlpvalue_open(walk->out, ANYVALUE_ARRAY);
	uint64_t count = bt_field_array_get_length(field);
	struct event_place here = {place, NULL, 0};

	for (; here.index < count && !walk->too_large; here.index++)
		put_field(walk, plan->parts,
			bt_field_array_borrow_element_field_by_index_const(field, here.index), ARRAY_VALUES,
			&here);
	otlpvalue_close(walk->out, array);
	otlpvalue_close(walk->out, value);
}

static void put_option(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	if (content)
		put_field(walk, plan->parts, content, number, place);
	else
		otlpvalue_none(walk->out, number);
}

static void put_variant(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place)
{
	const struct field_plan *part = &plan->parts[bt_field_variant_get_selected_option_index(field)];
	const struct event_place here = {place, &part->name, 0};
	size_t value = otlpvalue_open(walk->out, number), map = otlpvalue_open(walk->out, ANYVALUE_MAP),
	       pair = open_map_pair(walk->out, part->name);

	put_field(walk, part, bt_field_variant_borrow_selected_option_field_const(field), KEYVALUE_VALUE,
		&here);
	otlpvalue_close(walk->out, pair);
	otlpvalue_close(walk->out, map);
	otlpvalue_close(walk->out, value);
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	uint32_t number, const struct event_place *place)
{
	struct buffer *out = walk->out;

	check_size(walk);
	switch (plan->kind) {
	case FIELD_BOOL:
		otlpvalue_bool(out, number, bt_field_bool_get_value(field));
		break;
	case FIELD_BITS:
		otlpvalue_unsigned(out, number, bt_field_bit_array_get_value_as_integer(field));
		break;
	case FIELD_UNSIGNED:
		otlpvalue_unsigned(out, number, bt_field_integer_unsigned_get_value(field));
		break;
	case FIELD_SIGNED:
		otlpvalue_signed(out, number, bt_field_integer_signed_get_value(field));
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		put_enumeration(out, field, number, plan->kind == FIELD_SIGNED_ENUM);
		break;
	case FIELD_SINGLE:
		otlpvalue_real(out, number, (double)bt_field_real_single_precision_get_value(field));
		break;
	case FIELD_DOUBLE:
		otlpvalue_real(out, number, bt_field_real_double_precision_get_value(field));
		break;
	case FIELD_STRING:
		put_string(walk, field, number);
		break;
	case FIELD_STRUCTURE:
		put_structure(walk, plan, field, number, place);
		break;
	case FIELD_ARRAY:
		put_elements(walk, plan, field, number, place);
		break;
	case FIELD_OPTION:
		put_option(walk, plan, field, number, place);
		break;
	case FIELD_VARIANT:
		put_variant(walk, plan, field, number, place);
		break;
	default:
		put_cut(walk, number, place);
	}
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

static void put_scope(struct walk *walk, const struct event_seen *event, enum event_scope scope,
	struct text prefix, struct text name)
{
	const struct event_place place = {NULL, &name, 0};

	if (event->scopes[scope])
		put_members(walk, &event->plan->scope[scope].plan, event->scopes[scope], LOG_ATTRIBUTES,
			prefix, &place);
}

static void put_cuts(struct walk *walk)
{
	const struct buffer *cut = &walk->otlp->cut;
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
static void put_attributes(struct walk *walk, const struct event_seen *event)
{
	const struct trace_facts *trace = event->trace;
	const struct event_facts *facts = &event->facts;
	struct buffer *out = walk->out;

	if (trace->host.size && strcmp(trace->host.data, walk->otlp->host) != 0)
		put_text(out, LOG_ATTRIBUTES, LITERAL(OTLP_HOST), trace->host);
	if (trace->domain.size)
		put_text(out, LOG_ATTRIBUTES, LITERAL(OTLP_DOMAIN), trace->domain);
	put_clock(out, &event->moment);
	put_known(out, LOG_ATTRIBUTES, LITERAL(OTLP_THREAD), facts->tid);
	put_known(out, LOG_ATTRIBUTES, LITERAL(OTLP_CPU), facts->cpu);
	if (event->plan->scope[SCOPE_PACKET].plan.count > event->plan->cpu.known)
		put_scope(walk, event, SCOPE_PACKET, LITERAL(OTLP_PACKET), LITERAL("packet"));
	put_scope(walk, event, SCOPE_COMMON, LITERAL(OTLP_CONTEXT), LITERAL("context"));
	put_scope(walk, event, SCOPE_SPECIFIC, LITERAL(OTLP_CONTEXT), LITERAL("context"));
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

	if (!level->name)
		return;
	to = protobuf_put_varint(protobuf_put_field(to, LOG_SEVERITY, PROTOBUF_VARINT), level->severity);
	out->size = (size_t)(to - out->data);
	put_bytes(out, LOG_SEVERITY_TEXT, text_of(level->name));
}

static void put_record(struct walk *walk, const struct event_seen *event, int64_t now)
{
	static const struct text name = {"payload", 7};
	const struct event_place place = {NULL, &name, 0};
	const struct event_plan *plan = event->plan;

	if (event->moment.kind == MOMENT_TIME)
		put_time(walk->out, LOG_TIME, event->moment.time);
	put_level(walk->out, &plan->level);
	if (event->scopes[SCOPE_PAYLOAD])
		put_structure(walk, &plan->scope[SCOPE_PAYLOAD].plan, event->scopes[SCOPE_PAYLOAD], LOG_BODY,
			&place);
	put_attributes(walk, event);
	put_time(walk->out, LOG_OBSERVED_TIME, now);
	if (plan->name.size)
		put_bytes(walk->out, LOG_EVENT_NAME, plan->name);
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

bool event_otlp_put(struct event_otlp *otlp, struct buffer *out, const struct event_seen *event, int64_t now)
{
	size_t before = out->size;
	struct walk walk = {otlp, out, before + EVENT_SIZE_MAX, false};

	otlp->cut.size = 0;
	buffer_reserve(out, OTLP_ITEM_HEAD);
	out->size += OTLP_ITEM_HEAD;
	put_process(out, &event->facts);
	otlp_put_item_head(out->data + before, (uint32_t)(out->size - before), pid_of(&event->facts));
	put_record(&walk, event, now);
	if (walk.too_large || out->size > walk.most)
		out->size = before;
	return out->size > before;
}

void event_otlp_free(struct event_otlp *otlp)
{
	buffer_free(&otlp->cut);
	buffer_free(&otlp->place);
}
