/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of fields that events are made of: eventmaker.h. */
#include "eventmakerparts.h"

#define DEPTH_MAX 6
#define FIELDS_MAX 150

static char *make_name(struct event_maker *maker, unsigned index)
{
	static const char *const stems[] = {"a", "with \"", "/~", "\xc3\xbc", "\xff", "n\n", "\\", "\x7f"};

	return g_strdup_printf("%s%u", stems[event_maker_byte(maker) % G_N_ELEMENTS(stems)], index);
}

static bt_field_class *make_class(struct event_maker *maker, bt_trace_class *trace);

bt_field_class *event_maker_structure(struct event_maker *maker, bt_trace_class *trace, unsigned most)
{
	bt_field_class *made = bt_field_class_structure_create(trace);
	unsigned count = event_maker_byte(maker) % (most + 1);

	for (unsigned i = 0; i < count; i++) {
		g_autofree char *name = make_name(maker, i);
		bt_field_class *member = make_class(maker, trace);

		bt_field_class_structure_append_member(made, name, member);
		bt_field_class_put_ref(member);
	}
	return made;
}

static bt_field_class *make_variant(struct event_maker *maker, bt_trace_class *trace)
{
	bt_field_class *made = bt_field_class_variant_create(trace, NULL);
	unsigned count = 1 + event_maker_byte(maker) % 3;

	for (unsigned i = 0; i < count; i++) {
		g_autofree char *name = make_name(maker, i);
		bt_field_class *option = make_class(maker, trace);

		bt_field_class_variant_without_selector_append_option(made, name, option);
		bt_field_class_put_ref(option);
	}
	return made;
}

static bt_field_class *make_enumeration(bt_trace_class *trace, bool is_signed)
{
	bt_field_class *made = is_signed ? bt_field_class_enumeration_signed_create(trace)
					 : bt_field_class_enumeration_unsigned_create(trace);
	bt_integer_range_set_unsigned *low = bt_integer_range_set_unsigned_create(),
				      *wide = bt_integer_range_set_unsigned_create();
	bt_integer_range_set_signed *below = bt_integer_range_set_signed_create();

	bt_integer_range_set_unsigned_add_range(low, 0, 9);
	bt_integer_range_set_unsigned_add_range(wide, 5, 1000);
	bt_integer_range_set_signed_add_range(below, INT64_MIN, -1);
	if (is_signed) {
		bt_field_class_enumeration_signed_add_mapping(made, "below \"0\"", below);
	} else {
		bt_field_class_enumeration_unsigned_add_mapping(made, "low", low);
		bt_field_class_enumeration_unsigned_add_mapping(made,
			"w\xc3\xaf"
			"de",
			wide);
	}
	bt_integer_range_set_unsigned_put_ref(low);
	bt_integer_range_set_unsigned_put_ref(wide);
	bt_integer_range_set_signed_put_ref(below);
	return made;
}

static bt_field_class *make_whole(struct event_maker *maker, bt_trace_class *trace, unsigned kind)
{
	bt_field_class *made, *part;

	if (kind == 0)
		return event_maker_structure(maker, trace, 4);
	if (kind == 1)
		return make_variant(maker, trace);
	part = make_class(maker, trace);
	if (kind == 2)
		made = bt_field_class_array_static_create(trace, part, event_maker_byte(maker) % 5);
	else if (kind == 3)
		made = bt_field_class_array_dynamic_create(trace, part, NULL);
	else
		made = bt_field_class_option_without_selector_create(trace, part);
	bt_field_class_put_ref(part);
	return made;
}

static bt_field_class *make_class(struct event_maker *maker, bt_trace_class *trace)
{
	bool simple = maker->depth >= DEPTH_MAX || ++maker->fields > FIELDS_MAX;
	unsigned kind = event_maker_byte(maker) % (simple ? 9 : 14);
	bt_field_class *made;

	switch (kind) {
	case 0:
		return bt_field_class_bool_create(trace);
	case 1:
		return bt_field_class_bit_array_create(trace, 64);
	case 2:
		return bt_field_class_integer_unsigned_create(trace);
	case 3:
		return bt_field_class_integer_signed_create(trace);
	case 4:
		return bt_field_class_real_single_precision_create(trace);
	case 5:
		return bt_field_class_real_double_precision_create(trace);
	case 6:
	case 7:
		return make_enumeration(trace, kind == 7);
	case 8:
		return bt_field_class_string_create(trace);
	default:
		maker->depth++;
		made = make_whole(maker, trace, kind - 9);
		maker->depth--;
		return made;
	}
}
