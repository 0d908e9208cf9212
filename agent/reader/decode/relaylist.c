/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/relaylist.h"

#include <inttypes.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

/* Asks for the list; NULL if there is none to be had. */
static const bt_value *ask(const bt_component_class *live, const char *url)
{
	bt_value *params = bt_value_map_create();
	bt_query_executor *executor = NULL;
	const bt_value *list = NULL;

	if (params &&
		bt_value_map_insert_string_entry(params, "url", url) == BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
		executor = bt_query_executor_create(live, "sessions", params);
	if (executor && bt_query_executor_query(executor, &list) != BT_QUERY_EXECUTOR_QUERY_STATUS_OK)
		list = NULL;
	bt_query_executor_put_ref(executor);
	bt_value_put_ref(params);
	bt_current_thread_clear_error();
	return list;
}

static const bt_value *ask_relay(const struct config *config)
{
	g_autofree char *url =
		g_strdup_printf("net://%s:%" PRIu64, config->relay_host, config->relay_live_port);
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *live;
	const bt_value *list = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
		BT_PLUGIN_FIND_STATUS_OK)
		return NULL;
	live = bt_plugin_borrow_source_component_class_by_name_const(plugin, "lttng-live");
	if (live)
		list = ask(bt_component_class_source_as_component_class_const(live), url);
	bt_plugin_put_ref(plugin);
	return list;
}

static bool entry_is(const bt_value *session, const char *key, const char *wanted)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(session, key);

	return value && bt_value_is_string(value) && !strcmp(bt_value_string_get(value), wanted);
}

bool relaylist_has(const struct config *config, const struct session_identity *session)
{
	const bt_value *list = ask_relay(config);
	uint64_t count = list ? bt_value_array_get_length(list) : 0;
	char host[sizeof(session->host)];
	bool found = false;

	session_host(session, host, sizeof(host));
	for (uint64_t i = 0; i < count && !found; i++) {
		const bt_value *listed = bt_value_array_borrow_element_by_index_const(list, i);

		found = entry_is(listed, "session-name", session->name) &&
			entry_is(listed, "target-hostname", host);
	}
	bt_value_put_ref(list);
	return found;
}
