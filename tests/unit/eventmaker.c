/* SPDX-License-Identifier: BSD-2-Clause */
#include "eventmaker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 6
#define FIELDS_MAX 150

static uint8_t byte(struct event_maker *maker)
{
	return maker->data < maker->end ? *maker->data++ : 0;
}

static uint64_t word(struct event_maker *maker)
{
	uint64_t value = 0;

	for (int i = byte(maker) % 9; i > 0; i--)
		value = value << 8 | byte(maker);
	return value;
}

/* Classes */

static char *make_name(struct event_maker *maker, unsigned index)
{
	static const char *const stems[] = {"a", "with \"", "/~", "\xc3\xbc", "\xff", "n\n", "\\", "\x7f"};

	return g_strdup_printf("%s%u", stems[byte(maker) % G_N_ELEMENTS(stems)], index);
}

static bt_field_class *make_class(struct event_maker *maker, bt_trace_class *trace);

static bt_field_class *make_structure(struct event_maker *maker, bt_trace_class *trace, unsigned most)
{
	bt_field_class *made = bt_field_class_structure_create(trace);
	unsigned count = byte(maker) % (most + 1);

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
	unsigned count = 1 + byte(maker) % 3;

	for (unsigned i = 0; i < count; i++) {
		g_autofree char *name = make_name(maker, i);
		bt_field_class *option = make_class(maker, trace);

		bt_field_class_variant_without_selector_append_option(
			made, byte(maker) % 2 ? name : NULL, option);
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
		bt_field_class_enumeration_unsigned_add_mapping(made, "w\xc3\xafde", wide);
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
		return make_structure(maker, trace, 4);
	if (kind == 1)
		return make_variant(maker, trace);
	part = make_class(maker, trace);
	if (kind == 2)
		made = bt_field_class_array_static_create(trace, part, byte(maker) % 5);
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
	unsigned kind = byte(maker) % (simple ? 9 : 14);
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

/* What is expected */

/* The length of the character at @text, or 0. */
static size_t character(const char *text, size_t size)
{
	for (size_t n = 1; n <= 4 && n <= size; n++)
		if (g_utf8_validate_len(text, n, NULL) || (!*text && n == 1))
			return n;
	return 0;
}

void event_maker_put_text(GString *out, const char *text, size_t size)
{
	g_string_append_c(out, '"');
	while (size) {
		size_t step = character(text, size);

		if (!step)
			g_string_append(out, "\xef\xbf\xbd");
		else if (*text == '"' || *text == '\\')
			g_string_append_printf(out, "\\%c", *text);
		else if (*text == '\n' || *text == '\t' || *text == '\r')
			g_string_append(out, *text == '\n' ? "\\n" : *text == '\t' ? "\\t" : "\\r");
		else if ((unsigned char)*text < 0x20)
			g_string_append_printf(out, "\\u%04x", *text);
		else
			g_string_append_len(out, text, (gssize)step);
		step = MAX(step, 1);
		text += step;
		size -= step;
	}
	g_string_append_c(out, '"');
}

static void put_both(struct event_maker *maker, const char *text)
{
	g_string_append(maker->payload, text);
	g_string_append(maker->body, text);
}

static void put_key(struct event_maker *maker, const char *name)
{
	event_maker_put_text(maker->payload, name, strlen(name));
	event_maker_put_text(maker->body, name, strlen(name));
	put_both(maker, ":");
}

static void put_real(struct event_maker *maker, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(value)) {
		put_both(maker, isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		g_autofree char *format = g_strdup_printf("%%.%dg", digits);

		g_ascii_formatd(text, sizeof(text), format, value);
		if (g_ascii_strtod(text, NULL) == value)
			break;
	}
	put_both(maker, text);
	if (!strchr(text, '.') && !strchr(text, 'e'))
		put_both(maker, ".0");
}

/* OTLP has signed numbers only. */
static void put_unsigned(struct event_maker *maker, uint64_t value)
{
	g_string_append_printf(maker->payload, "%" G_GUINT64_FORMAT, value);
	g_string_append_printf(
		maker->body, value > INT64_MAX ? "\"%" G_GUINT64_FORMAT "\"" : "%" G_GUINT64_FORMAT, value);
}

static void put_signed(struct event_maker *maker, int64_t value)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);

	put_both(maker, text);
}

static void put_bytes(struct event_maker *maker, const char *place, const char *text, size_t size)
{
	g_autofree char *base64 = g_base64_encode((const guchar *)text, size);

	g_string_append(maker->bytes, maker->bytes->len ? "," : "");
	event_maker_put_text(maker->bytes, place, strlen(place));
	g_string_append_printf(maker->bytes, ":\"%s\"", base64);
	g_string_append_printf(maker->body, "{\"bytes\":\"%s\"}", base64);
}

