/* SPDX-License-Identifier: BSD-2-Clause */
#include "read/reader.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "base/memory.h"

static bt_logging_level log_level = BT_LOGGING_LEVEL_NONE;
/* After so many of the messages that were held time passes. */
#define HELD_TICK 64

struct reader {
	bt_graph *graph;
	bt_message_iterator *iterator; /* of our sink; set once the graph is configured */
	struct intake *intake;         /* NULL: nobody takes the messages */
	GPtrArray *held;               /* messages; NULL unless it holds or is to take what it held */
	bool hold;
	char error[256];
};

/* Keeps the innermost cause of babeltrace2's error, if it left one. */
static void take_error(char *error, size_t size, const char *otherwise)
{
	const bt_error *cause = bt_current_thread_take_error();

	snprintf(error, size, "%s", otherwise);
	if (!cause)
		return;
	if (bt_error_get_cause_count(cause) > 0) {
		const char *message = bt_error_cause_get_message(bt_error_borrow_cause_by_index(cause, 0));

		snprintf(error, size, "%s", message);
		g_strdelimit(error, "\n\r", ' ');
	}
	bt_error_release(cause);
}

/* Our sink */

static void take_held(struct reader *reader)
{
	for (guint i = 0; i < reader->held->len; i++) {
		intake_message(reader->intake, g_ptr_array_index(reader->held, i));
		if (i % HELD_TICK == 0)
			intake_tick(reader->intake, false);
	}
	g_clear_pointer(&reader->held, g_ptr_array_unref);
}

static void put_message(void *message)
{
	bt_message_put_ref(message);
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	uint64_t count;

	status = bt_message_iterator_next(reader->iterator, &messages, &count);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_component_class_sink_consume_method_status)status; /* the enums agree by design */
	for (uint64_t i = 0; i < count; i++) {
		if (reader->hold) {
			g_ptr_array_add(reader->held, (gpointer)(uintptr_t)messages[i]);
			continue;
		}
		if (reader->intake)
			intake_message(reader->intake, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (reader->intake && !reader->hold)
		intake_tick(reader->intake, false);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status initialize(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), data);
	if (bt_self_component_sink_add_input_port(self, "in", NULL, NULL) !=
		BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status configured(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_self_component_port_input *port = bt_self_component_sink_borrow_input_port_by_index(self, 0);

	if (bt_message_iterator_create_from_sink_component(self, port, &reader->iterator) !=
		BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(reader->iterator);
}

/* The graph */

static const bt_component_sink *add_sink(struct reader *reader)
{
	bt_component_class_sink *sink_class = bt_component_class_sink_create("blkin", consume);
	const bt_component_sink *sink = NULL;

	if (!sink_class)
		return NULL;
	bt_component_class_sink_set_initialize_method(sink_class, initialize);
	bt_component_class_sink_set_graph_is_configured_method(sink_class, configured);
	bt_component_class_sink_set_finalize_method(sink_class, finalize);
	bt_graph_add_sink_component_with_initialize_method_data(
		reader->graph, sink_class, "spans", NULL, reader, BT_LOGGING_LEVEL_NONE, &sink);
	bt_component_class_sink_put_ref(sink_class);
	return sink;
}

/* Adds a source of plugin `ctf` that reads @input. */
static const bt_component_source *add_source(
	struct reader *reader, const char *class_name, const char *name, const char *input)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *source_class;
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
			BT_PLUGIN_FIND_STATUS_OK ||
		!(source_class = bt_plugin_borrow_source_component_class_by_name_const(plugin, class_name)) ||
		bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) !=
			BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
		bt_value_array_append_string_element(inputs, input) !=
			BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK)
		goto out;
	if (!strcmp(class_name, "lttng-live"))
		bt_value_map_insert_string_entry(params, "session-not-found-action", "end");
	bt_graph_add_source_component(reader->graph, source_class, name, params, log_level, &source);
out:
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return source;
}

