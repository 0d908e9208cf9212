/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/outputtype.h"

#include <string.h>

#include "config/keys.h"
#include "config/value.h"

#define DECLARE(upper, lower) extern const struct output_type output_type_##lower;
OUTPUT_TYPES(DECLARE)
#undef DECLARE

#define ENTRY(upper, lower) [CONFIG_OUTPUT_##upper] = &output_type_##lower,
const struct output_type *const output_types[CONFIG_OUTPUT_TYPES] = {OUTPUT_TYPES(ENTRY)};
#undef ENTRY

bool output_list_has(const char *list, const char *name)
{
	g_autofree char *framed = g_strconcat("|", name, "|", NULL);

	return list && strstr(list, framed);
}

const struct output_type *output_type_named(const char *name)
{
	for (int i = 0; i < CONFIG_OUTPUT_TYPES; i++)
		if (!strcmp(output_types[i]->name, name))
			return output_types[i];
	return output_types[CONFIG_OUTPUT_NONE];
}

const char *output_type_meant(const char *text)
{
	g_autofree char *lower = g_ascii_strdown(text, -1);

	for (int i = 0; i < CONFIG_OUTPUT_TYPES; i++)
		if (output_list_has(output_types[i]->also, lower))
			return output_types[i]->name;
	return NULL;
}

static bool has_place(const struct output_type *type, enum config_type is)
{
	return type->place && config_key_find("output", type->place)->type == is;
}

bool output_type_has_servers(const struct output_type *type)
{
	return has_place(type, ADDRESSES);
}

bool output_type_has_directory(const struct output_type *type)
{
	return has_place(type, FOLDER);
}

const char *config_output_place(const struct output_config *output)
{
	const char *key = output_type_of(output)->place;

	if (!key)
		return "";
	return *(char *const *)(const void *)((const char *)output + config_key_find("output", key)->offset);
}

size_t output_servers(const struct output_config *output, struct address list[ADDRESSES_MAX])
{
	return output_type_has_servers(output_type_of(output))
		       ? address_parse_list(config_output_place(output), list)
		       : 0;
}

bool config_output_delivers(const struct output_config *output)
{
	return output_type_of(output)->takes != 0;
}

bool config_lane_is_on(const struct output_config *output, enum kind kind)
{
	return config_output_delivers(output) && (output->takes >> kind & 1);
}

void output_type_default(struct output_config *output, const char *key, const char *text)
{
	if (!config_output_is_set(output, key))
		config_value_set(output, config_key_find("output", key), text);
}

const char *output_advice_find(const struct output_advice *list, const char *name)
{
	for (; list && list->names; list++)
		if (output_list_has(list->names, name))
			return list->words;
	return NULL;
}
