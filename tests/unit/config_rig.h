/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder with configuration files, and what is logged while they are read. */
#ifndef CONFIG_RIG_H
#define CONFIG_RIG_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "base/log.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/value.h"

static char folder[] = "/tmp/blkin-test-XXXXXX"; /* of the test that runs */
static char *said; /* what was logged by the last read, with F for the file's path */

static inline void make_folder(void)
{
	strcpy(strrchr(folder, '-') + 1, "XXXXXX");
	ck_assert_ptr_nonnull(g_mkdtemp(folder));
}

static inline void remove_folder(void)
{
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);

	ck_assert_int_eq(system(command), 0);
	g_clear_pointer(&said, g_free);
}

/* A file in the folder; the path is the caller's. */
static inline char *write_bytes(const char *name, const char *text, size_t size)
{
	char *path = g_build_filename(folder, name, NULL);
	g_autofree char *parent = g_path_get_dirname(path);

	ck_assert_int_eq(g_mkdir_with_parents(parent, 0700), 0);
	ck_assert(g_file_set_contents(path, text, (gssize)size, NULL));
	return path;
}

static inline char *write_file(const char *name, const char *text)
{
	return write_bytes(name, text, strlen(text));
}

/* Reads the configuration at @path; what is logged is caught in `said`. */
static inline int read_path(struct config *config, const char *path)
{
	g_autofree char *log_path = g_build_filename(folder, "log", NULL);
	int log_file = open(log_path, O_CREAT | O_TRUNC | O_RDWR, 0600), old = dup(STDERR_FILENO), status;
	GString *cut;

	dup2(log_file, STDERR_FILENO);
	config_init(config);
	status = config_read(config, path, false);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	g_free(said);
	ck_assert(g_file_get_contents(log_path, &said, NULL, NULL));
	cut = g_string_new(said);
	g_string_replace(cut, path, "F", 0);
	g_free(said);
	said = g_string_free(cut, FALSE);
	close(log_file);
	close(old);
	return status;
}

static inline int read_bytes(struct config *config, const char *text, size_t size)
{
	g_autofree char *path = write_bytes("agent.conf", text, size);

	return read_path(config, path);
}

static inline int read_text(struct config *config, const char *text)
{
	return read_bytes(config, text, strlen(text));
}

static inline struct output_config *output_of(const struct config *config)
{
	return g_ptr_array_index(config->outputs, 0);
}

static inline void assert_refused_bytes(const char *text, size_t size, const char *message)
{
	struct config config;

	ck_assert_int_eq(read_bytes(&config, text, size), -1);
	ck_assert_str_eq(said, message);
	config_free(&config);
}

static inline void assert_refused(const char *text, const char *message)
{
	assert_refused_bytes(text, strlen(text), message);
}

/* What config_print writes, the path cut as in `said`; the caller's. */
static inline char *print(const struct config *config, const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	GString *cut;

	config_print(config, out);
	fclose(out);
	cut = g_string_new(text);
	free(text);
	if (path)
		g_string_replace(cut, path, "F", 0);
	return g_string_free(cut, FALSE);
}

static inline void assert_same(const struct config *one, const struct config *other)
{
	ck_assert_uint_eq(one->outputs->len, other->outputs->len);
	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];

		if (key->scope == SCOPE_AGENT)
			ck_assert_msg(config_value_equal(key, one, other), "%s", key->name);
		for (guint k = 0; key->scope == SCOPE_OUTPUT && k < one->outputs->len; k++)
			ck_assert_msg(config_value_equal(key, g_ptr_array_index(one->outputs, k),
					      g_ptr_array_index(other->outputs, k)),
				"%s of output %u", key->name, k);
	}
}

#endif
