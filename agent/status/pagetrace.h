/* SPDX-License-Identifier: BSD-2-Clause */
/* Links from the page to traces: here, and where `ui` in [agent] says. */
#ifndef STATUS_PAGETRACE_H
#define STATUS_PAGETRACE_H

#include "base/buffer.h"
#include "config/config.h"
#include "stats/monitor.h"

/* Where a trace is, of which @trace is the id: @ui, which has {trace} in it, or "" if that is "". The
 * caller's. */
char *pagetrace_address(const char *ui, const char *trace);

/*
 * Writes late spans of that series, the slowest first, and the one that failed last, with their traces: each
 * a link to what the agent has of it, and to where `ui` says; and whether the flight recorder has kept what
 * the kernel did. They are of traces that an output keeps.
 */
void pagetrace_write(
	struct buffer *out, const struct monitor *monitor, uint32_t number, const struct config *config);

#endif
