/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/streamkey.h"

#include <string.h>

static uint64_t environment_number(const bt_trace *trace, const char *name, uint64_t otherwise)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	if (value && bt_value_is_signed_integer(value))
		return (uint64_t)bt_value_integer_signed_get(value);
	return otherwise;
}

/* What a user's programs record says "ust". */
static bool is_kernel(const bt_trace *trace)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, "domain");

	return value && bt_value_is_string(value) && !strcmp(bt_value_string_get(value), "kernel");
}

struct stream_key stream_key_of(const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);

	if (is_kernel(trace))
		return (struct stream_key){
			.user = KERNEL_USER,
			.bits = KERNEL_BITS,
			.class_id = bt_stream_class_get_id(bt_stream_borrow_class_const(stream)),
			.id = bt_stream_get_id(stream),
		};
	return (struct stream_key){
		.user = environment_number(trace, "tracer_buffering_id", 0),
		.bits = (uint32_t)environment_number(trace, "architecture_bit_width", 64),
		.class_id = bt_stream_class_get_id(bt_stream_borrow_class_const(stream)),
		.id = bt_stream_get_id(stream),
	};
}

bool stream_is_monotonic(const bt_stream *stream)
{
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
	const char *name = clock ? bt_clock_class_get_name(clock) : NULL;

	return name && !strcmp(name, "monotonic");
}
