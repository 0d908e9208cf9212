/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of one trace as trees: each below its parent, in the order of time. Pieces of one span, and
 * repeats, are put together. What peers send may be anything: loops are cut, and depth has a limit.
 */
#ifndef STATUS_TRACE_TREE_H
#define STATUS_TRACE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "status/trace/span2.h"

/* Where a span stands, and why. */
enum trace_place {
	TRACE_BELOW_PARENT,
	TRACE_ROOT,
	TRACE_PARENT_MISSING,
	TRACE_PARENT_BELOW, /* spans that are each other's parents */
	TRACE_PARENT_ABOVE  /* too deep to draw */
};

/* All that is known under one span id. */
struct trace_node {
	uint64_t id;
	uint64_t parent_id;
	struct trace_node *parent;
	enum trace_place place;
	unsigned int depth;
	unsigned int walk;   /* which search for a loop came by; 0: none */
	int64_t start;       /* of the first half that has one */
	GPtrArray *halves;   /* of struct span2, owned: a client's above a server's */
	GPtrArray *children; /* of struct trace_node, borrowed */
};

struct trace_tree {
	GHashTable *by_id; /* uint64_t to struct trace_node, which it owns */
	GPtrArray *nodes;  /* in the order that they came; borrowed, as are the next */
	GPtrArray *roots;
	int64_t start, end; /* µs since the epoch; start is later than end if no time is known */
};

/* Makes the trees of @spans (of struct span2), which are copied; trace_tree_free frees them. */
void trace_tree_make(struct trace_tree *tree, const GPtrArray *spans);

void trace_tree_free(struct trace_tree *tree);

/* Whether its tags say that it failed: a half, or any half of the node. */
bool trace_half_failed(const struct span2 *half);
bool trace_failed(const struct trace_node *node);

/* How many spans of the tree failed. */
unsigned trace_errors(const struct trace_tree *tree);

/* The service of a span in lower case; "" if unknown. */
const char *trace_service(const struct span2 *span);

#endif
