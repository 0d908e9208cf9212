/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "base/memory.h"
#include "reader/decode/lateclasses.h"
#include "reader/decode/merge.h"
#include "reader/decode/oneoffset.h"
#include "reader/decode/spareclock.h"
#include "reader/decode/spareroom.h"

static bt_logging_level log_level = BT_LOGGING_LEVEL_NONE;
/* After so many of the messages that were held time passes. */
#define HELD_TICK 64
/* Messages that are taken at a time from files. */
#define STEP 15

struct reader {
	bt_graph *graph;
	bool merges;                   /* what it reads are files */
	uint64_t ports;                /* of our sink: one, or with files one for each stream */
	bt_message_iterator *iterator; /* the one port's, once the graph is configured; or */
	struct merge *merge;           /* that of files' */
	struct intake *intake;         /* NULL: nobody takes the messages */
	struct clock_offsets *offsets; /* of clocks; borrowed, or */
	struct clock_offsets own;      /* of this reader alone */
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

static void take(struct reader *reader, const bt_message *message)
{
	if (reader->hold) {
		g_ptr_array_add(reader->held, (gpointer)(uintptr_t)message);
		return;
	}
	if (reader->intake)
		intake_message(reader->intake, message);
	bt_message_put_ref(message);
}

static void take_all(struct reader *reader, bt_message_array_const messages, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		take(reader, messages[i]);
}

static bt_message_iterator_next_status take_next(struct reader *reader)
{
	bt_message_array_const messages;
	uint64_t count;
	bt_message_iterator_next_status status =
		bt_message_iterator_next(reader->iterator, &messages, &count);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		take_all(reader, messages, count);
	return status;
}

/* Those of a step are as many as babeltrace2 gives at a time. */
static bt_message_iterator_next_status take_merged(struct reader *reader)
{
	bt_message_iterator_next_status status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	bt_message_array_const messages;
	uint64_t taken = 0, count;

	while (taken < STEP && (status = merge_next(reader->merge, STEP - taken, &messages, &count)) ==
				       BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		take_all(reader, messages, count);
		taken += count;
	}
	if (taken && status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK; /* it is said again */
	return status;
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_iterator_next_status status = reader->merge ? take_merged(reader) : take_next(reader);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK && reader->intake && !reader->hold)
		intake_tick(reader->intake, false);
	return (bt_component_class_sink_consume_method_status)status; /* the enums agree by design */
}

static bt_component_class_initialize_method_status initialize(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data)
{
	const struct reader *reader = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), data);
	for (uint64_t i = 0; i < reader->ports; i++) {
		char name[32];

		snprintf(name, sizeof(name), "in%" PRIu64, i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
			BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status configured(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bool good;

	if (reader->merges)
		good = (reader->merge = merge_create(self, reader->ports)) != NULL;
	else
		good = bt_message_iterator_create_from_sink_component(self,
			       bt_self_component_sink_borrow_input_port_by_index(self, 0),
			       &reader->iterator) == BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK;
	return good ? BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK
		    : BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
}

static void finalize(bt_self_component_sink *self)
{
	struct reader *reader = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(reader->iterator);
	g_clear_pointer(&reader->merge, merge_destroy);
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
	reader->offsets = into && into->steps ? &into->steps->offsets : &reader->own;
	reader->own.one_each = into && into->one_offset;
	oneoffset_use(reader->offsets);
	reader->graph = bt_graph_create(0);
	return reader;
}

struct reader *reader_open_live(
	const char *url, const struct intake_options *into, char *error, size_t error_size)
{
	struct reader *reader = reader_create(into);
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;

	lateclasses_hold();
	spareclock_lend();
	spareroom_lend();
	reader->ports = 1;
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

/* Such as lttng-relayd's before it has any: babeltrace2 2.1 aborts. */
static bool has_empty_metadata(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	struct stat file;

	return stat(path, &file) == 0 && !file.st_size;
}

static const bt_component_source *add_directory(struct reader *reader, const char *dir, size_t index)
{
	/* components need names that differ */
	g_autofree char *name = g_strdup_printf("trace-%zu", index);
	const bt_component_source *source = add_source(reader, "fs", name, dir);

	if (source)
		reader->ports += bt_component_source_get_output_port_count(source);
	return source;
}

/* Connects every port of the sources to one of the sink, of which there are as many. */
static bool connect_all(struct reader *reader, const bt_component_source *const *sources, size_t count,
	const bt_component_sink *sink)
{
	uint64_t next = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t ports = bt_component_source_get_output_port_count(sources[i]);

		for (uint64_t port = 0; port < ports; port++)
			if (!connect_ports(reader,
				    bt_component_source_borrow_output_port_by_index_const(sources[i], port),
				    bt_component_sink_borrow_input_port_by_index_const(sink, next++)))
				return false;
	}
	return true;
}

struct reader *reader_open_files(
	char *const *dirs, size_t count, const struct intake_options *into, char *error, size_t error_size)
{
	struct reader *reader = reader_create(into);
	g_autofree const bt_component_source **sources = g_new0(const bt_component_source *, count);
	const bt_component_sink *sink;
	char otherwise[4200];

	snprintf(otherwise, sizeof(otherwise), "babeltrace2 cannot read traces: are its plugins installed?");
	reader->merges = true;
	if (!reader->graph)
		goto failed;
	for (size_t i = 0; i < count; i++) {
		snprintf(otherwise, sizeof(otherwise), "%s/metadata is empty", dirs[i]);
		if (has_empty_metadata(dirs[i]))
			goto failed;
		snprintf(otherwise, sizeof(otherwise), "%s: not a trace that babeltrace2 can read", dirs[i]);
		if (!(sources[i] = add_directory(reader, dirs[i], i)))
			goto failed;
	}
	sink = add_sink(reader);
	if (sink && connect_all(reader, sources, count, sink))
		return reader;
failed:
	take_error(error, error_size, otherwise);
	reader_close(reader);
	return NULL;
}

/* Where a clock is so late that it overflows, a live source goes on, and leaves an error behind all the same:
 * with it the next call would end the process. */
enum reader_status reader_step(struct reader *reader)
{
	oneoffset_use(reader->offsets);
	if (reader->held && !reader->hold)
		take_held(reader);
	switch (bt_graph_run_once(reader->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		bt_current_thread_clear_error();
		return READER_MORE;
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		bt_current_thread_clear_error();
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

unsigned reader_streams(const struct reader *reader)
{
	return intake_streams(reader->intake);
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
	oneoffset_use(NULL);
	bt_graph_put_ref(reader->graph);
	if (!reader->merges)
		lateclasses_forget();
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
