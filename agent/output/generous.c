/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/generous.h"

#include <math.h>

/* A share that was found out is taken for the next smaller one of these. */
static uint64_t one_in(const struct output_config *is, const struct outputs *outputs)
{
	return is->keep ? is->keep : (uint64_t)ceil(1 / outputs_part(outputs, is->name));
}

struct keep generous_keep(const struct config *config, const struct outputs *outputs)
{
	struct keep most = {.one_in = UINT64_MAX};

	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *is = g_ptr_array_index(config->outputs, i);

		if (config_output_delivers(is) && one_in(is, outputs) < most.one_in)
			most = (struct keep){.one_in = one_in(is, outputs),
				.errors = is->keep_errors,
				.slower = is->keep_slower};
	}
	return most;
}
