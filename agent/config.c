/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "log.h"
#include "suggest.h"
#include "uplink.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

enum key_type {
	TEXT,    /* char *, any */
	NAME,    /* char *, not empty, [A-Za-z0-9_.-] */
	ADDRESS, /* char *, HOST:PORT */
	ADDRESS_OR_NONE,
	NUMBER,  /* uint64_t */
	SIZE,    /* uint64_t, bytes: 64K, 16M, 1G */
	LEVEL,   /* uint64_t: syslog's number for its name */
	DURATION /* int64_t, ns: 200ms, 5s, 1min */
};

static const struct key {
	const char *section, *name;
	enum key_type type;
	size_t offset;
	const char *text; /* default of the char * types */
	uint64_t number;  /* default of the others */
	uint64_t min, max;
} keys[] = {
#define KEY(section, name, type, field, text, number, min, max)                                              \
	{                                                                                                    \
		section, name, type, offsetof(struct config, field), text, number, min, max                  \
	}
	KEY("agent", "http", ADDRESS_OR_NONE, http, "127.0.0.1:9412", 0, 0, 0),
	KEY("agent", "socket", TEXT, socket, "/run/blkin/agent.sock", 0, 0, 0),
	KEY("agent", "stop-timeout", DURATION, stop_timeout, NULL, 5 * SECOND, 0, 600 * SECOND),
	KEY("session", "name", NAME, session_name, "blkin", 0, 0, 0),
	KEY("session", "tracing-group", TEXT, tracing_group, "tracing", 0, 0, 0),
	KEY("session", "relay-host", TEXT, relay_host, "127.0.0.1", 0, 0, 0),
	KEY("session", "relay-control-port", NUMBER, relay_control_port, NULL, 5342, 1, 65535),
	KEY("session", "relay-data-port", NUMBER, relay_data_port, NULL, 5343, 1, 65535),
	KEY("session", "relay-live-port", NUMBER, relay_live_port, NULL, 5344, 1, 65535),
	KEY("session", "live-timer", DURATION, live_timer, NULL, 200 * MS, 1 * MS, 60 * SECOND),
	KEY("session", "level", LEVEL, level, NULL, 7, 0, 7),
	KEY("session", "memory", SIZE, memory, NULL, 32 * MIB, MIB, 64 * GIB),
	KEY("session", "disk", SIZE, disk, NULL, 512 * MIB, 4 * MIB, 4096 * GIB),
	KEY("spans", "linger", DURATION, linger, NULL, 5 * SECOND, 10 * MS, 3600 * SECOND),
	KEY("spans", "grace", DURATION, grace, NULL, 100 * MS, 0, 60 * SECOND),
	KEY("spans", "max-pending", SIZE, max_pending, NULL, 16 * MIB, 64 * KIB, 16 * GIB),
	KEY("output", "server", ADDRESS, server, "127.0.0.1:9410", 0, 0, 0),
	KEY("output", "category", NAME, category, "zipkin", 0, 0, 0),
	KEY("output", "batch-spans", NUMBER, batch_spans, NULL, 500, 1, 100000),
	KEY("output", "batch-size", SIZE, batch_size, NULL, 512 * KIB, 4 * KIB, 8 * MIB),
	KEY("output", "batch-delay", DURATION, batch_delay, NULL, 100 * MS, 0, 60 * SECOND),
	KEY("output", "queue-size", SIZE, queue_size, NULL, 32 * MIB, 64 * KIB, 64 * GIB),
	KEY("output", "window", NUMBER, window, NULL, 8, 1, 1000),
	KEY("output", "timeout", DURATION, timeout, NULL, 10 * SECOND, 10 * MS, 600 * SECOND),
	KEY("output", "retry-min", DURATION, retry_min, NULL, 250 * MS, 1 * MS, 3600 * SECOND),
	KEY("output", "retry-max", DURATION, retry_max, NULL, 5 * SECOND, 1 * MS, 3600 * SECOND),
#undef KEY
};

static const struct unit {
	enum key_type type;
	const char *name;
	uint64_t factor;
} units[] = {
	{SIZE, "", 1},
	{SIZE, "K", KIB},
	{SIZE, "M", MIB},
	{SIZE, "G", GIB},
	{DURATION, "ms", MS},
	{DURATION, "s", SECOND},
	{DURATION, "min", 60 * SECOND},
	{DURATION, "us", 1000},
	{NUMBER, "", 1},
};

