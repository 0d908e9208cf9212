/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/eventpack.h"

#include <string.h>

/* What the parts of one event share. */
struct walk {
	struct buffer *out;
	size_t most; /* the size that @out may have */
	bool too_large;
};

static void put_labels(
	struct buffer *out, bt_field_class_enumeration_mapping_label_array labels, uint64_t count)
{
	event_put_count(out, count);
	for (uint64_t i = 0; i < count; i++)
		event_put_text(out, labels[i], strlen(labels[i]));
}

static void put_unsigned_enum(struct buffer *out, const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	event_put_number(out, FIELD_UNSIGNED_ENUM, bt_field_integer_unsigned_get_value(field));
	bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count);
	put_labels(out, labels, count);
}

static void put_signed_enum(struct buffer *out, const bt_field *field)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	event_put_number(out, FIELD_SIGNED_ENUM, varint_fold(bt_field_integer_signed_get_value(field)));
	bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count);
	put_labels(out, labels, count);
}

static void put_string(struct walk *walk, const bt_field *field)
{
	size_t size = bt_field_string_get_length(field);

	if (size > EVENT_SIZE_MAX) {
		walk->too_large = true;
		return;
	}
	event_put_kind(walk->out, FIELD_STRING);
	event_put_text(walk->out, bt_field_string_get_value(field), size);
}

/* "0x1f": whoever declares a number as hexadecimal means an address, or bits. Of a negative one its bits. */
static void put_hex(struct buffer *out, unsigned bits, uint64_t value)
{
	char text[2 + 16], *at = text + sizeof(text);

	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--at = 'x';
	*--at = '0';
	event_put_kind(out, FIELD_STRING);
	event_put_text(out, at, (size_t)(text + sizeof(text) - at));
}

static void put_unsigned(struct buffer *out, const struct field_plan *plan, uint64_t value)
{
	if (plan->hex_bits)
		put_hex(out, plan->hex_bits, value);
	else
		event_put_number(out, FIELD_UNSIGNED, value);
}

static void put_signed(struct buffer *out, const struct field_plan *plan, int64_t value)
{
	if (plan->hex_bits)
		put_hex(out, plan->hex_bits, (uint64_t)value);
	else
		event_put_number(out, FIELD_SIGNED, varint_fold(value));
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field);

static void put_members(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	event_put_count(walk->out, plan->count);
	for (uint32_t i = 0; i < plan->count && !walk->too_large; i++) {
		const struct field_plan *part = &plan->parts[i];

		event_put_packed(walk->out, part->packed);
		put_field(walk, part, bt_field_structure_borrow_member_field_by_index_const(field, i));
	}
}

static void put_elements(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	uint64_t count = bt_field_array_get_length(field);

	event_put_number(walk->out, FIELD_ARRAY, count);
	for (uint64_t i = 0; i < count && !walk->too_large; i++)
		put_field(walk, plan->parts, bt_field_array_borrow_element_field_by_index_const(field, i));
}

static void put_option(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	if (content)
		put_field(walk, plan->parts, content);
	else
		event_put_kind(walk->out, FIELD_OPTION);
}

static void put_variant(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	const struct field_plan *part = &plan->parts[bt_field_variant_get_selected_option_index(field)];

	event_put_kind(walk->out, FIELD_VARIANT);
	event_put_packed(walk->out, part->packed);
	put_field(walk, part, bt_field_variant_borrow_selected_option_field_const(field));
}

static void put_structure(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	event_put_kind(walk->out, FIELD_STRUCTURE);
	put_members(walk, plan, field);
}

static void put_field(struct walk *walk, const struct field_plan *plan, const bt_field *field)
{
	struct buffer *out = walk->out;

	walk->too_large |= out->size > walk->most;
	switch (plan->kind) {
	case FIELD_BOOL:
		event_put_number(out, FIELD_BOOL, bt_field_bool_get_value(field) != 0);
		break;
	case FIELD_BITS:
		event_put_number(out, FIELD_BITS, bt_field_bit_array_get_value_as_integer(field));
		break;
	case FIELD_UNSIGNED:
		put_unsigned(out, plan, bt_field_integer_unsigned_get_value(field));
		break;
	case FIELD_SIGNED:
		put_signed(out, plan, bt_field_integer_signed_get_value(field));
		break;
	case FIELD_UNSIGNED_ENUM:
		put_unsigned_enum(out, field);
		break;
	case FIELD_SIGNED_ENUM:
		put_signed_enum(out, field);
		break;
	case FIELD_SINGLE:
		event_put_real(out, FIELD_SINGLE, (double)bt_field_real_single_precision_get_value(field));
		break;
	case FIELD_DOUBLE:
		event_put_real(out, FIELD_DOUBLE, bt_field_real_double_precision_get_value(field));
		break;
	case FIELD_STRING:
		put_string(walk, field);
		break;
	case FIELD_STRUCTURE:
		put_structure(walk, plan, field);
		break;
	case FIELD_ARRAY:
		put_elements(walk, plan, field);
		break;
	case FIELD_OPTION:
		put_option(walk, plan, field);
		break;
	case FIELD_VARIANT:
		put_variant(walk, plan, field);
		break;
	default:
		event_put_kind(out, FIELD_CUT);
	}
}

/* The packet's, unless nothing is in it but what is among the facts. */
static unsigned scopes_of(const struct event_seen *event)
{
	unsigned scopes = 0;

	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		scopes |= (unsigned)(event->scopes[scope] != NULL) << scope;
	if (event->plan->scope[SCOPE_PACKET].plan.count <= event->plan->cpu.known)
		scopes &= ~(1u << SCOPE_PACKET);
	return scopes;
}

static void put_scope(struct walk *walk, const struct event_seen *event, enum event_scope scope)
{
	size_t begin = event_scope_open(walk->out);

	put_members(walk, &event->plan->scope[scope].plan, event->scopes[scope]);
	event_scope_close(walk->out, begin);
}

static void put_head(struct walk *walk, const struct event_seen *event, unsigned scopes, int64_t now)
{
	const struct event_head head = {
		.moment = event->moment,
		.observed = now,
		.host = event->trace->host,
		.domain = event->trace->domain,
		.name = event->plan->name,
		.id = event->plan->id,
		.level = event->plan->level,
		.facts = event->facts,
	};

	event_record_begin(walk->out, &head, scopes);
}

bool event_pack(struct buffer *out, const struct event_seen *event, int64_t now)
{
	size_t before = out->size;
	struct walk walk = {out, before + EVENT_SIZE_MAX, false};
	unsigned scopes = scopes_of(event);

	put_head(&walk, event, scopes, now);
	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		if (scopes >> scope & 1)
			put_scope(&walk, event, scope);
	if (walk.too_large || out->size > walk.most)
		out->size = before;
	return out->size > before;
}
