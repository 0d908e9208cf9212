/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/keys.h"

#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "base/suggest.h"
#include "config/change.h"
#include "config/config.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/* The words of `type`: the bar before the first one is skipped. */
#define WORD(upper, lower) "|" #lower
#define TYPES (&(OUTPUT_TYPES(WORD) "")[1])

/*
 * Section, name, type, field, what a change asks for, and of an output's what it is for; then the
 * default, and the bounds of a number.
 */
#define AGENT(in, called, kind, field, asks, ...)                                                            \
	{                                                                                                    \
		.section = in, .name = called, .type = kind, .scope = SCOPE_AGENT,                           \
		.offset = offsetof(struct config, field), .change = CONFIG_##asks, __VA_ARGS__               \
	}
#define OUTPUT(called, kind, field, asks, outputs, ...)                                                      \
	{                                                                                                    \
		.section = "output", .name = called, .type = kind, .scope = SCOPE_OUTPUT,                    \
		.offset = offsetof(struct output_config, field), .change = CONFIG_##asks,                    \
		.group = KEYS_##outputs, __VA_ARGS__                                                         \
	}

/* clang-format off */
const struct config_key config_keys[] = {
	AGENT("agent", "http", ADDRESS_OR_NONE, http, CHANGES_HTTP, .text = "127.0.0.1:9412"),
	AGENT("agent", "socket", TEXT, socket, NEEDS_RESTART, .text = "/run/blkin/agent.sock"),
	AGENT("agent", "log-level", CHOICE, log_level, CHANGES_LOG, .text = "error|warning|info", .number = LOG_LEVEL_INFO, .max = 2),
	AGENT("agent", "log-format", CHOICE, log_format, CHANGES_LOG, .text = "text|json", .number = LOG_TEXT, .max = 1),
	AGENT("agent", "stop-timeout", DURATION, stop_timeout, CHANGES_READER, .number = 5 * SECOND, .max = 10 * MINUTE),
	AGENT("agent", "state-directory", FOLDER, state_directory, NEEDS_RESTART, .text = "/var/lib/blkin"),
	AGENT("agent", "metrics-spans", NUMBER, metrics_spans, CHANGES_READ, .number = 200, .max = 2000),
	AGENT("agent", "page", CHOICE, page, CHANGES_READ, .text = "token|open|off", .number = CONFIG_PAGE_TOKEN, .max = 2),
	AGENT("agent", "page-traces", SIZE, page_traces, NEEDS_RESTART, .number = 4 * MIB, .max = 64 * MIB),
	AGENT("agent", "ui", TEXT, ui, CHANGES_READ, .text = ""),

	AGENT("session", "name", NAME, session_name, NEEDS_RESTART, .text = "blkin"),
	AGENT("session", "tracing-group", TEXT, tracing_group, NEEDS_RESTART, .text = "tracing"),
	AGENT("session", "relay-host", TEXT, relay_host, NEEDS_RESTART, .text = "127.0.0.1"),
	AGENT("session", "relay-control-port", NUMBER, relay_control_port, NEEDS_RESTART, .number = 5342, .max = 65535),
	AGENT("session", "relay-data-port", NUMBER, relay_data_port, NEEDS_RESTART, .number = 5343, .max = 65535),
	AGENT("session", "relay-live-port", NUMBER, relay_live_port, NEEDS_RESTART, .number = 5344, .max = 65535),
	AGENT("session", "relay-output", TEXT, relay_output, NEEDS_RESTART, .text = "/var/lib/blkin/relay"),
	AGENT("session", "keep", CHOICE, keep, NEEDS_RESTART, .text = "no|yes", .number = 1, .max = 1),
	AGENT("session", "live-timer", DURATION, live_timer, NEEDS_RESTART, .number = 200 * MS, .min = MS, .max = MINUTE),
	AGENT("session", "level", LEVEL, level, CHANGES_READER, .number = 7, .max = 7),
	AGENT("session", "memory", SIZE, memory, NEEDS_RESTART, .number = 32 * MIB, .min = MIB, .max = 64 * GIB),
	AGENT("session", "memory-max", SIZE, memory_max, NEEDS_RESTART, .number = 128 * MIB, .max = 64 * GIB),
	AGENT("session", "disk", SIZE, disk, NEEDS_RESTART, .number = 512 * MIB, .min = 4 * MIB, .max = 4 * TIB),
	AGENT("session", "canary", CHOICE, canary, NEEDS_RESTART, .text = "no|yes", .number = 0, .max = 1),
	AGENT("session", "reader-memory", SIZE, reader_memory, NEEDS_RESTART, .number = 160 * MIB, .min = 32 * MIB, .max = 64 * GIB),

	AGENT("spans", "linger", DURATION, linger, CHANGES_SPANS, .number = 5 * SECOND, .min = 10 * MS, .max = HOUR),
	AGENT("spans", "grace", DURATION, grace, CHANGES_SPANS, .number = 100 * MS, .max = MINUTE),
	AGENT("spans", "max-pending", SIZE, max_pending, CHANGES_SPANS, .number = 16 * MIB, .min = 64 * KIB, .max = GIB),

	AGENT("events", "names", GLOBS, event_names, CHANGES_SESSION, .text = ""),
	AGENT("events", "level", LEVEL, event_level, CHANGES_SESSION, .number = 7, .max = 7),
	AGENT("events", "filter", TEXT, event_filter, CHANGES_SESSION, .text = ""),
	AGENT("events", "context", CONTEXTS, event_context, CHANGES_SESSION, .text = "vpid, vtid, procname"),
	AGENT("events", "spans", PAIRS, event_spans, CHANGES_SESSION, .text = ""),

	AGENT("kernel", "events", GLOBS, kernel_events, CHANGES_SESSION, .text = ""),
	AGENT("kernel", "syscalls", GLOBS, kernel_syscalls, CHANGES_SESSION, .text = ""),
	AGENT("kernel", "functions", SYMBOLS, kernel_functions, CHANGES_SESSION, .text = ""),
	AGENT("kernel", "own", CHOICE, kernel_own, CHANGES_SESSION, .text = "no|yes", .number = 0, .max = 1),
	AGENT("kernel", "mode", CHOICE, kernel_mode, CHANGES_SESSION, .text = "live|flight", .number = CONFIG_KERNEL_LIVE, .max = 1),
	AGENT("kernel", "flight-per-minute", NUMBER, flight_per_minute, CHANGES_READER, .number = 2, .min = 1, .max = 60),
	AGENT("kernel", "flight-size", SIZE, flight_size, CHANGES_READER, .number = 64 * MIB, .min = MIB, .max = 64 * GIB),

#define INPUT(upper, lower, key, speaks) AGENT("input", key, SOCKET_OR_NONE, input[INPUT_##upper], CHANGES_READ, .text = ""),
	INPUT_TYPES(INPUT)
#undef INPUT
	AGENT("input", "category", NAME, input_category, CHANGES_READ, .text = "zipkin"),
	AGENT("input", "ack", CHOICE, input_ack, CHANGES_READ, .text = "spooled|queued", .number = CONFIG_ACK_SPOOLED, .max = 1),
	AGENT("input", "connections", NUMBER, input_connections, CHANGES_READ, .number = 1024, .min = 1, .max = 10000),
	AGENT("input", "memory", SIZE, input_memory, CHANGES_READ, .number = 64 * MIB, .min = MIB, .max = 64 * GIB),
	AGENT("input", "timeout", DURATION, input_timeout, CHANGES_READ, .number = 10 * SECOND, .min = 10 * MS, .max = 10 * MINUTE),

	OUTPUT("type", CHOICE, type, CHANGES_FORMAT, ANY, .text = TYPES, .number = CONFIG_OUTPUT_SCRIBE, .max = CONFIG_OUTPUT_TYPES - 1),
	OUTPUT("takes", WORDS, takes, CHANGES_LANES, DELIVERS, .text = "spans|events|messages", .number = CONFIG_TAKES_SPANS, .max = 7),
	OUTPUT("server", ADDRESSES, server, CHANGES_UPLINK, SERVERS, .text = "127.0.0.1:9410"),
	OUTPUT("balance", CHOICE, balance, CHANGES_UPLINK, SERVERS, .text = "no|yes", .max = 1),
	OUTPUT("category", NAME, category, CHANGES_UPLINK, CATEGORIES, .text = "zipkin"),
	OUTPUT("events-category", NAME, events_category, CHANGES_UPLINK, CATEGORIES, .text = "LTTng"),
	OUTPUT("format", CHOICE, format, CHANGES_FORMAT, FORMATS, .text = "thrift|json2|otlp|otlp-json", .number = CONFIG_FORMAT_THRIFT, .max = 3),
	OUTPUT("path", PATH, path, CHANGES_UPLINK, POSTS, .text = "/api/v1/spans"),
	OUTPUT("logs-path", PATH, logs_path, CHANGES_UPLINK, LOGS, .text = "/v1/logs"),
	OUTPUT("headers-file", FILE_OR_NONE, headers_file, CHANGES_UPLINK, POSTS, .text = ""),
	OUTPUT("proxy", PROXY, proxy, CHANGES_UPLINK, POSTS, .text = ""),
	OUTPUT("proxy-password-file", FILE_OR_NONE, proxy_secret_file, CHANGES_UPLINK, POSTS, .text = ""),
	OUTPUT("compression", CHOICE, compression, CHANGES_UPLINK, COMPRESSES, .text = "gzip|zstd|none", .number = CONFIG_COMPRESSION_GZIP, .max = 2),
	OUTPUT("brokers", ADDRESSES, brokers, CHANGES_UPLINK, BROKERS, .text = "127.0.0.1:9092"),
	OUTPUT("topic", NAME, topic, CHANGES_UPLINK, BROKERS, .text = "zipkin"),
	OUTPUT("events-topic", NAME, events_topic, CHANGES_UPLINK, BROKERS, .text = "lttng"),
	OUTPUT("messages-topic", TEXT, messages_topic, CHANGES_UPLINK, BROKERS, .text = ""),
	OUTPUT("key", CHOICE, key, CHANGES_UPLINK, BROKERS, .text = "none|trace", .number = CONFIG_KEY_NONE, .max = 1),
	OUTPUT("sasl", CHOICE, sasl, CHANGES_UPLINK, BROKERS, .text = "none|plain|scram-sha-256|scram-sha-512", .number = CONFIG_SASL_NONE, .max = 3),
	OUTPUT("sasl-user", TEXT, sasl_user, CHANGES_UPLINK, BROKERS, .text = ""),
	OUTPUT("sasl-password-file", FILE_OR_NONE, sasl_password_file, CHANGES_UPLINK, BROKERS, .text = ""),
	OUTPUT("directory", FOLDER, directory, CHANGES_UPLINK, FILES, .text = "/"),
	OUTPUT("rotate-size", SIZE, rotate_size, CHANGES_UPLINK, FILES, .number = 64 * MIB, .max = TIB),
	OUTPUT("rotate-time", DURATION, rotate_time, CHANGES_UPLINK, FILES, .number = HOUR, .max = 24 * HOUR),
	OUTPUT("total-size", SIZE, total_size, CHANGES_UPLINK, FILES, .number = GIB, .max = 1024 * TIB),
	OUTPUT("sync", CHOICE, sync, CHANGES_UPLINK, FILES, .text = "rotation|batch", .number = CONFIG_FILE_SYNC_ROTATION, .max = 1),
	OUTPUT("tls", CHOICE, tls, CHANGES_UPLINK, CONNECTS, .text = "no|yes", .max = 1),
	OUTPUT("tls-ca", FILE_OR_NONE, tls_ca, CHANGES_UPLINK, CONNECTS, .text = ""),
	OUTPUT("tls-certificate", FILE_OR_NONE, tls_certificate, CHANGES_UPLINK, CONNECTS, .text = ""),
	OUTPUT("tls-key", FILE_OR_NONE, tls_key, CHANGES_UPLINK, CONNECTS, .text = ""),
	OUTPUT("keep", SHARE, keep, CHANGES_BATCHES, DELIVERS, .number = 1, .max = 1000000),
	OUTPUT("budget", RATE, budget, CHANGES_BATCHES, DELIVERS, .max = 1000000000),
	OUTPUT("budget-file", FILE_OR_NONE, budget_file, CHANGES_BATCHES, DELIVERS, .text = ""),
	OUTPUT("keep-errors", CHOICE, keep_errors, CHANGES_BATCHES, DELIVERS, .text = "no|yes", .max = 1),
	OUTPUT("keep-slower", DURATION, keep_slower, CHANGES_BATCHES, DELIVERS, .max = HOUR),
	OUTPUT("keep-traces", DURATION, keep_traces, CHANGES_BATCHES, DELIVERS, .max = 10 * MINUTE),
	OUTPUT("keep-traces-size", SIZE, keep_traces_size, CHANGES_BATCHES, DELIVERS, .number = 16 * MIB, .min = 64 * KIB, .max = 64 * GIB),
	OUTPUT("tags", TAGS, tags, CHANGES_BATCHES, DELIVERS, .text = ""),
	OUTPUT("drop-tags", TAG_GLOBS, drop_tags, CHANGES_BATCHES, DELIVERS, .text = ""),
	OUTPUT("rename-tags", TAG_RENAMES, rename_tags, CHANGES_BATCHES, DELIVERS, .text = ""),
	OUTPUT("redact", TAG_GLOBS, redact, CHANGES_BATCHES, DELIVERS, .text = ""),
	OUTPUT("batch-spans", NUMBER, batch_spans, CHANGES_BATCHES, DELIVERS, .number = 512, .min = 1, .max = 100000),
	OUTPUT("batch-size", SIZE, batch_size, CHANGES_BATCHES, DELIVERS, .number = 512 * KIB, .min = 4 * KIB, .max = 8 * MIB),
	OUTPUT("batch-delay", DURATION, batch_delay, CHANGES_BATCHES, DELIVERS, .number = 100 * MS, .max = MINUTE),
	OUTPUT("queue-size", SIZE, queue_size, CHANGES_BATCHES, DELIVERS, .number = 32 * MIB, .min = 64 * KIB, .max = 64 * GIB),
	OUTPUT("window", NUMBER, window, CHANGES_UPLINK, CONNECTS, .number = 8, .min = 1, .max = 1000),
	OUTPUT("timeout", DURATION, timeout, CHANGES_UPLINK, CONNECTS, .number = 10 * SECOND, .min = 10 * MS, .max = 10 * MINUTE),
	OUTPUT("retry-min", DURATION, retry_min, CHANGES_UPLINK, DELIVERS, .number = 250 * MS, .min = MS, .max = HOUR),
	OUTPUT("retry-max", DURATION, retry_max, CHANGES_UPLINK, DELIVERS, .number = 1500 * MS, .min = MS, .max = HOUR),
	OUTPUT("return-interval", DURATION, return_interval, CHANGES_UPLINK, SERVERS, .number = 30 * SECOND, .min = MS, .max = HOUR),
	OUTPUT("rate-limit", SIZE, rate_limit, CHANGES_UPLINK, CONNECTS, .max = 64 * GIB),
	OUTPUT("spool-size", SIZE, spool_size, NEEDS_RESTART, DELIVERS, .number = GIB, .max = 64 * TIB),

	AGENT("spool", "max-size", SIZE, spool_max_size, NEEDS_RESTART, .number = GIB, .max = 64 * TIB),
	AGENT("spool", "sync", CHOICE, spool_sync, NEEDS_RESTART, .text = "normal|full", .number = CONFIG_SYNC_NORMAL, .max = 1),
	AGENT("spool", "replay-share", NUMBER, spool_replay_share, NEEDS_RESTART, .number = 50, .min = 1, .max = 100),
	AGENT("spool", "replay-floor", NUMBER, spool_replay_floor, NEEDS_RESTART, .number = 100, .min = 1, .max = 10000000),
};
/* clang-format on */

const size_t config_key_count = G_N_ELEMENTS(config_keys);

const struct config_key *config_key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].section, section) && !strcmp(config_keys[i].name, name))
			return &config_keys[i];
	return NULL;
}

const char *config_key_suggest(const char *section, const char *name)
{
	const char *names[G_N_ELEMENTS(config_keys)];
	size_t count = 0;

	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(section, config_keys[i].section))
			names[count++] = config_keys[i].name;
	return suggest(name, names, count);
}

const char *config_section_suggest(const char *name)
{
	const char *names[G_N_ELEMENTS(config_keys)];

	for (size_t i = 0; i < config_key_count; i++)
		names[i] = config_keys[i].section;
	return suggest(name, names, config_key_count);
}

const char *config_key_section(const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].name, name))
			return config_keys[i].section;
	return NULL;
}
