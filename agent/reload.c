/* SPDX-License-Identifier: BSD-2-Clause */
#include "reload.h"

#include "assemble/pipeline.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/collector.h"
#include "config/merge.h"
#include "output/output.h"
#include "status/http.h"
#include "uplink/uplink.h"

static const struct output_config *output_of(const struct config *config)
{
	return config_output(config, "default");
}

/* Logs the keys that need a restart, and keeps their names for the status. */
static void name_waiting(struct reload *reload, const struct config *merged, const struct config *fresh)
{
	g_autoptr(GPtrArray) waiting = config_waiting(merged, fresh);
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < waiting->len; i++) {
		const char *name = g_ptr_array_index(waiting, i);

		log_warning("%s is changed: this takes effect after a restart", name);
		g_string_append_printf(names, "%s%s", i ? ", " : "", name);
	}
	g_strlcpy(reload->state.waiting, names->str, sizeof(reload->state.waiting));
}

/* The new configuration, with the ports of the agent's own relay daemon, which keeps running. */
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

/*
 * What may fail comes first, and is undone if something does. The old uplink gives back what has no answer
 * yet, and the new one sends it.
 */
static int apply(struct reload *reload, const struct config *merged, unsigned changes)
{
	struct uplink_options options = output_options(output_of(merged));
	struct uplink *uplink = NULL;

	if (changes & CONFIG_CHANGES_UPLINK &&
		!(uplink = uplink_create(reload->base, reload->queue, &options)))
		return -1;
	if (changes & CONFIG_CHANGES_HTTP && http_move(reload->http, reload->base, merged->http) != 0) {
		uplink_destroy(uplink);
		return -1;
	}
	if (changes & (CONFIG_CHANGES_SPANS | CONFIG_CHANGES_BATCHES))
		line_configure(reload->line, merged);
	if (changes & CONFIG_CHANGES_COLLECTOR)
		collector_configure(reload->collector, merged);
	if (uplink) {
		uplink_destroy(*reload->uplink);
		*reload->uplink = uplink;
		uplink_wake(uplink);
	}
	return 0;
}

/* Takes @merged over. */
static void replace(struct reload *reload, struct config *merged)
{
	reload_free(reload);
	reload->config = reload->merged = merged;
}

/* Makes the new configuration and applies it; returns -1 if there is none. */
static int take(struct reload *reload, const struct config *fresh, unsigned *changes)
{
	struct config *merged = g_new(struct config, 1);

	config_merge(merged, reload->config, fresh);
	*changes = config_changes(reload->config, merged) |
		   config_output_changes(output_of(reload->config), output_of(merged));
	if (apply(reload, merged, *changes) != 0) {
		config_free(merged);
		g_free(merged);
		return -1;
	}
	name_waiting(reload, merged, fresh);
	replace(reload, merged);
	return 0;
}

bool reload_run(struct reload *reload)
{
	struct config fresh;
	unsigned changes = 0;
	bool good = load(reload, &fresh) == 0 && take(reload, &fresh, &changes) == 0;

	config_free(&fresh);
	reload->state.failed = !good;
	if (good) {
		reload->state.succeeded = clock_wall();
		log_info("the configuration is reloaded%s",
			changes ? "" : ": nothing changes while the agent runs");
	} else {
		reload->state.failures++;
		log_error("the configuration is not reloaded: the agent keeps the one that it has");
	}
	return good && changes;
}

void reload_free(struct reload *reload)
{
	if (reload->merged)
		config_free(reload->merged);
	g_clear_pointer(&reload->merged, g_free);
}
