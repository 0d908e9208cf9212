/* SPDX-License-Identifier: BSD-2-Clause */
#include "reload.h"

#include <string.h>

#include "assemble/pipeline.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/collector.h"
#include "config/configkeys.h"
#include "config/configvalue.h"
#include "output/output.h"
#include "status/http.h"
#include "uplink/uplink.h"

/* What a changed key asks for; the rooms look at all of theirs. */
enum {
	RESTART = 0, /* nothing that can be done while the agent runs */
	VALUE = 1,   /* whoever needs it looks it up */
	MOVE_HTTP = 2,
	LINE = 4,
	CHANGE_LEVEL = 8,
	UPLINK = 16
};

static const struct live {
	const char *section, *name; /* NULL: the rest of the section */
	unsigned what;
} live[] = {
	{"agent", "http", MOVE_HTTP},
	{"agent", "stop-timeout", VALUE},
	{"session", "level", CHANGE_LEVEL},
	{"spans", NULL, LINE},
	{"output", "batch-spans", LINE},
	{"output", "batch-size", LINE},
	{"output", "batch-delay", LINE},
	{"output", "queue-size", LINE},
	{"output", NULL, UPLINK},
};

static unsigned what_for(const struct config_key *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(live); i++)
		if (!strcmp(live[i].section, key->section) &&
			(!live[i].name || !strcmp(live[i].name, key->name)))
			return live[i].what;
	return RESTART;
}

static bool differs(const struct config *one, const struct config *other, const struct config_key *key)
{
	g_autofree char *a = config_value_print(one, key), *b = config_value_print(other, key);

	return strcmp(a, b) != 0;
}

/* What is to be done for the keys that differ; those that wait for a restart are told. */
static unsigned compare(struct reload *reload, const struct config *fresh)
{
	g_autoptr(GString) waiting = g_string_new(NULL);
	unsigned what = 0;

	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];

		if (!differs(reload->config, fresh, key))
			continue;
		what |= what_for(key);
		if (what_for(key) != RESTART)
			continue;
		log_warning("`%s` in [%s] is changed: that counts from the next start on", key->name,
			key->section);
		g_string_append_printf(waiting, "%s%s", waiting->len ? ", " : "", key->name);
	}
	g_strlcpy(reload->state.waiting, waiting->str, sizeof(reload->state.waiting));
	return what;
}

/* The values that count now are those of @fresh, but for what waits for a restart. */
static void take_over(struct config *config, const struct config *fresh)
{
	for (size_t i = 0; i < config_key_count; i++) {
		g_autofree char *value = config_value_print(fresh, &config_keys[i]);
		char error[256];

		if (what_for(&config_keys[i]) != RESTART)
			config_value_set(config, &config_keys[i], value, error, sizeof(error));
	}
}

/* The new configuration, with the ports of a relay daemon that is ours and goes on. */
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
static int apply(struct reload *reload, const struct config *fresh, unsigned what)
{
	struct uplink_options options = output_options(fresh);
	struct uplink *uplink = NULL;

	if (what & UPLINK && !(uplink = uplink_create(reload->base, reload->queue, &options)))
		return -1;
	if (what & MOVE_HTTP && http_move(reload->http, reload->base, fresh->http) != 0) {
		uplink_destroy(uplink);
		return -1;
	}
	take_over(reload->config, fresh);
	if (what & LINE)
		line_configure(reload->line, reload->config);
	if (what & CHANGE_LEVEL)
		collector_set_level(reload->collector, reload->config->level);
	if (uplink) {
		uplink_destroy(*reload->uplink);
		*reload->uplink = uplink;
		uplink_wake(uplink);
	}
	return 0;
}

bool reload_run(struct reload *reload)
{
	struct config fresh;
	unsigned what = 0;
	bool good = load(reload, &fresh) == 0;

	if (good) {
		what = compare(reload, &fresh);
		good = apply(reload, &fresh, what) == 0;
	}
	config_free(&fresh);
	reload->state.failed = !good;
	if (good) {
		reload->state.succeeded = clock_wall();
		log_info("the configuration is read anew%s",
			what ? "" : ": nothing of it changes a running agent");
	} else {
		reload->state.failures++;
		log_error("the configuration is not taken: the one of before counts on");
	}
	return good && what;
}