/* Fields */

static char *below(const char *place, const char *name)
{
	GString *made = g_string_new(place);

	g_string_append_c(made, '/');
	while (*name) {
		size_t step = character(name, strlen(name));

		if (*name == '~' || *name == '/')
			g_string_append(made, *name == '~' ? "~0" : "~1");
		else if (!step)
			g_string_append(made, "\xef\xbf\xbd");
		else
			g_string_append_len(made, name, (gssize)step);
		name += MAX(step, 1);
	}
	return g_string_free(made, FALSE);
}

static void fill(struct event_maker *maker, bt_field *field, const char *place);

static void fill_string(struct event_maker *maker, bt_field *field, const char *place)
{
	char text[256];
	size_t size = byte(maker) % sizeof(text), used = 0;

	for (size_t i = 0; i < size; i++) {
		text[used] = (char)byte(maker);
		used += text[used] != '\0';
	}
	bt_field_string_clear(field);
	bt_field_string_append_with_length(field, text, used);
	event_maker_put_text(maker->payload, text, used);
	if (g_utf8_validate_len(text, used, NULL))
		event_maker_put_text(maker->body, text, used);
	else
		put_bytes(maker, place, text, used);
}

static void fill_enumeration(struct event_maker *maker, bt_field *field, bool is_signed)
{
	uint64_t value = word(maker);

	put_both(maker, "{\"value\":");
	if (is_signed) {
		bt_field_integer_signed_set_value(field, (int64_t)value);
		put_signed(maker, (int64_t)value);
		put_both(
			maker, (int64_t)value < 0 ? ",\"labels\":[\"below \\\"0\\\"\"]}" : ",\"labels\":[]}");
		return;
	}
	bt_field_integer_unsigned_set_value(field, value);
	put_unsigned(maker, value);
	put_both(maker, ",\"labels\":[");
	put_both(maker, value <= 9 ? "\"low\"" : "");
	put_both(maker, value <= 9 && value >= 5 ? "," : "");
	put_both(maker, value >= 5 && value <= 1000 ? "\"w\xc3\xafde\"" : "");
	put_both(maker, "]}");
}

static void fill_real(struct event_maker *maker, bt_field *field, bool single)
{
	uint64_t bits = word(maker);
	uint32_t few = (uint32_t)bits;
	double value;
	float small;

	memcpy(&value, &bits, sizeof(value));
	memcpy(&small, &few, sizeof(small));
	if (single)
		bt_field_real_single_precision_set_value(field, small);
	else
		bt_field_real_double_precision_set_value(field, value);
	put_real(maker, single ? (double)small : value);
}

static void fill_structure(struct event_maker *maker, bt_field *field, const char *place)
{
	const bt_field_class *of = bt_field_borrow_class_const(field);
	uint64_t count = bt_field_class_structure_get_member_count(of);

	put_both(maker, "{");
	for (uint64_t i = 0; i < count; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(of, i));
		g_autofree char *here = below(place, name);

		put_both(maker, i ? "," : "");
		put_key(maker, name);
		fill(maker, bt_field_structure_borrow_member_field_by_index(field, i), here);
	}
	put_both(maker, "}");
}

static void fill_array(struct event_maker *maker, bt_field *field, const char *place, bool dynamic)
{
	if (dynamic)
		bt_field_array_dynamic_set_length(field, byte(maker) % 6);
	put_both(maker, "[");
	for (uint64_t i = 0; i < bt_field_array_get_length(field); i++) {
		g_autofree char *here = g_strdup_printf("%s/%" G_GUINT64_FORMAT, place, i);

		put_both(maker, i ? "," : "");
		fill(maker, bt_field_array_borrow_element_field_by_index(field, i), here);
	}
	put_both(maker, "]");
}

static void fill_option(struct event_maker *maker, bt_field *field, const char *place)
{
	bool has = byte(maker) % 2;

	bt_field_option_set_has_field(field, has);
	if (has)
		fill(maker, bt_field_option_borrow_field(field), place);
	else
		put_both(maker, "null");
}

static void fill_variant(struct event_maker *maker, bt_field *field, const char *place)
{
	const bt_field_class *of = bt_field_borrow_class_const(field);
	uint64_t choice = byte(maker) % bt_field_class_variant_get_option_count(of);
	g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, choice);
	const char *name = bt_field_class_variant_option_get_name(
		bt_field_class_variant_borrow_option_by_index_const(of, choice));
	g_autofree char *here = below(place, name ? name : number);

	bt_field_variant_select_option_by_index(field, choice);
	put_both(maker, "{");
	put_key(maker, name ? name : number);
	fill(maker, bt_field_variant_borrow_selected_option_field(field), here);
	put_both(maker, "}");
}

