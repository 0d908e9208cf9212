/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "configfile.h"
#include "configkeys.h"
#include "configvalue.h"
#include "log.h"

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	config->files = g_ptr_array_new_with_free_func(g_free);
	config->origins = g_new0(struct config_origin, config_key_count);
	for (size_t i = 0; i < config_key_count; i++)
		config_value_set_default(config, &config_keys[i]);
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config_key_count; i++)
		config_value_free(config, &config_keys[i]);
	g_ptr_array_unref(config->files);
	g_free(config->origins);
}

/* Takes @path over. */
static int read_next(struct config *config, char *path)
{
	g_ptr_array_add(config->files, path);
	return config_file_read(config);
}

static int is_drop_in(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && g_str_has_suffix(entry->d_name, ".conf");
}

static int read_drop_ins(struct config *config, const char *path)
{
	g_autofree char *folder = g_strconcat(path, ".d", NULL);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_drop_in, alphasort), status = 0;

	if (count < 0 && errno != ENOENT) {
		log_error("%s: cannot be read: %s", folder, g_strerror(errno));
		return -1;
	}
	for (int i = 0; i < count; i++) {
		if (read_next(config, g_build_filename(folder, entries[i]->d_name, NULL)) != 0)
			status = -1;
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Of two keys in [output], where the one stands that was set last. */
static const char *place_of(const struct config *config, const char *one, const char *other, unsigned *line)
{
	const struct config_origin *a = &config->origins[config_key_find("output", one) - config_keys];
	const struct config_origin *b = &config->origins[config_key_find("output", other) - config_keys];
	const struct config_origin *last =
		a->file != b->file ? (a->file > b->file ? a : b) : (a->line > b->line ? a : b);

	*line = last->line;
	return g_ptr_array_index(config->files, last->file - 1);
}

/* What no single key shows. */
static int check_together(const struct config *config)
{
	const char *file;
	unsigned line;
	int status = 0;

	if (config->retry_min > config->retry_max) {
		file = place_of(config, "retry-min", "retry-max", &line);
		log_error("%s:%u: `retry-min` is larger than `retry-max` in [output]", file, line);
		status = -1;
	}
	if (!*config->tls_certificate != !*config->tls_key) {
		file = place_of(config, "tls-certificate", "tls-key", &line);
		log_error("%s:%u: `tls-certificate` and `tls-key` go together in [output]", file, line);
		status = -1;
	}
	if (!config->tls && (*config->tls_ca || *config->tls_certificate)) {
		file = place_of(config, "tls-ca", "tls-certificate", &line);
		log_error("%s:%u: there are TLS files in [output], but not `tls = yes`", file, line);
		status = -1;
	}
	if (config->queue_size < 2 * config->batch_size) {
		file = place_of(config, "queue-size", "batch-size", &line);
		log_error(
			"%s:%u: `queue-size` must hold two batches at least: twice `batch-size` in [output]",
			file, line);
		status = -1;
	}
	return status;
}

int config_read(struct config *config, const char *path, bool optional)
{
	int status = 0;

	if (!optional || access(path, F_OK) == 0 || errno != ENOENT)
		status = read_next(config, g_strdup(path));
	if (read_drop_ins(config, path) != 0)
		status = -1;
	return status == 0 ? check_together(config) : status;
}

char *config_get(const struct config *config, const char *section, const char *name)
{
	return config_value_print(config, config_key_find(section, name));
}

static void print_key(const struct config *config, size_t index, FILE *out)
{
	const struct config_key *key = &config_keys[index];
	const struct config_origin *origin = &config->origins[index];
	g_autofree char *value = config_value_print(config, key), *escaped = NULL;
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_key_file_set_string(file, key->section, key->name, value);
	escaped = g_key_file_get_value(file, key->section, key->name, NULL);
	if (index == 0 || strcmp(key->section, config_keys[index - 1].section) != 0)
		fprintf(out, "\n[%s]\n", key->section);
	if (origin->file)
		fprintf(out, "# %s:%u\n", (const char *)g_ptr_array_index(config->files, origin->file - 1),
			origin->line);
	fprintf(out, "%s =%s%s\n", key->name, *escaped ? " " : "", escaped);
}

void config_print(const struct config *config, FILE *out)
{
	fprintf(out, "# What counts. A setting with no file above it has its default.\n");
	for (guint i = 0; i < config->files->len; i++)
		fprintf(out, "# read: %s\n", (const char *)g_ptr_array_index(config->files, i));
	for (size_t i = 0; i < config_key_count; i++)
		print_key(config, i, out);
}
