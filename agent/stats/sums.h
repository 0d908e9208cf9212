/* SPDX-License-Identifier: BSD-2-Clause */
/* What was counted of a series. */
#ifndef STATS_SUMS_H
#define STATS_SUMS_H

#include <stdint.h>

struct sums {
	uint64_t spans, errors, timed, sum, max; /* as in struct series */
};

#endif
