/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands above the table of `blkin top`: all spans together, and what was lost. */
#ifndef LOOK_HEADING_H
#define LOOK_HEADING_H

#include "base/buffer.h"
#include "stats/snapshot.h"

/* Appends lines of @width (0: any): of @snapshot, and of what was lost since @before; NULL: in all. */
void heading_put(
	struct buffer *out, const struct snapshot *snapshot, const struct snapshot *before, int width);

#endif