static void fill_number(struct event_maker *maker, bt_field *field, bt_field_class_type type)
{
	uint64_t value = word(maker);

	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(field, value & 1);
		put_both(maker, value & 1 ? "true" : "false");
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(field, value);
		put_unsigned(maker, value);
	} else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		bt_field_integer_unsigned_set_value(field, value);
		put_unsigned(maker, value);
	} else {
		bt_field_integer_signed_set_value(field, (int64_t)value);
		put_signed(maker, (int64_t)value);
	}
}

static void fill(struct event_maker *maker, bt_field *field, const char *place)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		fill_enumeration(maker, field, type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL))
		fill_real(maker, field, type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL);
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		fill_string(maker, field, place);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		fill_structure(maker, field, place);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		fill_array(
			maker, field, place, bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		fill_option(maker, field, place);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		fill_variant(maker, field, place);
	else
		fill_number(maker, field, type);
}

/* The graph: a source of three messages, and a sink. */

static bt_message_iterator_class_next_method_status next(
	bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct event_maker *maker = bt_self_component_get_data(component);
	bt_trace_class *trace_class;
	bt_stream_class *stream_class;
	bt_event_class *event_class;
	bt_field_class *payload;
	bt_trace *trace;
	bt_stream *stream;
	bt_message *message;

	if (!maker->user)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	g_assert(capacity >= 3);
	trace_class = bt_trace_class_create(component);
	stream_class = bt_stream_class_create(trace_class);
	event_class = bt_event_class_create(stream_class);
	payload = make_structure(maker, trace_class, 12);
	bt_event_class_set_payload_field_class(event_class, payload);
	bt_event_class_set_name(event_class, "made");
	trace = bt_trace_create(trace_class);
	stream = bt_stream_create(stream_class, trace);
	messages[0] = bt_message_stream_beginning_create(self, stream);
	message = bt_message_event_create(self, event_class, stream);
	fill(maker, bt_event_borrow_payload_field(bt_message_event_borrow_event(message)), "/payload");
	messages[1] = message;
	messages[2] = bt_message_stream_end_create(self, stream);
	*count = 3;
	maker->user = NULL; /* once */
	bt_stream_put_ref(stream);
	bt_trace_put_ref(trace);
	bt_field_class_put_ref(payload);
	bt_event_class_put_ref(event_class);
	bt_stream_class_put_ref(stream_class);
	bt_trace_class_put_ref(trace_class);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status begin_source(bt_self_component_source *self,
	bt_self_component_source_configuration *configuration, const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_source_as_self_component(self), data);
	bt_self_component_source_add_output_port(self, "out", NULL, NULL);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

struct sink {
	void (*take)(void *user, const bt_message *message);
	void *user;
};

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator, void *data)
{
	const struct sink *sink = data;
	bt_message_array_const messages;
	uint64_t count;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);

	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (uint64_t i = 0; i < count; i++) {
		if (bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_EVENT)
			sink->take(sink->user, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static const bt_component_class_source *source_class(void)
{
	static bt_component_class_source *class;
	bt_message_iterator_class *iterator;

	if (class)
		return class;
	iterator = bt_message_iterator_class_create(next);
	class = bt_component_class_source_create("maker", iterator);
	bt_component_class_source_set_initialize_method(class, begin_source);
	bt_message_iterator_class_put_ref(iterator);
	return class;
}

void event_maker_run(struct event_maker *maker, const uint8_t *data, size_t size)
{
	struct sink sink = {maker->take, maker->user};
	const bt_component_source *source;
	const bt_component_sink *taker;
	bt_graph *graph = bt_graph_create(0);

	event_maker_free(maker);
	maker->payload = g_string_new(NULL);
	maker->bytes = g_string_new(NULL);
	maker->body = g_string_new(NULL);
	maker->data = data;
	maker->end = data + size;
	maker->depth = maker->fields = 0;
	bt_graph_add_source_component_with_initialize_method_data(
		graph, source_class(), "source", NULL, maker, BT_LOGGING_LEVEL_NONE, &source);
	bt_graph_add_simple_sink_component(graph, "sink", NULL, consume, NULL, &sink, &taker);
	bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		bt_component_sink_borrow_input_port_by_index_const(taker, 0), NULL);
	if (bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK)
		abort();
	bt_graph_put_ref(graph);
	maker->user = sink.user;
}

void event_maker_free(struct event_maker *maker)
{
	if (!maker->payload)
		return;
	g_string_free(maker->payload, TRUE);
	g_string_free(maker->bytes, TRUE);
	g_string_free(maker->body, TRUE);
	maker->payload = NULL;
}
