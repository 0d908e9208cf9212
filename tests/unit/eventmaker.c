/* SPDX-License-Identifier: BSD-2-Clause */
#include "eventmaker.h"

#include <stdlib.h>

#include "eventmakerparts.h"

uint8_t event_maker_byte(struct event_maker *maker)
{
	return maker->data < maker->end ? *maker->data++ : 0;
}

uint64_t event_maker_word(struct event_maker *maker)
{
	uint64_t value = 0;

	for (int i = event_maker_byte(maker) % 9; i > 0; i--)
		value = value << 8 | event_maker_byte(maker);
	return value;
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
	payload = event_maker_structure(maker, trace_class, 12);
	bt_event_class_set_payload_field_class(event_class, payload);
	bt_event_class_set_name(event_class, maker->name ? maker->name : "made");
	trace = bt_trace_create(trace_class);
	stream = bt_stream_create(stream_class, trace);
	messages[0] = bt_message_stream_beginning_create(self, stream);
	message = bt_message_event_create(self, event_class, stream);
	event_maker_fill(
		maker, bt_event_borrow_payload_field(bt_message_event_borrow_event(message)), "/payload");
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
