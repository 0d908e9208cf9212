/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace as text: a tree of its spans, for people to read. */
#ifndef TRACES_TRACE_PRINT_H
#define TRACES_TRACE_PRINT_H

#include <glib.h>

#include "base/buffer.h"
#include "traces/trace_lines.h"

/*
 * Appends the trace that @spans (of struct span2, at least one, all of one trace) make: a header, then a line
 * for each span below its parent's, with its annotations and tags. Pieces of one span, and repeats, are put
 * together; a client's and a server's half of one span stand above each other. A span whose parent is not
 * there starts a tree of its own. What came from a peer is shown printable.
 */
void trace_print(struct buffer *out, const GPtrArray *spans, const struct trace_style *style);

#endif
