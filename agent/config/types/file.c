/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = file`: lines of JSON in files of a directory. */
#include <string.h>

#include "config/check.h"
#include "config/keys.h"
#include "config/outputtype.h"

static void settle(const struct config *config, struct output_config *output)
{
	g_autofree char *own = g_build_filename(config->state_directory, "files", output->name, NULL);

	output_type_default(output, "format", "json2");
	output_type_default(output, "directory", own);
	output->own_directory = g_str_has_prefix(output->directory, config->state_directory) &&
				output->directory[strlen(config->state_directory)] == '/';
}

/* Each would take what the other writes for what was left behind. */
static int check_directories(const struct config *config, const struct output_config *output)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *other = g_ptr_array_index(config->outputs, i);
		const struct config_origin *at = check_later(NULL, output->origins, "output", "directory");

		if (other == output)
			break;
		at = check_later(at, other->origins, "output", "directory");
		if (output_type_has_directory(output_type_of(other)) &&
			!strcmp(config_output_place(other), output->directory))
			return check_broken(at, "`directory` must differ from that of every other output,",
				output->section);
	}
	return 0;
}

static int check(const struct config *config, const struct output_config *output)
{
	const struct rule rules[] = {
		{output->format != CONFIG_FORMAT_JSON2 && output->format != CONFIG_FORMAT_OTLP_JSON,
			{"format", "type"}, "`type = file` needs `format = json2` or `format = otlp-json`"},
		{output->total_size && (!output->rotate_size || output->total_size < output->rotate_size),
			{"total-size", "rotate-size"},
			"`total-size` must be 0 (no limit), or at least `rotate-size`, which must not be 0 "
			"then,"},
	};
	int status = check_rules(output, rules, G_N_ELEMENTS(rules));

	return check_directories(config, output) != 0 ? -1 : status;
}

const struct output_type output_type_file = {
	.name = "file",
	.also = "|jsonl|",
	.takes = CONFIG_TAKES_SPANS | CONFIG_TAKES_EVENTS | CONFIG_TAKES_MESSAGES,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_FORMATS | KEYS_FILES,
	.formats = 1u << CONFIG_FORMAT_JSON2 | 1u << CONFIG_FORMAT_OTLP_JSON,
	.place = "directory",
	.settle = settle,
	.check = check,
	.unsteady = "check the disk, and its room",
};
