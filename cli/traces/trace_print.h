/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace as text: a tree of its spans, for people to read. */
#ifndef TRACES_TRACE_PRINT_H
#define TRACES_TRACE_PRINT_H

#include <glib.h>

#include "base/buffer.h"
#include "traces/trace_lines.h"

/*
 * Appends the trace made of @spans (of struct span2, at least one, all of one trace): a header, then a line
 * for each span below its parent's, with its annotations and tags. Parts and duplicates of a span are merged;
 * a client's half is above the server's half. A span whose parent is missing starts a separate tree. Text
 * from a peer is made printable.
 */
void trace_print(struct buffer *out, const GPtrArray *spans, const struct trace_style *style);

#endif
