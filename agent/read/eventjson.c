/* SPDX-License-Identifier: BSD-2-Clause */
#include "read/eventjson.h"

#include <string.h>

#include "encode/jsontext.h"
#include "read/eventplace.h"
#include "wire/base64.h"

/* What the parts of one event share. Each value is followed by a comma, which a closing bracket replaces. */
struct walk {
	struct event_json *json;
	struct buffer *out;
	size_t most; /* the size that @out may have */
	bool too_large;
};

#define PUT(out, literal) buffer_put(out, literal, sizeof(literal) - 1)

static void put_text(struct buffer *out, const char *text, size_t size, unsigned *repaired)
{
	uint8_t *to = buffer_reserve(out, JSONTEXT_MAX(size) + 1);
	char *end = jsontext_put((char *)to, text, size, repaired);

	*end++ = ',';
	out->size = (size_t)((uint8_t *)end - out->data);
}

static void end_number(struct buffer *out, char *end)
{
	*end++ = ',';
	out->size = (size_t)((uint8_t *)end - out->data);
}

static void put_unsigned(struct buffer *out, uint64_t value)
{
	end_number(out, jsonvalue_unsigned((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

static void put_signed(struct buffer *out, int64_t value)
{
	end_number(out, jsonvalue_signed((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

static void put_real(struct buffer *out, double value)
{
	end_number(out, jsonvalue_real((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

/* @bracket with a comma. */
static void close_with(struct buffer *out, const char *bracket)
{
	if (out->data[out->size - 1] == ',')
		out->size--;
	buffer_put(out, bracket, 2);
}

static void put_name(struct buffer *out, struct text json)
{
	buffer_put(out, json.data, json.size);
}

/* What JSON cannot say */

static void put_place(struct walk *walk, struct buffer *out, const struct event_place *place)
{
	struct buffer *pointer = &walk->json->place;
	unsigned repaired = 0;

	pointer->size = 0;
	event_place_put(pointer, place);
	put_text(out, (const char *)pointer->data, pointer->size, &repaired);
}

/* Too much of it makes the event too large, as it is added to it. */
static void check_size(struct walk *walk)
{
	if (walk->out->size + walk->json->bytes.size + walk->json->cut.size > walk->most)
		walk->too_large = true;
}

/* The bytes of a text that had to be repaired. */
static void keep_bytes(struct walk *walk, const struct event_place *place, const char *text, size_t size)
{
	struct buffer *out = &walk->json->bytes;

	put_place(walk, out, place);
	out->data[out->size - 1] = ':';
	PUT(out, "\"");
	base64_encode((char *)buffer_reserve(out, BASE64_SIZE(size)), (const uint8_t *)text, size);
	out->size += BASE64_SIZE(size);
	PUT(out, "\",");
	check_size(walk);
}

static void put_cut(struct walk *walk, const struct event_place *place)
{
	PUT(walk->out, "null,");
	put_place(walk, &walk->json->cut, place);
	check_size(walk);
}

/* Fields */

static void put_string(struct walk *walk, const bt_field *field, const struct event_place *place)
{
	const char *text = bt_field_string_get_value(field);
	size_t size = bt_field_string_get_length(field);
	unsigned repaired = 0;

	if (size > EVENT_SIZE_MAX) {
		walk->too_large = true;
		return;
	}
	put_text(walk->out, text, size, &repaired);
	if (repaired)
		keep_bytes(walk, place, text, size);
}

static void put_labels(
	struct buffer *out, bt_field_class_enumeration_mapping_label_array labels, uint64_t count)
{
	unsigned repaired = 0;

	PUT(out, "\"labels\":[");
	for (uint64_t i = 0; i < count; i++)
		put_text(out, labels[i], strlen(labels[i]), &repaired);
	close_with(out, "],");
	close_with(out, "},");
}

static void put_enumeration(struct buffer *out, const bt_field *field, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	PUT(out, "{\"value\":");
	if (is_signed) {
		put_signed(out, bt_field_integer_signed_get_value(field));
		bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count);
	} else {
		put_unsigned(out, bt_field_integer_unsigned_get_value(field));
		bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count);
	}
	put_labels(out, labels, count);
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place);

static void put_members(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	for (uint32_t i = 0; i < plan->count && !walk->too_large; i++) {
		const struct field_plan *part = &plan->parts[i];
		const struct event_place here = {place, &part->name, 0};

		put_name(walk->out, part->json);
		put_field(walk, part, bt_field_structure_borrow_member_field_by_index_const(field, i), &here);
	}
}

static void put_elements(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	uint64_t count = bt_field_array_get_length(field);
	struct event_place here = {place, NULL, 0};

	PUT(walk->out, "[");
	for (; here.index < count && !walk->too_large; here.index++)
		put_field(walk, plan->parts,
			bt_field_array_borrow_element_field_by_index_const(field, here.index), &here);
	close_with(walk->out, "],");
}

static void put_option(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	if (content)
		put_field(walk, plan->parts, content, place);
	else
		PUT(walk->out, "null,");
}

/* Which it is matters, as what it is depends on that. */
static void put_variant(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	const struct field_plan *part = &plan->parts[bt_field_variant_get_selected_option_index(field)];
	const struct event_place here = {place, &part->name, 0};

	PUT(walk->out, "{");
	put_name(walk->out, part->json);
	put_field(walk, part, bt_field_variant_borrow_selected_option_field_const(field), &here);
	close_with(walk->out, "},");
}

static void put_structure(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	PUT(walk->out, "{");
	put_members(walk, plan, field, place);
	close_with(walk->out, "},");
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field,
	const struct event_place *place)
{
	struct buffer *out = walk->out;

	check_size(walk);
	switch (plan->kind) {
	case FIELD_BOOL:
		if (bt_field_bool_get_value(field))
			PUT(out, "true,");
		else
			PUT(out, "false,");
		break;
	case FIELD_BITS:
		put_unsigned(out, bt_field_bit_array_get_value_as_integer(field));
		break;
	case FIELD_UNSIGNED:
		put_unsigned(out, bt_field_integer_unsigned_get_value(field));
		break;
	case FIELD_SIGNED:
		put_signed(out, bt_field_integer_signed_get_value(field));
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		put_enumeration(out, field, plan->kind == FIELD_SIGNED_ENUM);
		break;
	case FIELD_SINGLE:
		put_real(out, (double)bt_field_real_single_precision_get_value(field));
		break;
	case FIELD_DOUBLE:
		put_real(out, bt_field_real_double_precision_get_value(field));
		break;
	case FIELD_STRING:
		put_string(walk, field, place);
		break;
	case FIELD_STRUCTURE:
		put_structure(walk, plan, field, place);
		break;
	case FIELD_ARRAY:
		put_elements(walk, plan, field, place);
		break;
	case FIELD_OPTION:
		put_option(walk, plan, field, place);
		break;
	case FIELD_VARIANT:
		put_variant(walk, plan, field, place);
		break;
	default:
		put_cut(walk, place);
	}
}

/* The event */

static void put_scope(struct walk *walk, const struct event_seen *event, enum event_scope scope,
	const struct event_place *place)
{
	if (event->scopes[scope])
		put_members(walk, &event->plan->scope[scope].plan, event->scopes[scope], place);
}

static void put_moment(struct walk *walk, const struct moment *moment)
{
	struct buffer *out = walk->out;

	if (moment->kind == MOMENT_CYCLES) {
		PUT(out, "\"clock\":");
		put_unsigned(out, moment->cycles);
	} else if (moment->kind == MOMENT_TIME) {
		PUT(out, "\"timestamp\":");
		put_signed(out, moment->time);
		PUT(out, "\"time\":");
		end_number(out, jsonvalue_time((char *)buffer_reserve(out, JSONVALUE_MAX), &walk->json->time,
					moment->time));
	}
}

static void put_known(struct buffer *out, const char *key, size_t size, struct known_number number)
{
	if (!number.known)
		return;
	buffer_put(out, key, size);
	put_signed(out, number.value);
}

#define PUT_KNOWN(out, literal, number) put_known(out, literal, sizeof(literal) - 1, number)

static void put_process(struct walk *walk, const struct event_facts *facts)
{
	struct buffer *out = walk->out;
	unsigned repaired = 0;

	if (!facts->pid.known && !facts->tid.known && !facts->user.known && !facts->program.size)
		return;
	PUT(out, "\"process\":{");
	PUT_KNOWN(out, "\"pid\":", facts->pid);
	PUT_KNOWN(out, "\"tid\":", facts->tid);
	if (facts->program.size) {
		PUT(out, "\"name\":");
		put_text(out, facts->program.data, facts->program.size, &repaired);
	}
	PUT_KNOWN(out, "\"user\":", facts->user);
	close_with(out, "},");
}

/* Unless there is nothing in it but what is there as `cpu`. */
static void put_packet(struct walk *walk, const struct event_seen *event)
{
	static const struct text name = {"packet", 6};
	const struct event_place place = {NULL, &name, 0};

	if (!event->scopes[SCOPE_PACKET] ||
		event->plan->scope[SCOPE_PACKET].plan.count <= event->plan->cpu.known)
		return;
	PUT(walk->out, "\"packet\":{");
	put_scope(walk, event, SCOPE_PACKET, &place);
	close_with(walk->out, "},");
}

static void put_context(struct walk *walk, const struct event_seen *event)
{
	static const struct text name = {"context", 7};
	const struct event_place place = {NULL, &name, 0};

	if (!event->scopes[SCOPE_COMMON] && !event->scopes[SCOPE_SPECIFIC])
		return;
	PUT(walk->out, "\"context\":{");
	put_scope(walk, event, SCOPE_COMMON, &place);
	put_scope(walk, event, SCOPE_SPECIFIC, &place);
	close_with(walk->out, "},");
}

static void put_payload(struct walk *walk, const struct event_seen *event)
{
	static const struct text name = {"payload", 7};
	const struct event_place place = {NULL, &name, 0};

	PUT(walk->out, "\"payload\":{");
	put_scope(walk, event, SCOPE_PAYLOAD, &place);
	close_with(walk->out, "},");
}

static void put_rest(struct buffer *out, const char *key, const struct buffer *rest, const char *bracket)
{
	if (!rest->size)
		return;
	buffer_put(out, key, strlen(key));
	buffer_put(out, rest->data, rest->size);
	close_with(out, bracket);
}

bool event_json_put(struct event_json *json, struct buffer *out, const struct event_seen *event)
{
	size_t before = out->size;
	struct walk walk = {json, out, before + EVENT_SIZE_MAX};

	json->bytes.size = json->cut.size = 0;
	PUT(out, "{");
	put_moment(&walk, &event->moment);
	put_name(out, event->trace->json);
	put_name(out, event->plan->json);
	put_process(&walk, &event->facts);
	PUT_KNOWN(out, "\"cpu\":", event->facts.cpu);
	put_packet(&walk, event);
	put_context(&walk, event);
	put_payload(&walk, event);
	put_rest(out, "\"bytes\":{", &json->bytes, "},");
	put_rest(out, "\"cut\":[", &json->cut, "],");
	out->data[out->size - 1] = '}';
	if (walk.too_large || out->size > walk.most)
		out->size = before;
	return out->size > before;
}

void event_json_free(struct event_json *json)
{
	buffer_free(&json->bytes);
	buffer_free(&json->cut);
	buffer_free(&json->place);
}
