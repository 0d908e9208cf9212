/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/configkeys.h"

#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "base/suggest.h"
#include "config/config.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

#define KEY(section, name, type, field, text, number, min, max)                                              \
	{                                                                                                    \
		section, name, type, offsetof(struct config, field), text, number, min, max                  \
	}

const struct config_key config_keys[] = {
	KEY("agent", "http", ADDRESS_OR_NONE, http, "127.0.0.1:9412", 0, 0, 0),
	KEY("agent", "socket", TEXT, socket, "/run/blkin/agent.sock", 0, 0, 0),
	KEY("agent", "stop-timeout", DURATION, stop_timeout, NULL, 5 * SECOND, 0, 600 * SECOND),
	KEY("agent", "state-directory", FOLDER, state_directory, "/var/lib/blkin", 0, 0, 0),
	KEY("session", "name", NAME, session_name, "blkin", 0, 0, 0),
	KEY("session", "tracing-group", TEXT, tracing_group, "tracing", 0, 0, 0),
	KEY("session", "relay-host", TEXT, relay_host, "127.0.0.1", 0, 0, 0),
	KEY("session", "relay-control-port", NUMBER, relay_control_port, NULL, 5342, 0, 65535),
	KEY("session", "relay-data-port", NUMBER, relay_data_port, NULL, 5343, 0, 65535),
	KEY("session", "relay-live-port", NUMBER, relay_live_port, NULL, 5344, 0, 65535),
	KEY("session", "relay-output", TEXT, relay_output, "/var/lib/blkin/relay", 0, 0, 0),
	KEY("session", "keep", CHOICE, keep, "no|yes", 1, 0, 1),
	KEY("session", "live-timer", DURATION, live_timer, NULL, 200 * MS, 1 * MS, 60 * SECOND),
	KEY("session", "level", LEVEL, level, NULL, 7, 0, 7),
	KEY("session", "memory", SIZE, memory, NULL, 32 * MIB, MIB, 64 * GIB),
	KEY("session", "disk", SIZE, disk, NULL, 512 * MIB, 4 * MIB, 4096 * GIB),
	KEY("spans", "linger", DURATION, linger, NULL, 5 * SECOND, 10 * MS, 3600 * SECOND),
	KEY("spans", "grace", DURATION, grace, NULL, 100 * MS, 0, 60 * SECOND),
	KEY("spans", "max-pending", SIZE, max_pending, NULL, 16 * MIB, 64 * KIB, GIB),
	KEY("output", "type", CHOICE, output_type, "scribe|http", CONFIG_OUTPUT_SCRIBE, 0, 1),
	KEY("output", "server", ADDRESSES, server, "127.0.0.1:9410", 0, 0, 0),
	KEY("output", "category", NAME, category, "zipkin", 0, 0, 0),
	KEY("output", "path", PATH, path, "/api/v1/spans", 0, 0, 0),
	KEY("output", "compression", CHOICE, compression, "gzip|none", CONFIG_COMPRESSION_GZIP, 0, 1),
	KEY("output", "tls", CHOICE, tls, "no|yes", 0, 0, 1),
	KEY("output", "tls-ca", TEXT, tls_ca, "", 0, 0, 0),
	KEY("output", "tls-certificate", TEXT, tls_certificate, "", 0, 0, 0),
	KEY("output", "tls-key", TEXT, tls_key, "", 0, 0, 0),
	KEY("output", "batch-spans", NUMBER, batch_spans, NULL, 500, 1, 100000),
	KEY("output", "batch-size", SIZE, batch_size, NULL, 512 * KIB, 4 * KIB, 8 * MIB),
	KEY("output", "batch-delay", DURATION, batch_delay, NULL, 100 * MS, 0, 60 * SECOND),
	KEY("output", "queue-size", SIZE, queue_size, NULL, 32 * MIB, 64 * KIB, 64 * GIB),
	KEY("output", "window", NUMBER, window, NULL, 8, 1, 1000),
	KEY("output", "timeout", DURATION, timeout, NULL, 10 * SECOND, 10 * MS, 600 * SECOND),
	KEY("output", "retry-min", DURATION, retry_min, NULL, 250 * MS, 1 * MS, 3600 * SECOND),
	KEY("output", "retry-max", DURATION, retry_max, NULL, 1500 * MS, 1 * MS, 3600 * SECOND),
	KEY("output", "return-interval", DURATION, return_interval, NULL, 30 * SECOND, 1 * MS, 3600 * SECOND),
	KEY("output", "rate-limit", SIZE, rate_limit, NULL, 0, 0, 64 * GIB),
	KEY("spool", "max-size", SIZE, spool_max_size, NULL, GIB, 0, 64 * 1024 * GIB),
	KEY("spool", "sync", CHOICE, spool_sync, "normal|full", CONFIG_SYNC_NORMAL, 0, 1),
	KEY("spool", "replay-share", NUMBER, spool_replay_share, NULL, 50, 1, 100),
	KEY("spool", "replay-floor", NUMBER, spool_replay_floor, NULL, 5000, 1, 10000000),
};

const size_t config_key_count = G_N_ELEMENTS(config_keys);

const struct config_key *config_key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].section, section) && !strcmp(config_keys[i].name, name))
			return &config_keys[i];
	return NULL;
}

/* The key (or, @section NULL, the section) whose name is nearest to @name, or NULL if none is near. */
static const char *suggestion(const char *section, const char *name)
{
	const char *names[G_N_ELEMENTS(config_keys)];
	size_t count = 0;

	for (size_t i = 0; i < config_key_count; i++)
		if (!section || !strcmp(section, config_keys[i].section))
			names[count++] = section ? config_keys[i].name : config_keys[i].section;
	return suggest(name, names, count);
}

static const char *section_of_key(const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].name, name))
			return config_keys[i].section;
	return NULL;
}

void config_key_log_unknown(const char *file, unsigned line, const char *section, const char *name)
{
	const char *near = suggestion(section, name), *elsewhere = section_of_key(name);

	if (elsewhere)
		log_error("%s:%u: unknown key `%s` in [%s]; it belongs in [%s]", file, line, name, section,
			elsewhere);
	else if (near)
		log_error("%s:%u: unknown key `%s` in [%s]; did you mean `%s`?", file, line, name, section,
			near);
	else
		log_error("%s:%u: unknown key `%.64s` in [%s]; blkin-agent.conf(5) lists the keys", file,
			line, name, section);
}

bool config_section_is_known(const char *section)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].section, section))
			return true;
	return false;
}

void config_section_log_unknown(const char *file, unsigned line, const char *section)
{
	const char *near = suggestion(NULL, section);

	log_error("%s:%u: unknown section [%.64s]; %s%s%s", file, line, section,
		near ? "did you mean [" : "blkin-agent.conf(5)", near ? near : " lists them",
		near ? "]?" : "");
}
