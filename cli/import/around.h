/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin import --around TRACE_ID`: a trace's spans, and what else happened to their threads meanwhile. */
#ifndef IMPORT_AROUND_H
#define IMPORT_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "print_spans.h"

/* Reads a TRACE_ID of up to 32 hexadecimal digits; false if it is none. The lower 64 bits go to @trace_id,
 * which may be NULL. */
bool around_parse(const char *text, uint64_t *trace_id);

/*
 * Reads @traces (of char *) twice, in a child process, without those that babeltrace2 cannot read, and
 * prints: a tree, or lines of JSON; returns the exit code. What was wrong is logged.
 */
int around_run(const struct config *config, const char *trace_id, const struct span_printer_options *how,
	const GPtrArray *traces);

#endif
