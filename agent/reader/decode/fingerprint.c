/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/fingerprint.h"

#include <string.h>

#include <babeltrace2/babeltrace.h>

#include "reader/decode/eventplan.h"

static void put_number(struct buffer *out, uint64_t number)
{
	buffer_put(out, &number, sizeof(number));
}

/* Its size keeps it apart from what follows. */
static void put_text(struct buffer *out, const char *text, uint64_t size)
{
	put_number(out, size);
	buffer_put(out, text, size);
}

static void put_field(struct buffer *out, const bt_field *field, int depth);

static void put_members(struct buffer *out, const bt_field *field, int depth)
{
	uint64_t count = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(field));

	for (uint64_t i = 0; i < count; i++)
		put_field(out, bt_field_structure_borrow_member_field_by_index_const(field, i), depth);
}

static void put_elements(struct buffer *out, const bt_field *field, int depth)
{
	uint64_t count = bt_field_array_get_length(field);

	put_number(out, count);
	for (uint64_t i = 0; i < count; i++)
		put_field(out, bt_field_array_borrow_element_field_by_index_const(field, i), depth);
}

static void put_option(struct buffer *out, const bt_field *field, int depth)
{
	const bt_field *content = bt_field_option_borrow_field_const(field);

	put_number(out, content != NULL);
	if (content)
		put_field(out, content, depth);
}

static void put_variant(struct buffer *out, const bt_field *field, int depth)
{
	put_number(out, bt_field_variant_get_selected_option_index(field));
	put_field(out, bt_field_variant_borrow_selected_option_field_const(field), depth);
}

static void put_real(struct buffer *out, double value)
{
	buffer_put(out, &value, sizeof(value));
}

/* What has parts; false if it has none. */
static bool put_parts(struct buffer *out, const bt_field *field, bt_field_class_type type, int depth)
{
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRUCTURE))
		put_members(out, field, depth);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		put_elements(out, field, depth);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		put_option(out, field, depth);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		put_variant(out, field, depth);
	else
		return false;
	return true;
}

/* Those that are nested more deeply than events that are passed on count as alike. */
static void put_field(struct buffer *out, const bt_field *field, int depth)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (depth == EVENT_DEPTH_MAX || put_parts(out, field, type, depth + 1))
		return;
	if (type == BT_FIELD_CLASS_TYPE_BOOL)
		put_number(out, bt_field_bool_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		put_number(out, bt_field_bit_array_get_value_as_integer(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		put_number(out, bt_field_integer_unsigned_get_value(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		put_number(out, (uint64_t)bt_field_integer_signed_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		put_real(out, (double)bt_field_real_single_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		put_real(out, bt_field_real_double_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		put_text(out, bt_field_string_get_value(field), bt_field_string_get_length(field));
}

uint64_t fingerprint(const uint8_t key[SIPHASH_KEY_SIZE], const struct stream_key *stream,
	const bt_message *message, struct buffer *scratch)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

	scratch->size = 0;
	put_number(scratch, stream->user);
	put_number(scratch, stream->bits);
	put_text(scratch, name ? name : "", name ? strlen(name) : 0);
	if (payload)
		put_field(scratch, payload, 0);
	return siphash(key, scratch->data, scratch->size);
}
