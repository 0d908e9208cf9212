/* SPDX-License-Identifier: BSD-2-Clause */
/* What only a look at the node's programs can tell, among what the agent has told: how many there are, and
 * what is wrong with them. */
#ifndef STATE_FINDINGS_H
#define STATE_FINDINGS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "census.h"

/* Appends the agent's JSON with that, and a NUL; false if it cannot be understood. An empty @tracing_group
 * means a user's own agent. */
bool state_complete(
	struct buffer *out, const char *json, const struct census *census, const char *tracing_group);

#endif
