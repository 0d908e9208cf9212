/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/merge.h"

#include "config/check.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/outputtype.h"
#include "config/section.h"
#include "config/thresholds.h"
#include "config/value.h"

/* Makes each value and its origin those of @running or @fresh. */
static void merge_keys(struct config_section *merged, enum config_scope scope,
	const struct config_section *running, const struct config_section *fresh)
{
	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_section *from =
			config_keys[i].change == CONFIG_NEEDS_RESTART ? running : fresh;

		if (config_keys[i].scope != scope)
			continue;
		config_value_copy(merged->values, &config_keys[i], from->values);
		merged->origins[i] = from->origins[i];
	}
}

static struct config_section section_of_agent(const struct config *config)
{
	return (struct config_section){.values = (void *)config, .origins = config->origins};
}

static struct output_config *merge_output(const struct config *running, struct output_config *fresh)
{
	struct output_config *output = output_config_create(fresh->name),
			     *old = (struct output_config *)config_output(running, fresh->name);
	bool delivered = old && config_output_delivers(old);
	struct config_section section = section_of_output(output), fresh_section = section_of_output(fresh),
			      old_section = section_of_output(delivered ? old : fresh);

	merge_keys(&section, SCOPE_OUTPUT, &old_section, &fresh_section);
	return output;
}

/* What need not wait for a restart must fit what does, and follow from it. */
static void fit(struct config *merged)
{
	merged->max_pending = MIN(merged->max_pending, check_max_pending(merged));
	for (guint i = 0; i < merged->outputs->len; i++) {
		struct output_config *output = g_ptr_array_index(merged->outputs, i);

		output->batch_size = MIN(output->batch_size, check_batch_size(output));
		if (output_type_of(output)->settle)
			output_type_of(output)->settle(merged, output);
	}
}

void config_merge(struct config *merged, const struct config *running, const struct config *fresh)
{
	struct config_section section, running_section = section_of_agent(running),
				       fresh_section = section_of_agent(fresh);

	config_init(merged);
	section = section_of_agent(merged);
	merge_keys(&section, SCOPE_AGENT, &running_section, &fresh_section);
	g_ptr_array_set_size(merged->outputs, 0);
	for (guint i = 0; i < fresh->outputs->len; i++)
		g_ptr_array_add(merged->outputs, merge_output(running, g_ptr_array_index(fresh->outputs, i)));
	for (guint i = 0; i < fresh->files->len; i++)
		g_ptr_array_add(merged->files, g_strdup(g_ptr_array_index(fresh->files, i)));
	g_ptr_array_unref(merged->thresholds);
	merged->thresholds = thresholds_copy(fresh->thresholds);
	merged->path = g_strdup(running->path);
	merged->settings = fresh->settings;
	merged->user = running->user;
	merged->own_relay = running->own_relay;
	fit(merged);
}

/* What is set nowhere cannot be changed: an output's `spool-size` then follows [spool]. */
static bool differs(size_t key, const struct config_section *one, const struct config_section *other)
{
	return (one->origins[key].file || other->origins[key].file) &&
	       !config_value_equal(&config_keys[key], one->values, other->values);
}

static unsigned changes(
	enum config_scope scope, const struct config_section *one, const struct config_section *other)
{
	unsigned found = 0;

	for (size_t i = 0; i < config_key_count; i++)
		if (config_keys[i].scope == scope && differs(i, one, other))
			found |= config_keys[i].change;
	return found;
}

unsigned config_changes(const struct config *one, const struct config *other)
{
	struct config_section sections[] = {section_of_agent(one), section_of_agent(other)};

	return changes(SCOPE_AGENT, &sections[0], &sections[1]) |
	       (thresholds_equal(one->thresholds, other->thresholds) ? 0 : CONFIG_CHANGES_THRESHOLDS);
}

unsigned config_output_changes(const struct output_config *one, const struct output_config *other)
{
	struct config_section sections[] = {section_of_output((struct output_config *)one),
		section_of_output((struct output_config *)other)};

	return changes(SCOPE_OUTPUT, &sections[0], &sections[1]);
}

static void list_waiting(GPtrArray *waiting, enum config_scope scope, const struct config_section *merged,
	const struct config_section *fresh)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (config_keys[i].scope == scope && differs(i, merged, fresh))
			g_ptr_array_add(
				waiting, g_strdup_printf("`%s` in [%s]", config_keys[i].name,
						 fresh->title ? fresh->title : config_keys[i].section));
}

GPtrArray *config_waiting(const struct config *merged, const struct config *fresh)
{
	GPtrArray *waiting = g_ptr_array_new_with_free_func(g_free);
	struct config_section one = section_of_agent(merged), other = section_of_agent(fresh);

	list_waiting(waiting, SCOPE_AGENT, &one, &other);
	for (guint i = 0; i < fresh->outputs->len; i++) {
		one = section_of_output(g_ptr_array_index(merged->outputs, i));
		other = section_of_output(g_ptr_array_index(fresh->outputs, i));
		list_waiting(waiting, SCOPE_OUTPUT, &one, &other);
	}
	return waiting;
}
