/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: traces are read in a child process, as damaged ones can end babeltrace2. */
#ifndef WHY_RUN_H
#define WHY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"

/*
 * Reads @traces (of char *), without those that babeltrace2 cannot read, and prints where the time of the
 * spans of @id, as around_parse takes it, went: the trace with these lower 64 bits of its id, or the span.
 * Returns the exit code; what was wrong is logged. @unread: the kernel's trace is missing among them, as it
 * cannot be read.
 */
int why_run(const struct config *config, const char *id, bool json, bool unread, const GPtrArray *traces);

/* The same, but what it finds goes into the files that @kept names (kept.h), in both forms. */
struct kept_files;
int why_run_kept(
	const struct config *config, const char *id, const GPtrArray *traces, const struct kept_files *kept);

/* What to add to a message that there is no such id: perhaps it is a decimal number. */
const char *why_id_hint(const char *typed);

/* A time on the tracing clock, ns. */
struct why_extent {
	uint64_t first, last;
};

/* Finds out when the spans of @id were, by the programs' traces. False if there are none. */
bool why_locate(const struct config *config, uint64_t id, const GPtrArray *traces, struct why_extent *extent);

#endif
