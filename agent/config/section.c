/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/section.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/suggest.h"
#include "config/outputtype.h"
#include "config/pairrules.h"
#include "config/value.h"

struct output_config *output_config_create(const char *name)
{
	struct output_config *output = g_new0(struct output_config, 1);

	output->owners = 1;
	output->name = g_strdup(name);
	output->section = strcmp(name, "default") ? g_strconcat("output ", name, NULL) : g_strdup("output");
	output->origins = g_new0(struct config_origin, config_key_count);
	config_values_init(output, SCOPE_OUTPUT);
	return output;
}

const struct output_config *output_config_ref(const struct output_config *output)
{
	atomic_fetch_add(&((struct output_config *)output)->owners, 1);
	return output;
}

void output_config_unref(const struct output_config *borrowed)
{
	struct output_config *output = (struct output_config *)borrowed;

	if (!output || atomic_fetch_sub(&output->owners, 1) > 1)
		return;
	config_values_clear(output, SCOPE_OUTPUT);
	g_free(output->name);
	g_free(output->section);
	g_free(output->origins);
	g_free(output);
}

struct config_section section_of_output(struct output_config *output)
{
	return (struct config_section){output->section, "output", output, output->origins};
}

static struct output_config *find_output(const struct config *config, const char *name)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		struct output_config *output = g_ptr_array_index(config->outputs, i);

		if (!strcmp(output->name, name))
			return output;
	}
	return NULL;
}

const struct output_config *config_output(const struct config *config, const char *name)
{
	g_autofree char *output = NULL;
	size_t size;

	lane_kind(name, &size);
	output = g_strndup(name, size);
	return find_output(config, output);
}

bool config_wants_events(const struct config *config)
{
	for (guint i = 0; i < config->outputs->len; i++)
		if (config_lane_is_on(g_ptr_array_index(config->outputs, i), KIND_EVENTS))
			return true;
	return false;
}

bool config_records_events(const struct config *config)
{
	struct pair_rules rules;
	char error[512];

	return *config->event_names ||
	       (pair_rules_parse(&rules, config->event_spans, error, sizeof(error)) == 0 &&
		       pair_rules_have(&rules, false));
}

static bool names_kernel(const struct config *config)
{
	return *config->kernel_events || *config->kernel_syscalls || *config->kernel_functions;
}

bool config_reads_kernel(const struct config *config)
{
	return names_kernel(config) && config->kernel_mode == CONFIG_KERNEL_LIVE;
}

bool config_flies(const struct config *config)
{
	return names_kernel(config) && config->kernel_mode == CONFIG_KERNEL_FLIGHT;
}

bool config_output_is_set(const struct output_config *output, const char *key)
{
	return output->origins[config_key_find("output", key) - config_keys].file;
}

/* Says why @name can be none of an output; returns 0 if it can. */
static int check_name(const char *name, char *error, size_t size)
{
	if (!*name)
		snprintf(error, size,
			"the output has no name: write [output NAME], or [output] without a space");
	else if (!strcmp(name, "default"))
		snprintf(error, size, "the output `default` is the section [output]: write that");
	else if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
		snprintf(error, size,
			"`%.64s` cannot be an output's name: it has letters, digits, `_` and `-` only", name);
	else if (strlen(name) > CONFIG_OUTPUT_NAME_MAX)
		snprintf(error, size, "an output's name has %d characters at most: `%.64s` has %zu",
			CONFIG_OUTPUT_NAME_MAX, name, strlen(name));
	else
		return 0;
	return -1;
}

/* Finds the output @name, or makes it. */
static int find_or_make_output(
	struct config *config, const char *name, struct config_section *section, char *error, size_t size)
{
	struct output_config *output;

	if (check_name(name, error, size) != 0)
		return -1;
	output = find_output(config, name);
	if (!output && config->outputs->len == CONFIG_OUTPUTS_MAX) {
		snprintf(error, size,
			"there can be %d outputs at most, [output] among them: [output %s] is "
			"one too many",
			CONFIG_OUTPUTS_MAX, name);
		return -1;
	}
	if (!output) {
		output = output_config_create(name);
		g_ptr_array_add(config->outputs, output);
	}
	*section = section_of_output(output);
	return 0;
}

/* What was meant by a section that there is not. */
static int say_unknown(const char *title, char *error, size_t size)
{
	size_t length = strspn(title, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
	g_autofree char *word = g_strndup(title, length);
	const char *const thresholds[] = {SECTION_THRESHOLDS},
			  *near = config_section_suggest(title[length] ? word : title);
	bool named = near && title[length] && !strcmp(near, "output");

	if (!near)
		near = suggest(title, thresholds, 1);
	if (near)
		snprintf(error, size, "unknown section [%.64s]; did you mean [%s%s]?", title, near,
			named ? " NAME" : "");
	else
		snprintf(error, size, "unknown section [%.64s]; blkin-agent.conf(5) lists them", title);
	return -1;
}

int section_find(struct config *config, const char *title, struct config_section *section, char *error,
	size_t error_size)
{
	if (!strcmp(title, "output")) {
		*section = section_of_output(g_ptr_array_index(config->outputs, 0));
		return 0;
	}
	if (g_str_has_prefix(title, "output ") || g_str_has_prefix(title, "output\t")) {
		g_autofree char *name = g_strstrip(g_strdup(title + strlen("output ")));

		return find_or_make_output(config, name, section, error, error_size);
	}
	for (size_t i = 0; i < config_key_count; i++)
		if (!strcmp(config_keys[i].section, title)) {
			*section = (struct config_section){
				config_keys[i].section, config_keys[i].section, config, config->origins};
			return 0;
		}
	if (!strcmp(title, SECTION_THRESHOLDS)) {
		*section = (struct config_section){SECTION_THRESHOLDS, SECTION_THRESHOLDS, config, NULL};
		return 0;
	}
	return say_unknown(title, error, error_size);
}

bool output_key_fits(const struct output_config *output, const struct config_key *key)
{
	return output_type_of(output)->keys & key->group;
}
