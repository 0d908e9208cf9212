/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/thread.h"

#define UNKNOWN (-1)

static int64_t number_of(const bt_field *context, const char *name)
{
	const bt_field *field =
		context ? bt_field_structure_borrow_member_field_by_name_const(context, name) : NULL;
	bt_field_class_type type = field ? bt_field_get_class_type(field) : BT_FIELD_CLASS_TYPE_STRING;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return (int64_t)bt_field_integer_unsigned_get_value(field);
	return UNKNOWN;
}

int64_t processor_of(const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_packet *packet;

	if (!bt_stream_class_supports_packets(
		    bt_stream_borrow_class_const(bt_event_borrow_stream_const(event))))
		return UNKNOWN;
	packet = bt_event_borrow_packet_const(event);
	return number_of(bt_packet_borrow_context_field_const(packet), "cpu_id");
}

int64_t thread_of(const bt_message *message)
{
	static const char *const names[] = {"vtid", "tid"};
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *contexts[] = {bt_event_borrow_common_context_field_const(event),
		bt_event_borrow_specific_context_field_const(event)};
	int64_t found = UNKNOWN;

	for (int i = 0; i < 2 && found == UNKNOWN; i++)
		for (int k = 0; k < 2 && found == UNKNOWN; k++)
			found = number_of(contexts[k], names[i]);
	return found;
}
