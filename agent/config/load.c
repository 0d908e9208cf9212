/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/check.h"
#include "config/expand.h"
#include "config/file.h"
#include "config/flightlist.h"
#include "config/outputtype.h"
#include "config/section.h"
#include "config/sources.h"
#include "config/thresholds.h"
#include "config/user.h"
#include "config/value.h"

static void settle_text(char **text, const char *value)
{
	g_free(*text);
	*text = g_strdup(value);
}

/* A recorder that is to record nothing is none that anybody asks for. */
static void settle_flight(struct config *config)
{
	if (config->kernel_mode != CONFIG_KERNEL_FLIGHT || config_flies(config))
		return;
	settle_text(&config->kernel_events, FLIGHT_EVENTS);
	settle_text(&config->kernel_syscalls, FLIGHT_SYSCALLS);
	settle_text(&config->kernel_functions, FLIGHT_FUNCTIONS);
}

/* What follows from other keys: an output that does not say how large its spool is has what [spool] says. */
static void settle_values(struct config *config)
{
	/* a ring's packets must fit; an earlier version took less, so it is no mistake */
	config->disk = MAX(config->disk, config->memory);
	settle_flight(config);
	for (guint i = 0; i < config->outputs->len; i++) {
		struct output_config *output = g_ptr_array_index(config->outputs, i);

		if (!config_output_is_set(output, "spool-size"))
			output->spool_size = config->spool_max_size;
		if (output_type_of(output)->settle)
			output_type_of(output)->settle(config, output);
	}
}

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	config->files = g_ptr_array_new_with_free_func(g_free);
	config->origins = g_new0(struct config_origin, config_key_count);
	config_values_init(config, SCOPE_AGENT);
	config->outputs = g_ptr_array_new_with_free_func((GDestroyNotify)output_config_unref);
	g_ptr_array_add(config->outputs, output_config_create("default"));
	config->thresholds = thresholds_create();
	settle_values(config);
}

void config_free(struct config *config)
{
	config_values_clear(config, SCOPE_AGENT);
	g_ptr_array_unref(config->outputs);
	g_ptr_array_unref(config->thresholds);
	g_ptr_array_unref(config->files);
	g_free(config->origins);
	g_free(config->path);
	g_free(config->hash);
}

static int read_next(struct config *config, const char *path)
{
	g_ptr_array_add(config->files, g_strdup(path));
	return config_file_read(config);
}

int config_read(struct config *config, const char *path, bool optional)
{
	g_autoptr(GPtrArray) drop_ins = g_ptr_array_new_with_free_func(g_free);
	int status;

	g_free(config->path);
	config->path = g_strdup(path);
	g_free(config->hash);
	config->hash = sources_hash(path);
	status = sources_list_drop_ins(path, drop_ins);
	if ((!optional || access(path, F_OK) == 0 || errno != ENOENT) && read_next(config, path) != 0)
		status = -1;
	for (guint i = 0; i < drop_ins->len; i++) {
		if (read_next(config, g_ptr_array_index(drop_ins, i)) != 0)
			status = -1;
	}
	settle_values(config);
	return status == 0 ? config_check(config) : status;
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

static void print_key(const struct config_section *section, const struct config_key *key, FILE *out)
{
	const struct config_origin *origin = &section->origins[key - config_keys];
	g_autofree char *value = config_value_print(section->values, key);
	g_autofree char *quoted = expand_quote(value), *escaped = NULL;
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_key_file_set_string(file, key->section, key->name, quoted);
	escaped = g_key_file_get_value(file, key->section, key->name, NULL);
	if (origin->file)
		fprintf(out, "# %s:%u\n", origin->file, origin->line);
	fprintf(out, "%s =%s%s\n", key->name, *escaped ? " " : "", escaped);
}

/* What was set for an output that is switched off is shown, so that what is printed is the same
 * configuration. */
static bool is_shown(const struct config_section *section, const struct config_key *key)
{
	return key->scope != SCOPE_OUTPUT || section->origins[key - config_keys].file ||
	       output_key_fits(section->values, key);
}

static void print_section(const struct config_section *section, FILE *out)
{
	fprintf(out, "\n[%s]\n", section->title);
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].section, section->keys) && is_shown(section, &config_keys[i]))
			print_key(section, &config_keys[i], out);
}

/* A glob may look like a variable, and a backslash is an escape, as in any value. */
static void print_thresholds(const struct config *config, FILE *out)
{
	if (config->thresholds->len)
		fprintf(out, "\n[" SECTION_THRESHOLDS "]\n");
	for (guint i = 0; i < config->thresholds->len; i++) {
		const struct threshold *threshold = g_ptr_array_index(config->thresholds, i);

		fprintf(out, "# %s:%u\n%s = %s\n", threshold->origin.file, threshold->origin.line,
			threshold->pattern, threshold->value);
	}
}

static void print_outputs(const struct config *config, FILE *out)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		struct config_section section = section_of_output(g_ptr_array_index(config->outputs, i));

		print_section(&section, out);
	}
}

static void print_sections(const struct config *config, bool outputs, FILE *out)
{
	struct config_section section = {.values = (void *)config, .origins = config->origins};

	for (size_t i = 0; i < config_key_count; i++) {
		if (i > 0 && !strcmp(config_keys[i].section, config_keys[i - 1].section))
			continue;
		section.title = section.keys = config_keys[i].section;
		/* what has to fit the outputs is not asked of who knows none */
		if (!outputs && (!strcmp(section.keys, "spool") || !strcmp(section.keys, "input")))
			continue;
		if (config_keys[i].scope != SCOPE_OUTPUT)
			print_section(&section, out);
		else if (outputs)
			print_outputs(config, out);
	}
}

void config_print_own(const struct config *config, FILE *out)
{
	print_sections(config, false, out);
}

void config_print(const struct config *config, FILE *out)
{
	fprintf(out, "# The settings that are in effect. One with no file above it has its default.\n");
	for (guint i = 0; i < config->files->len; i++)
		fprintf(out, "# read: %s\n", (const char *)g_ptr_array_index(config->files, i));
	print_sections(config, true, out);
	print_thresholds(config, out);
}
