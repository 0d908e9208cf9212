/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a tree is folded: branches that are too deep, or in which nothing took long. */
#ifndef TRACES_TRACE_FOLD_H
#define TRACES_TRACE_FOLD_H

#include <stdbool.h>

#include "look/style.h"
#include "status/trace/tree.h"

/* Spans that are not drawn. */
struct trace_sum {
	unsigned spans, errors;
	int64_t longest; /* µs */
};

/* Whether @node and all that is below it are folded: then they are added to @sum. Roots are not, but those
 * that only stand apart as they are too deep. */
bool trace_fold(const struct trace_folding *folding, const struct trace_node *node, struct trace_sum *sum);

/* Says what is folded; the caller's to g_free. */
char *trace_fold_text(const struct trace_sum *sum);

#endif
