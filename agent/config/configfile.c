/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/configfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/buffer.h"
#include "base/log.h"
#include "config/configkeys.h"
#include "config/configvalue.h"

/* A file that is larger is none of ours; nor is one with more mistakes worth telling them all. */
#define FILE_MAX (1024 * 1024)
#define MISTAKES_MAX 20
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct reading {
	struct config *config;
	const char *path;
	unsigned line;
	char *section;  /* owned; NULL before the first */
	bool known;     /* the section */
	unsigned *seen; /* by key, the line where it stood */
	unsigned mistakes;
};

/* Reads to the end, or to one byte more than a file may have; returns -1 with errno set. */
static int read_bytes(int fd, struct buffer *text)
{
	ssize_t size;

	while (text->size <= FILE_MAX) {
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

/* What the file holds, with a NUL behind it. Returns -1 having logged why it cannot be had. */
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
	else if (text->size > FILE_MAX)
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

/* One line about the first byte that is no text, as all that follows would be as wrong. */
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

	g_clear_pointer(&reading->section, g_free);
	reading->known = false;
	if (!end || end[1] != '\0') {
		log_error("%s:%u: a section is written [name], on a line of its own", reading->path,
			reading->line);
		return -1;
	}
	reading->section = g_strndup(text + 1, (gsize)(end - text - 1));
	reading->known = config_section_is_known(reading->section);
	if (reading->known)
		return 0;
	config_section_log_unknown(reading->path, reading->line, reading->section);
	return -1;
}

static int set_key(struct reading *reading, const struct config_key *key, const char *value)
{
	size_t index = (size_t)(key - config_keys);
	char error[256];

	if (reading->seen[index]) {
		log_error("%s:%u: `%s` stands already in line %u", reading->path, reading->line, key->name,
			reading->seen[index]);
		return -1;
	}
	reading->seen[index] = reading->line;
	if (config_value_set(reading->config, key, value, error, sizeof(error)) != 0) {
		log_error("%s:%u: `%s = %.64s%s` %s", reading->path, reading->line, key->name, value,
			strlen(value) > 64 ? "..." : "", error);
		return -1;
	}
	reading->config->origins[index] =
		(struct config_origin){(unsigned)reading->config->files->len, reading->line};
	return 0;
}

/*
 * Takes "key = value"; returns -1 on a mistake. GKeyFile tells neither the line of a key nor whether it
 * stands twice, so the lines are walked here, and each is then read by GKeyFile on its own.
 */
static int read_key(struct reading *reading, const char *text)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *alone = g_strconcat("[x]\n", text, "\n", NULL);
	g_auto(GStrv) names = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *value = NULL;
	const struct config_key *key;

	if (!strchr(text, '=') || !g_key_file_load_from_data(file, alone, (gsize)-1, G_KEY_FILE_NONE, NULL) ||
		!(names = g_key_file_get_keys(file, "x", NULL, NULL)) || !names[0]) {
		log_error("%s:%u: this is neither a [section], nor `key = value`, nor a # comment",
			reading->path, reading->line);
		return -1;
	}
	if (!reading->section) {
		log_error("%s:%u: `%.64s` stands before the first [section]", reading->path, reading->line,
			names[0]);
		return -1;
	}
	if (!reading->known)
		return 0; /* the section was complained of */
	key = config_key_find(reading->section, names[0]);
	if (!key) {
		config_key_log_unknown(reading->path, reading->line, reading->section, names[0]);
		return -1;
	}
	value = g_key_file_get_string(file, "x", names[0], &error);
	if (error) {
		log_error("%s:%u: the value of `%s` has an escape that is none: a backslash is written \\\\",
			reading->path, reading->line, key->name);
		return -1;
	}
	return set_key(reading, key, g_strchomp(value));
}

static void read_lines(struct reading *reading, char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line && reading->mistakes < MISTAKES_MAX; line++) {
		const char *stripped = g_strstrip(*line);

		reading->line++;
		if (*stripped == '\0' || *stripped == '#')
			continue;
		if ((*stripped == '[' ? read_section(reading, stripped) : read_key(reading, stripped)) != 0)
			reading->mistakes++;
	}
	if (reading->mistakes == MISTAKES_MAX)
		log_error("%s: so many mistakes that reading ends here", reading->path);
}

int config_file_read(struct config *config)
{
	g_autofree unsigned *seen = g_new0(unsigned, config_key_count);
	struct reading reading = {.config = config, .seen = seen};
	struct buffer text = {0};
	char *begin;
	int status = -1;

	reading.path = g_ptr_array_index(config->files, config->files->len - 1);
	if (read_file(reading.path, &text) == 0 &&
		check_text(reading.path, (const char *)text.data, text.size - 1) == 0) {
		begin = (char *)text.data;
		if (g_str_has_prefix(begin, BYTE_ORDER_MARK))
			begin += strlen(BYTE_ORDER_MARK);
		read_lines(&reading, begin);
		status = reading.mistakes ? -1 : 0;
	}
	g_free(reading.section);
	buffer_free(&text);
	return status;
}
