/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/tree.h"

#include <string.h>

/* Deeper spans start a separate tree: this bounds the indentation and the recursion. */
#define DEPTH_MAX 32
/* A span id has two halves; if there are more, it is a mistake, and only this many are searched. */
#define HALVES_SEARCHED 16

static void node_free(void *data)
{
	struct trace_node *node = data;

	g_ptr_array_unref(node->halves);
	g_ptr_array_unref(node->children);
	g_free(node);
}

const char *trace_service(const struct span2 *span)
{
	return span->local && span->local->service ? span->local->service : "";
}

/*
 * Merges @from into @into, another part of the same span, or empty. If both have a value, the first is kept.
 */
static void merge(struct span2 *into, const struct span2 *from)
{
	into->kind = into->kind ? into->kind : from->kind;
	into->parent_id = into->parent_id ? into->parent_id : from->parent_id;
	into->timestamp = into->timestamp ? into->timestamp : from->timestamp;
	into->duration = into->duration ? into->duration : from->duration;
	if (!into->name)
		into->name = g_strdup(from->name);
	if (!into->local)
		into->local = span2_endpoint_copy(from->local);
	if (!into->remote)
		into->remote = span2_endpoint_copy(from->remote);
	for (guint i = 0; i < from->annotations->len; i++) {
		const struct span2_annotation *all =
			&g_array_index(from->annotations, struct span2_annotation, 0);

		span2_annotate(into, all[i].timestamp, all[i].value);
	}
	for (guint i = 0; i < from->tags->len; i++) {
		const struct span2_tag *all = &g_array_index(from->tags, struct span2_tag, 0);

		span2_tag(into, all[i].key, all[i].value, all[i].value_size);
	}
}

static bool same_half(const struct span2 *a, const struct span2 *b)
{
	return a->shared == b->shared && (a->kind == b->kind || !a->kind || !b->kind) &&
	       strcmp(trace_service(a), trace_service(b)) == 0;
}

static void add_span(struct trace_tree *tree, const struct span2 *span)
{
	struct trace_node *node = g_hash_table_lookup(tree->by_id, &span->id);
	struct span2 *half = NULL;

	if (!node) {
		node = g_new0(struct trace_node, 1);
		node->id = span->id;
		node->halves = g_ptr_array_new_with_free_func(span2_free);
		node->children = g_ptr_array_new();
		g_hash_table_insert(tree->by_id, &node->id, node);
		g_ptr_array_add(tree->nodes, node);
	}
	for (guint i = node->halves->len; i > 0 && i + HALVES_SEARCHED > node->halves->len && !half; i--)
		if (same_half(g_ptr_array_index(node->halves, i - 1), span))
			half = g_ptr_array_index(node->halves, i - 1);
	if (!half) {
		half = span2_new();
		half->id = span->id;
		half->shared = span->shared;
		g_ptr_array_add(node->halves, half);
	}
	merge(half, span);
}

static bool is_far(const struct span2 *span)
{
	return span->shared || span->kind == SPAN2_SERVER || span->kind == SPAN2_CONSUMER;
}

/* The caller is above the callee. */
static int compare_halves(const void *a, const void *b)
{
	const struct span2 *left = *(struct span2 *const *)a, *right = *(struct span2 *const *)b;

	if (is_far(left) != is_far(right))
		return is_far(left) ? 1 : -1;
	if (left->timestamp != right->timestamp)
		return left->timestamp < right->timestamp ? -1 : 1;
	return strcmp(trace_service(left), trace_service(right));
}

