/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/generous.h"

struct keep generous_keep(const struct config *config)
{
	struct keep most = {.one_in = UINT64_MAX};

	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *is = g_ptr_array_index(config->outputs, i);

		if (config_output_delivers(is) && is->keep < most.one_in)
			most = (struct keep){
				.one_in = is->keep, .errors = is->keep_errors, .slower = is->keep_slower};
	}
	return most;
}
