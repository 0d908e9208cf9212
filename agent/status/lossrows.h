/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was lost, as all that tell it show it: row by row, and when. Of what `blkin status --acknowledge` said
 * that it is known, only what came later.
 */
#ifndef STATUS_LOSSROWS_H
#define STATUS_LOSSROWS_H

#include <stdint.h>

#include "status/facts.h"

struct lossrow {
	const char *output; /* "" if it is the node's, or there is only one */
	const char *words;  /* what it is, and why */
	int64_t amount;
	int64_t at; /* the last of it, CLOCK_MONOTONIC ns; 0: before the agent started */
};

/* Calls @each with @data for each row of losses that is not 0. What it gets is borrowed until it returns. */
void lossrows_each(
	const struct status *status, void (*each)(void *data, const struct lossrow *row), void *data);

#endif