static char **text_field(struct config *config, const struct key *key)
{
	return (char **)((char *)config + key->offset);
}

static uint64_t *number_field(struct config *config, const struct key *key)
{
	return (uint64_t *)((char *)config + key->offset);
}

static bool is_text(const struct key *key)
{
	return key->type <= ADDRESS_OR_NONE;
}

void config_init(struct config *config)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (is_text(&keys[i]))
			*text_field(config, &keys[i]) = g_strdup(keys[i].text);
		else
			*number_field(config, &keys[i]) = keys[i].number;
	}
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (is_text(&keys[i]))
			g_clear_pointer(text_field(config, &keys[i]), g_free);
}

/* The key (or, @section NULL, the section) whose name is nearest to @name, or NULL if none is near. */
static const char *suggestion(const char *section, const char *name)
{
	const char *names[G_N_ELEMENTS(keys)];
	size_t count = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (!section || !strcmp(section, keys[i].section))
			names[count++] = section ? keys[i].name : keys[i].section;
	return suggest(name, names, count);
}

static const char *section_of_key(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].section;
	return NULL;
}

static bool known_section(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (!strcmp(keys[i].section, name))
			return true;
	return false;
}

static const struct key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static bool valid_text(const struct key *key, const char *value)
{
	char host[256];
	uint16_t port;

	if (key->type == NAME)
		return *value &&
		       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
			       strlen(value);
	if (key->type == ADDRESS_OR_NONE && !*value)
		return true;
	return key->type == TEXT || uplink_parse_server(value, host, &port);
}

static const char *const levels[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};

static bool parse_level(const char *value, uint64_t *number)
{
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
		*number = i;
		if (!strcmp(value, levels[i]))
			return true;
	}
	return false;
}

/* Reads a number with its unit, or a level; returns false if it is none. */
static bool parse_number(enum key_type type, const char *value, uint64_t *number)
{
	char *end;

	if (type == LEVEL)
		return parse_level(value, number);
	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*number = strtoull(value, &end, 10);
	if (errno)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && !strcmp(units[i].name, end))
			return !__builtin_mul_overflow(*number, units[i].factor, number);
	return false;
}

static void print_number(enum key_type type, uint64_t number, char text[32])
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && number % units[i].factor == 0 &&
			(!best || units[i].factor > best->factor))
			best = &units[i];
	g_snprintf(text, 32, "%" G_GUINT64_FORMAT "%s", number / best->factor, best->name);
}

static const char *expected(enum key_type type)
{
	switch (type) {
	case NAME:
		return "a name of letters, digits, `_`, `.` and `-`";
	case ADDRESS:
		return "HOST:PORT, as 127.0.0.1:9410 or [::1]:9410";
	case ADDRESS_OR_NONE:
		return "ADDRESS:PORT, as 127.0.0.1:9412, or nothing";
	case LEVEL:
		return "emerg, alert, crit, err, warning, notice, info or debug";
	case SIZE:
		return "a size, as 64K, 16M or 1G";
	case DURATION:
		return "a time, as 200ms, 5s or 1min";
	default:
		return "a whole number";
	}
}

/* Sets the key to the text; returns -1 having logged why it cannot be. */
static int set_value(
	struct config *config, const struct key *key, const char *value, const char *path, unsigned line)
{
	uint64_t number;
	char min[32], max[32];

	if (is_text(key)) {
		if (!valid_text(key, value))
			goto unexpected;
		g_free(*text_field(config, key));
		*text_field(config, key) = g_strdup(value);
		return 0;
	}
	if (!parse_number(key->type, value, &number))
		goto unexpected;
	if (number < key->min || number > key->max) {
		print_number(key->type, key->min, min);
		print_number(key->type, key->max, max);
		log_error("%s:%u: `%s = %s` is out of range: it can be %s to %s", path, line, key->name,
			value, min, max);
		return -1;
	}
	*number_field(config, key) = number;
	return 0;
unexpected:
	log_error("%s:%u: `%s = %s` is not what it should be: %s", path, line, key->name, value,
		expected(key->type));
	return -1;
}

static void log_unknown(const char *path, unsigned line, const char *section, const char *name)
{
	const char *near = suggestion(section, name), *elsewhere = section_of_key(name);

	if (elsewhere)
		log_error("%s:%u: unknown key `%s` in [%s]; it belongs in [%s]", path, line, name, section,
			elsewhere);
	else if (near)
		log_error("%s:%u: unknown key `%s` in [%s]; did you mean `%s`?", path, line, name, section,
			near);
	else
		log_error("%s:%u: unknown key `%s` in [%s]; blkin-agent.conf(5) lists the keys", path, line,
			name, section);
}

