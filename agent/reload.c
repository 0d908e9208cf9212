/* SPDX-License-Identifier: BSD-2-Clause */
#include "reload.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/check.h"
#include "config/load.h"
#include "config/merge.h"
#include "inlet/inputs.h"
#include "net/httpheaders.h"
#include "output/outputs.h"
#include "queue/fanout.h"
#include "stats/monitor.h"
#include "status/http.h"
#include "supervise/supervisor.h"

/* Logs the keys that need a restart, and stores their names for the status; returns whether there are any. */
static bool name_waiting(struct reload *reload, const struct config *merged, const struct config *fresh)
{
	g_autoptr(GPtrArray) waiting = config_waiting(merged, fresh);
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < waiting->len; i++) {
		const char *name = g_ptr_array_index(waiting, i);

		log_warning("%s was changed: this takes effect after a restart", name);
		g_string_append_printf(names, "%s%s", i ? ", " : "", name);
	}
	g_strlcpy(reload->state.waiting, names->str, sizeof(reload->state.waiting));
	return waiting->len > 0;
}

/* The new configuration, but with the ports of the agent's own relay daemon, which keeps running. */
static int load(struct reload *reload, struct config *fresh)
{
	const struct config *config = reload->config;

	if (config_load(fresh, reload->file, config->user) != 0)
		return -1;
	if (config->own_relay && fresh->relay_control_port == 0) {
		fresh->relay_control_port = config->relay_control_port;
		fresh->relay_data_port = config->relay_data_port;
		fresh->relay_live_port = config->relay_live_port;
	}
	return 0;
}

static int move(struct reload *reload, const struct config *merged, bool http, struct listen_staying *staying)
{
	if (http && http_move(reload->http, merged->http, staying) != 0)
		return -1;
	if (inputs_move(reload->inputs, reload->config, merged, staying) == 0)
		return 0;
	if (http)
		http_move_back(reload->http, reload->config->http);
	return -1;
}

/* To their addresses of now, of which one may have been another one's that moves, too. */
static int move_all(struct reload *reload, const struct config *merged, bool http)
{
	struct listen_staying staying = {.count = 0};
	int status;

	if (!http)
		http_stay(reload->http, &staying);
	inputs_share(reload->inputs, reload->config, merged, &staying);
	status = move(reload, merged, http, &staying);
	inputs_unshare(reload->inputs);
	return status;
}

/* What may fail comes first, and is undone if a later step fails. */
static int apply(struct reload *reload, const struct config *merged, unsigned changes)
{
	struct outputs_change *outputs = outputs_prepare(reload->outputs, reload->config, merged);

	if (!outputs)
		return -1;
	if (move_all(reload, merged, changes & CONFIG_CHANGES_HTTP) != 0) {
		outputs_abandon(outputs);
		return -1;
	}
	outputs_commit(outputs, merged->stop_timeout);
	fanout_configure(reload->fanout, outputs_outlets(reload->outputs));
	inputs_configure(reload->inputs, merged, outputs_outlets(reload->outputs));
	if (changes & CONFIG_CHANGES_SESSION)
		supervisor_renew(reload->supervisor, merged);
	else if (changes & (CONFIG_CHANGES_READER | CONFIG_CHANGES_SPANS | CONFIG_CHANGES_LOG |
				   CONFIG_CHANGES_THRESHOLDS))
		supervisor_configure(reload->supervisor, merged);
	if (changes & CONFIG_CHANGES_THRESHOLDS)
		monitor_configure(reload->monitor, merged);
	return 0;
}

/*
 * Headers are read with each connection, so a mistake in their file would show with the next one only, long
 * after who made it has gone. It is no reason to refuse: the spans wait.
 */
static void try_headers(const struct config *merged)
{
	for (guint i = 0; i < merged->outputs->len; i++) {
		const struct output_config *is = g_ptr_array_index(merged->outputs, i);
		struct buffer headers = {0};
		char why[512];

		if (config_output_delivers(is) && *is->headers_file &&
			!httpheaders_read(is->headers_file, &headers, why, sizeof(why)))
			log_warning("[%s]: %s: the next connection needs them", is->section, why);
		buffer_free(&headers);
	}
}

/* Takes over @merged. */
static void replace(struct reload *reload, struct config *merged)
{
	reload_free(reload);
	reload->config = reload->merged = merged;
}

/* What changes at any output; adding or removing one counts as a change of everything. */
static unsigned changes_of_outputs(const struct config *config, const struct config *merged)
{
	unsigned changes = config->outputs->len != merged->outputs->len ? CONFIG_CHANGES_FORMAT : 0;

	for (guint i = 0; i < merged->outputs->len; i++) {
		const struct output_config *is = g_ptr_array_index(merged->outputs, i);
		const struct output_config *was = config_output(config, is->name);

		changes |= was ? config_output_changes(was, is) : CONFIG_CHANGES_FORMAT;
	}
	return changes;
}

/* Applies the new configuration; returns -1 if that fails. @waiting says whether keys need a restart. */
static int take(struct reload *reload, const struct config *fresh, unsigned *changes, bool *waiting)
{
	struct config *merged = g_new(struct config, 1);

	config_merge(merged, reload->config, fresh);
	*changes = config_changes(reload->config, merged) | changes_of_outputs(reload->config, merged);
	if (config_check(merged) != 0 || apply(reload, merged, *changes) != 0) {
		config_free(merged);
		g_free(merged);
		return -1;
	}
	*waiting = name_waiting(reload, merged, fresh);
	try_headers(merged);
	log_configure((enum log_level)merged->log_level, (enum log_format)merged->log_format);
	replace(reload, merged);
	return 0;
}

void reload_run(struct reload *reload)
{
	struct config fresh;
	unsigned changes = 0;
	bool waiting = false;
	bool good = load(reload, &fresh) == 0 && take(reload, &fresh, &changes, &waiting) == 0;

	g_free(reload->state.read);
	reload->state.read = g_strdup(fresh.hash);
	config_free(&fresh);
	reload->state.failed = !good;
	if (good) {
		reload->state.succeeded = clock_wall();
		log_info("configuration reloaded%s", changes   ? ""
						     : waiting ? ": no change takes effect before a restart"
							       : ": nothing has changed");
	} else {
		reload->state.failures++;
		log_error("configuration not reloaded: the previous one stays in force");
	}
}

void reload_free(struct reload *reload)
{
	if (reload->merged)
		config_free(reload->merged);
	g_clear_pointer(&reload->merged, g_free);
}
