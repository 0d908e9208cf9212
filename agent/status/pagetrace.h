/* SPDX-License-Identifier: BSD-2-Clause */
/* Links from the page to traces: `ui` in [agent]. */
#ifndef STATUS_PAGETRACE_H
#define STATUS_PAGETRACE_H

#include "base/buffer.h"
#include "stats/monitor.h"

/*
 * Writes late spans of that series, the slowest first, with their traces: links where @ui, which has {trace}
 * in it, says whither; "" says nothing. They are of traces that an output keeps.
 */
void pagetrace_write(struct buffer *out, const struct monitor *monitor, uint32_t number, const char *ui);

#endif
