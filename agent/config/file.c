/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/proxyurl.h"
#include "config/choice.h"
#include "config/expand.h"
#include "config/explain.h"
#include "config/section.h"
#include "config/thresholds.h"
#include "config/value.h"

/* After so many mistakes the rest of a file is not read. */
#define MISTAKES_MAX 20
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct reading {
	struct config *config;
	const char *path; /* interned */
	char **lines;
	unsigned line;                 /* from 1 */
	bool begun;                    /* there was a section */
	struct config_section section; /* .title is NULL in one that was complained of */
	unsigned mistakes;
};

/* Reads to the end, or to one byte more than a file may have; returns -1 with errno set. */
static int read_bytes(int fd, struct buffer *text)
{
	ssize_t size;

	while (text->size <= CONFIG_FILE_MAX) {
		size = read(fd, buffer_reserve(text, 65536), 65536);
		if (size == 0)
			return 0;
		if (size < 0 && errno != EINTR)
			return -1;
		if (size > 0)
			text->size += (size_t)size;
	}
	return 0;
}

/* Reads the file, and puts a NUL behind it. Returns -1 having logged why it cannot be read. */
static int read_file(const char *path, struct buffer *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), wrong = -1;
	struct stat file;

	if (fd < 0 || fstat(fd, &file) != 0)
		log_error("%s: cannot be read: %s", path, g_strerror(errno));
	else if (S_ISDIR(file.st_mode))
		log_error("%s: is a folder, not a file", path);
	else if (read_bytes(fd, text) != 0)
		log_error("%s: cannot be read: %s", path, g_strerror(errno));
	else if (text->size > CONFIG_FILE_MAX)
		log_error("%s: is larger than 1 MiB: this is no configuration file", path);
	else
		wrong = 0;
	if (fd >= 0)
		close(fd);
	if (wrong)
		return -1;
	buffer_put(text, "", 1);
	return 0;
}

/* Logs the first byte that is not text only: what follows it is seldom better. */
static int check_text(const char *path, const char *text, size_t size)
{
	const char *valid, *at = text;
	unsigned line = 1;

	g_utf8_validate(text, (gssize)size, &valid);
	for (; at < text + size; at++) {
		if (at >= valid || ((unsigned char)*at < 0x20 && !strchr("\t\r\n", *at)) || *at == 0x7f) {
			log_error(
				"%s:%u: this is not UTF-8 text: byte 0x%02x", path, line, (unsigned char)*at);
			return -1;
		}
		line += *at == '\n';
	}
	return 0;
}

/* Takes "[section]"; returns -1 on a mistake. */
static int read_section(struct reading *reading, const char *text)
{
	const char *end = strchr(text, ']');
	g_autofree char *title = NULL;
	char error[256];

	reading->begun = true;
	reading->section.title = NULL;
	if (!end || end[1] != '\0') {
		log_error("%s:%u: a section is written [name], on a line of its own", reading->path,
			reading->line);
		return -1;
	}
	title = g_strndup(text + 1, (gsize)(end - text - 1));
	if (section_find(reading->config, title, &reading->section, error, sizeof(error)) == 0)
		return 0;
	log_error("%s:%u: %s", reading->path, reading->line, error);
	return -1;
}

/* The output's type if the line sets it, or OUTPUT_NO_TYPE. */
static int type_in(const char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, "=", 2);

	if (!parts[0] || !parts[1] || strcmp(g_strstrip(parts[0]), "type") != 0)
		return OUTPUT_NO_TYPE;
	return choice_find(config_key_find("output", "type")->text, g_strstrip(parts[1]));
}

/* The type that the section's output has, or gets further down in the section. */
static int type_of_section(const struct reading *reading)
{
	const struct output_config *output = reading->section.values;
	int type = OUTPUT_NO_TYPE;

	if (strcmp(reading->section.keys, "output") != 0)
		return OUTPUT_NO_TYPE;
	for (char **line = &reading->lines[reading->line]; *line && type == OUTPUT_NO_TYPE; line++) {
		if ((*line)[strspn(*line, " \t")] == '[')
			break;
		type = type_in(*line);
	}
	if (type == OUTPUT_NO_TYPE && config_output_is_set(output, "type"))
		type = (int)output->type;
	return type;
}

static void log_unknown(const struct reading *reading, const char *name)
{
	const struct config_section *section = &reading->section;
	g_autofree char *meant = explain_name(section->keys, name, type_of_section(reading));

	log_error("%s:%u: unknown key `%.64s` in [%s]%s", reading->path, reading->line, name, section->title,
		meant);
}

/* What is written in other configuration files, and is part of the value here. */
static const char *hint(const char *value)
{
	size_t size = strlen(value);

	if (strstr(value, " #") || strstr(value, "\t#"))
		return "; a comment is a line of its own";
	if (size >= 2 && strchr("\"'", value[0]) && value[0] == value[size - 1])
		return "; a value has no quotes around it";
	return "";
}