static bool connect_ports(struct reader *reader, const bt_port_output *from, const bt_port_input *to)
{
	return bt_graph_connect_ports(reader->graph, from, to, NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

static struct reader *reader_create(const struct intake_options *into)
{
	struct reader *reader = g_new0(struct reader, 1);

	if (into)
		reader->intake = intake_create(into);
	reader->graph = bt_graph_create(0);
	return reader;
}

struct reader *reader_open_live(
	const char *url, const struct intake_options *into, char *error, size_t error_size)
{
	struct reader *reader = reader_create(into);
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;

	if (reader->graph)
		sink = add_sink(reader);
	if (sink)
		source = add_source(reader, "lttng-live", "live", url);
	if (source && connect_ports(reader, bt_component_source_borrow_output_port_by_index_const(source, 0),
			      bt_component_sink_borrow_input_port_by_index_const(sink, 0)))
		return reader;
	take_error(
		error, error_size, "babeltrace2 cannot read live sessions: is its plugin `ctf` installed?");
	reader_close(reader);
	return NULL;
}

static const bt_component_filter *add_muxer(struct reader *reader)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_filter *muxer_class;
	const bt_component_filter *muxer = NULL;

	if (bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
		BT_PLUGIN_FIND_STATUS_OK)
		return NULL;
	muxer_class = bt_plugin_borrow_filter_component_class_by_name_const(plugin, "muxer");
	if (muxer_class)
		bt_graph_add_filter_component(
			reader->graph, muxer_class, "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer);
	bt_plugin_put_ref(plugin);
	return muxer;
}

/* Connects every port of @source to a new port of the muxer, which makes one as its last is taken. */
static bool connect_all(
	struct reader *reader, const bt_component_source *source, const bt_component_filter *muxer)
{
	uint64_t count = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t free_port = bt_component_filter_get_input_port_count(muxer) - 1;

		if (!connect_ports(reader, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(muxer, free_port)))
			return false;
	}
	return true;
}

/* Such as lttng-relayd's before it has any: babeltrace2 2.1 aborts. */
static bool has_empty_metadata(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	struct stat file;

	return stat(path, &file) == 0 && !file.st_size;
}

static bool add_directory(
	struct reader *reader, const bt_component_filter *muxer, const char *dir, size_t index)
{
	/* components need names that differ, and ours are taken */
	g_autofree char *name = g_strdup_printf("trace-%zu", index);
	const bt_component_source *source = add_source(reader, "fs", name, dir);

	return source && connect_all(reader, source, muxer);
}

struct reader *reader_open_files(
	char *const *dirs, size_t count, const struct intake_options *into, char *error, size_t error_size)
{
	struct reader *reader = reader_create(into);
	const bt_component_sink *sink = reader->graph ? add_sink(reader) : NULL;
	const bt_component_filter *muxer = sink ? add_muxer(reader) : NULL;
	char otherwise[4200];

	snprintf(otherwise, sizeof(otherwise), "babeltrace2 cannot read traces: are its plugins installed?");
	if (!muxer)
		goto failed;
	for (size_t i = 0; i < count; i++) {
		snprintf(otherwise, sizeof(otherwise), "%s/metadata is empty", dirs[i]);
		if (has_empty_metadata(dirs[i]))
			goto failed;
		snprintf(otherwise, sizeof(otherwise), "%s: not a trace that babeltrace2 can read", dirs[i]);
		if (!add_directory(reader, muxer, dirs[i], i))
			goto failed;
	}
	if (connect_ports(reader, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		    bt_component_sink_borrow_input_port_by_index_const(sink, 0)))
		return reader;
failed:
	take_error(error, error_size, otherwise);
	reader_close(reader);
	return NULL;
}

enum reader_status reader_step(struct reader *reader)
{
	if (reader->held && !reader->hold)
		take_held(reader);
	switch (bt_graph_run_once(reader->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		return READER_MORE;
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		if (reader->intake && !reader->hold)
			intake_tick(reader->intake, true);
		return READER_IDLE;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return READER_END;
	default:
		take_error(reader->error, sizeof(reader->error), "babeltrace2 failed without saying why");
		return READER_ERROR;
	}
}

void reader_hold(struct reader *reader, bool hold)
{
	if (hold && !reader->held)
		reader->held = g_ptr_array_new_with_free_func(put_message);
	reader->hold = hold;
}

unsigned reader_ended_streams(const struct reader *reader)
{
	return intake_ended_streams(reader->intake);
}

unsigned reader_traces(const struct reader *reader)
{
	return intake_traces(reader->intake);
}

bool reader_has_trace(const struct reader *reader, const struct stream_key *key)
{
	return intake_has_trace(reader->intake, key);
}

const char *reader_error(const struct reader *reader)
{
	return reader->error;
}

void reader_close(struct reader *reader)
{
	if (reader->held)
		g_ptr_array_unref(reader->held);
	bt_graph_put_ref(reader->graph);
	bt_current_thread_clear_error(); /* a live source whose relay is gone leaves one as it goes */
	if (reader->intake)
		intake_destroy(reader->intake);
	g_free(reader);
	memory_give_back();
}

void reader_log_errors(void)
{
	log_level = BT_LOGGING_LEVEL_ERROR;
}

bool reader_knows_ctf2(char *version, size_t size)
{
	unsigned major = bt_version_get_major(), minor = bt_version_get_minor();

	snprintf(version, size, "%u.%u", major, minor);
	return major > 2 || (major == 2 && minor > 0);
}
