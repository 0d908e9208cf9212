/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/configfile.h"
#include "config/configkeys.h"
#include "config/configvalue.h"
#include "config/user.h"

/* The spool's log and file hold so many batches at least, and what they need beside. */
#define SPOOL_BATCHES 8
#define SPOOL_MIN (1024 * 1024)

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

/* Of the keys of a rule, where the one stands that was set last. */
static const struct config_origin *last_of(
	const struct config *config, const char *section, const char *const keys[3])
{
	const struct config_origin *last = NULL;

	for (int i = 0; i < 3 && keys[i]; i++) {
		const struct config_origin *one =
			&config->origins[config_key_find(section, keys[i]) - config_keys];

		if (!last || one->file > last->file || (one->file == last->file && one->line > last->line))
			last = one;
	}
	return last;
}

/* What no single key shows. */
static int check_together(const struct config *config)
{
	const bool own_relay = !config->relay_control_port;
	const struct rule {
		bool broken;
		const char *section, *keys[3], *message;
	} rules[] = {
		{own_relay != !config->relay_data_port || own_relay != !config->relay_live_port, "session",
			{"relay-control-port", "relay-data-port", "relay-live-port"},
			"either all of the relay's ports in [session] are 0, or none"},
		{own_relay && config->keep, "session", {"relay-control-port", "keep"},
			"`keep = yes` in [session] needs a relay daemon that outlives the agent: its ports "
			"cannot be 0"},
		{config->retry_min > config->retry_max, "output", {"retry-min", "retry-max"},
			"`retry-min` is larger than `retry-max` in [output]"},
		{!*config->tls_certificate != !*config->tls_key, "output", {"tls-certificate", "tls-key"},
			"`tls-certificate` and `tls-key` go together in [output]"},
		{!config->tls && (*config->tls_ca || *config->tls_certificate), "output",
			{"tls", "tls-ca", "tls-certificate"},
			"there are TLS files in [output], but not `tls = yes`"},
		{config->queue_size < 2 * config->batch_size, "output", {"queue-size", "batch-size"},
			"`queue-size` must hold two batches at least: twice `batch-size` in [output]"},
		{config->spool_max_size &&
				config->spool_max_size < MAX(SPOOL_MIN, SPOOL_BATCHES * config->batch_size),
			"spool", {"max-size"},
			"`max-size` in [spool] is 0, for no spool, or 1M at least, and eight times "
			"`batch-size` in [output]"},
	};
	int status = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
		const struct config_origin *place = last_of(config, rules[i].section, rules[i].keys);

		if (!rules[i].broken)
			continue;
		log_error("%s:%u: %s", (const char *)g_ptr_array_index(config->files, place->file - 1),
			place->line, rules[i].message);
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

int config_load(struct config *config, const char *file, bool user)
{
	g_autofree char *own = user ? user_config_file() : NULL;

	config_init(config);
	config->user = user;
	if (user)
		user_set_defaults(config);
	return config_read(config, file ? file : own ? own : CONFIG_DEFAULT_FILE, !file);
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