static int set_key(struct reading *reading, const struct config_key *key, const char *value)
{
	struct config_origin *origin = &reading->section.origins[key - config_keys];
	g_autofree char *shown = key->type == PROXY ? proxyurl_conceal(value) : g_strdup(value);
	char error[512];

	if (origin->file == reading->path) {
		log_error("%s:%u: `%s` is already set on line %u", reading->path, reading->line, key->name,
			origin->line);
		return -1;
	}
	*origin = (struct config_origin){reading->path, reading->line, ++reading->config->settings};
	if (config_value_set(reading->section.values, key, value) == 0)
		return 0;
	explain_value(key, value, type_of_section(reading), error, sizeof(error));
	log_error("%s:%u: `%s = %.64s%s` %s%s", reading->path, reading->line, key->name, shown,
		strlen(shown) > 64 ? "..." : "", error, hint(value));
	return -1;
}

/* A line of [thresholds]. */
static int set_threshold(struct reading *reading, const char *pattern, const char *value)
{
	const struct config_origin origin = {reading->path, reading->line, ++reading->config->settings};
	char error[512];

	if (thresholds_add(reading->config->thresholds, pattern, value, &origin, error, sizeof(error)) == 0)
		return 0;
	log_error("%s:%u: in [thresholds]: %s%s", reading->path, reading->line, error, hint(value));
	return -1;
}

static int set_value(
	struct reading *reading, const struct config_key *key, const char *name, const char *value)
{
	return key ? set_key(reading, key, value) : set_threshold(reading, name, value);
}

/* GKeyFile takes them for a locale, and what it does with the line depends on ours. */
static bool has_brackets(const char *text)
{
	const char *equals = strchr(text, '='), *bracket = strpbrk(text, "[]");

	return equals && bracket && bracket < equals;
}

/*
 * Takes "key = value"; returns -1 on a mistake. GKeyFile reports neither the line of a key nor that it
 * is set twice, so each line is given to a GKeyFile of its own.
 */
static int read_key(struct reading *reading, const char *text)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *alone = g_strconcat("[x]\n", text, "\n", NULL);
	g_auto(GStrv) names = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *raw = NULL, *value = NULL;
	const struct config_key *key;
	char why[256];

	if (has_brackets(text)) {
		log_error("%s:%u: what is before `=` has no `[` and no `]`; in [thresholds], `?` stands for "
			  "one of them",
			reading->path, reading->line);
		return -1;
	}
	if (!strchr(text, '=') || !g_key_file_load_from_data(file, alone, (gsize)-1, G_KEY_FILE_NONE, NULL) ||
		!(names = g_key_file_get_keys(file, "x", NULL, NULL)) || !names[0]) {
		log_error("%s:%u: this is neither a [section], nor `key = value`, nor a # comment",
			reading->path, reading->line);
		return -1;
	}
	if (!reading->begun) {
		log_error("%s:%u: `%.64s` is set before the first [section]", reading->path, reading->line,
			names[0]);
		return -1;
	}
	if (!reading->section.title)
		return 0; /* the section was complained of */
	key = config_key_find(reading->section.keys, names[0]);
	if (!key && strcmp(reading->section.keys, SECTION_THRESHOLDS) != 0) {
		log_unknown(reading, names[0]);
		return -1;
	}
	raw = g_key_file_get_string(file, "x", names[0], &error);
	if (error) {
		log_error("%s:%u: the value of `%s` has an unknown escape: a backslash is written \\\\",
			reading->path, reading->line, names[0]);
		return -1;
	}
	value = expand_value(g_strchomp(raw), why, sizeof(why));
	if (!value) {
		log_error("%s:%u: the value of `%s`: %s", reading->path, reading->line, names[0], why);
		return -1;
	}
	return set_value(reading, key, names[0], value);
}

static void read_lines(struct reading *reading, char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	reading->lines = lines;
	for (char **line = lines; *line && reading->mistakes < MISTAKES_MAX; line++) {
		const char *stripped = g_strstrip(*line);

		reading->line++;
		if (*stripped == '\0' || *stripped == '#')
			continue;
		if ((*stripped == '[' ? read_section(reading, stripped) : read_key(reading, stripped)) != 0)
			reading->mistakes++;
	}
	if (reading->mistakes == MISTAKES_MAX)
		log_error("%s: too many mistakes: the rest is not read", reading->path);
}

int config_file_read(struct config *config)
{
	struct reading reading = {.config = config};
	struct buffer text = {0};
	char *begin;
	int status = -1;

	reading.path = g_intern_string(g_ptr_array_index(config->files, config->files->len - 1));
	if (read_file(reading.path, &text) == 0 &&
		check_text(reading.path, (const char *)text.data, text.size - 1) == 0) {
		begin = (char *)text.data;
		if (g_str_has_prefix(begin, BYTE_ORDER_MARK))
			begin += strlen(BYTE_ORDER_MARK);
		read_lines(&reading, begin);
		status = reading.mistakes ? -1 : 0;
	}
	buffer_free(&text);
	return status;
}