static void log_unknown_section(const char *path, unsigned line, const char *section)
{
	const char *near = suggestion(NULL, section);

	log_error("%s:%u: unknown section [%s]; %s%s%s", path, line, section,
		near ? "did you mean [" : "blkin-agent.conf(5)", near ? near : " lists them",
		near ? "]?" : "");
}

/*
 * GKeyFile tells neither the line of a key nor whether it stands twice, so the lines are walked here for
 * where things are, and each is then read by GKeyFile on its own.
 */
struct place {
	const char *path;
	unsigned line;
	char *section; /* owned; NULL before the first */
	bool known;    /* the section */
};

/* Takes "[section]"; returns -1 on a mistake. */
static int read_section(struct place *place, const char *text)
{
	const char *end = strchr(text, ']');

	g_clear_pointer(&place->section, g_free);
	place->known = false;
	if (!end || end[1] != '\0') {
		log_error(
			"%s:%u: a section is written [name], on a line of its own", place->path, place->line);
		return -1;
	}
	place->section = g_strndup(text + 1, (gsize)(end - text - 1));
	place->known = known_section(place->section);
	if (place->known)
		return 0;
	log_unknown_section(place->path, place->line, place->section);
	return -1;
}

/* Takes "key = value"; @seen has the line where each key stood first. Returns -1 on a mistake. */
static int read_key(struct config *config, struct place *place, const char *text, unsigned *seen)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *alone = g_strconcat("[x]\n", text, "\n", NULL);
	g_auto(GStrv) names = NULL;
	g_autofree char *value = NULL;
	const struct key *key;

	if (!strchr(text, '=') || !g_key_file_load_from_data(file, alone, (gsize)-1, G_KEY_FILE_NONE, NULL) ||
		!(names = g_key_file_get_keys(file, "x", NULL, NULL)) || !names[0]) {
		log_error("%s:%u: this is neither a [section], nor `key = value`, nor a # comment",
			place->path, place->line);
		return -1;
	}
	if (!place->section) {
		log_error(
			"%s:%u: `%s` stands before the first [section]", place->path, place->line, names[0]);
		return -1;
	}
	if (!place->known)
		return 0; /* the section was complained of */
	key = find_key(place->section, names[0]);
	if (!key) {
		log_unknown(place->path, place->line, place->section, names[0]);
		return -1;
	}
	if (seen[key - keys]) {
		log_error("%s:%u: `%s` stands already in line %u", place->path, place->line, key->name,
			seen[key - keys]);
		return -1;
	}
	seen[key - keys] = place->line;
	value = g_key_file_get_string(file, "x", names[0], NULL);
	if (!value) {
		log_error("%s:%u: the value of `%s` is not UTF-8 text", place->path, place->line, key->name);
		return -1;
	}
	return set_value(config, key, g_strchomp(value), place->path, place->line);
}

/* What no single key shows. */
static int check_together(const struct config *config, const char *path)
{
	int status = 0;

	if (config->retry_min > config->retry_max) {
		log_error("%s: `retry-min` is larger than `retry-max` in [output]", path);
		status = -1;
	}
	if (config->queue_size < 2 * config->batch_size) {
		log_error("%s: `queue-size` must hold two batches at least: twice `batch-size` in [output]",
			path);
		status = -1;
	}
	return status;
}

int config_read(struct config *config, const char *path, bool optional)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GError *error = NULL;
	struct place place = {.path = path};
	unsigned seen[G_N_ELEMENTS(keys)] = {0};
	gsize size;
	int status = 0;

	if (optional && access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	if (!g_file_get_contents(path, &text, &size, &error)) {
		log_error("%s: cannot be read: %s", path, g_strerror(errno));
		g_clear_error(&error);
		return -1;
	}
	if (memchr(text, '\0', size)) {
		log_error("%s: is not a text file", path);
		return -1;
	}
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		const char *stripped = g_strstrip(*line);

		place.line++;
		if (*stripped == '\0' || *stripped == '#')
			continue;
		if ((*stripped == '[' ? read_section(&place, stripped)
				      : read_key(config, &place, stripped, seen)) != 0)
			status = -1;
	}
	g_free(place.section);
	if (status == 0)
		status = check_together(config, path);
	return status;
}
