/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin import --around`: prints a trace with what happened around its spans. */
#ifndef IMPORT_AROUNDSHOW_H
#define IMPORT_AROUNDSHOW_H

#include <stdatomic.h>
#include <stdbool.h>

#include <glib.h>

#include "import/aroundspans.h"
#include "print_spans.h"
#include "status/trace/span2.h"

/*
 * Prints the trace's spans (@whole, of struct span2), each with its events: as a tree, or as a line of JSON
 * for each span. Counts up @steps with each. False if standard output does not take it, which is logged.
 */
bool around_show(const struct span_printer_options *how, GPtrArray *whole, struct around_spans *spans,
	atomic_ulong *steps);

/* Which of the trace's spans (of struct span2) it is: of several halves the one that began then; NULL if none
 * is. */
struct span2 *around_whole(const GPtrArray *whole, const struct around_span *span);

#endif