static int compare_nodes(const void *a, const void *b)
{
	const struct trace_node *left = *(struct trace_node *const *)a,
				*right = *(struct trace_node *const *)b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

static void stretch(struct trace_tree *tree, int64_t from, int64_t to)
{
	tree->start = from < tree->start ? from : tree->start;
	tree->end = to > tree->end ? to : tree->end;
}

/* After all spans are added: determines each node's kind, and the trace's start and end. */
static void settle(struct trace_tree *tree, struct trace_node *node)
{
	for (guint i = 0; i < node->halves->len; i++) {
		struct span2 *half = g_ptr_array_index(node->halves, i);

		span2_sort(half);
		if (!node->parent_id && half->parent_id != node->id)
			node->parent_id = half->parent_id;
		if (half->timestamp)
			stretch(tree, half->timestamp, time_sum(half->timestamp, half->duration));
		for (guint k = 0; k < half->annotations->len; k++) {
			int64_t time = g_array_index(half->annotations, struct span2_annotation, k).timestamp;

			stretch(tree, time, time);
		}
	}
	g_ptr_array_sort(node->halves, compare_halves);
	for (guint i = 0; i < node->halves->len && !node->start; i++)
		node->start = ((struct span2 *)g_ptr_array_index(node->halves, i))->timestamp;
	node->parent = g_hash_table_lookup(tree->by_id, &node->parent_id);
	node->place = !node->parent_id ? TRACE_ROOT
		      : node->parent   ? TRACE_BELOW_PARENT
				       : TRACE_PARENT_MISSING;
}

/* Follows parents up from @node; if that comes round, cuts the loop at the one that began first. */
static void cut_loop(struct trace_node *node, unsigned int walk)
{
	struct trace_node *first;

	while (node && !node->walk) {
		node->walk = walk;
		node = node->parent;
	}
	if (!node || node->walk != walk)
		return;
	first = node;
	for (struct trace_node *next = node->parent; next != node; next = next->parent)
		if (compare_nodes(&next, &first) < 0)
			first = next;
	first->parent = NULL;
	first->place = TRACE_PARENT_BELOW;
}

/* Orders the children of @node and counts their depth; one that is too deep becomes one more root. */
static void place_children(struct trace_tree *tree, struct trace_node *node, GPtrArray *todo)
{
	g_ptr_array_sort(node->children, compare_nodes);
	for (guint i = 0; i < node->children->len; i++) {
		struct trace_node *child = g_ptr_array_index(node->children, i);

		child->depth = node->depth + 1;
		if (child->depth < DEPTH_MAX) {
			g_ptr_array_add(todo, child);
			continue;
		}
		child->depth = 0;
		child->place = TRACE_PARENT_ABOVE;
		g_ptr_array_add(tree->roots, child);
	}
	if (node->depth + 1 >= DEPTH_MAX)
		g_ptr_array_set_size(node->children, 0);
}

/* Puts the nodes below their parents, from the roots down. */
static void lay_out(struct trace_tree *tree)
{
	GPtrArray *todo = g_ptr_array_new();

	for (guint i = 0; i < tree->nodes->len; i++) {
		struct trace_node *node = g_ptr_array_index(tree->nodes, i);

		g_ptr_array_add(node->parent ? node->parent->children : tree->roots, node);
	}
	g_ptr_array_sort(tree->roots, compare_nodes);
	for (guint i = 0; i < tree->roots->len; i++) {
		g_ptr_array_add(todo, g_ptr_array_index(tree->roots, i));
		while (todo->len)
			place_children(tree, g_ptr_array_steal_index_fast(todo, todo->len - 1), todo);
	}
	g_ptr_array_unref(todo);
}

void trace_tree_make(struct trace_tree *tree, const GPtrArray *spans)
{
	*tree = (struct trace_tree){
		.by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, node_free),
		.nodes = g_ptr_array_new(),
		.roots = g_ptr_array_new(),
		.start = INT64_MAX,
		.end = INT64_MIN,
	};
	for (guint i = 0; i < spans->len; i++)
		add_span(tree, g_ptr_array_index(spans, i));
	for (guint i = 0; i < tree->nodes->len; i++)
		settle(tree, g_ptr_array_index(tree->nodes, i));
	for (guint i = 0; i < tree->nodes->len; i++)
		cut_loop(g_ptr_array_index(tree->nodes, i), i + 1);
	lay_out(tree);
}

void trace_tree_free(struct trace_tree *tree)
{
	g_ptr_array_unref(tree->roots);
	g_ptr_array_unref(tree->nodes);
	g_hash_table_unref(tree->by_id);
}

bool trace_half_failed(const struct span2 *half)
{
	for (guint i = 0; i < half->tags->len; i++)
		if (!strcmp(g_array_index(half->tags, struct span2_tag, i).key, "error"))
			return true;
	return false;
}

bool trace_failed(const struct trace_node *node)
{
	for (guint i = 0; i < node->halves->len; i++)
		if (trace_half_failed(g_ptr_array_index(node->halves, i)))
			return true;
	return false;
}

unsigned trace_errors(const struct trace_tree *tree)
{
	unsigned errors = 0;

	for (guint i = 0; i < tree->nodes->len; i++)
		errors += trace_failed(g_ptr_array_index(tree->nodes, i));
	return errors;
}
