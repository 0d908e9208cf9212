/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace drawn as a tree, for people. */
#ifndef TREE_H
#define TREE_H

#include <glib.h>

#include "base/buffer.h"
#include "rows.h"

/*
 * Appends the trace that @spans (of struct span2, at least one, all of one trace) make: a header, then a line
 * for each span below its parent's, with its annotations and tags. Pieces of one span, and repeats, are put
 * together; a client's and a server's half of one span stand above each other. A span whose parent is not
 * there starts a tree of its own. What came from a peer is shown printable.
 */
void tree_print(struct buffer *out, const GPtrArray *spans, const struct rows_style *style);

#endif
