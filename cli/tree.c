/* SPDX-License-Identifier: BSD-2-Clause */
#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "span2.h"

/* Deeper spans start a tree of their own: what is drawn stays on the screen, and the recursion on the stack.
 */
#define DEPTH_MAX 32
/* Bytes shown of a name, and of an annotation or tag. */
#define NAME_MAX_SHOWN 120
#define VALUE_MAX_SHOWN 1000
/* A span id has two halves, or it is a mistake: no long search for one of a thousand. */
#define HALVES_SEARCHED 16
/* Services named in the header. */
#define SERVICES_SHOWN 8

enum place {
	BELOW_PARENT,
	ROOT,
	PARENT_MISSING,
	PARENT_BELOW, /* spans that are each other's parents */
	PARENT_ABOVE  /* too deep to draw */
};

/* All that is known under one span id. */
struct node {
	uint64_t id;
	uint64_t parent_id;
	struct node *parent;
	enum place place;
	unsigned int depth;
	unsigned int walk;   /* which search for a loop came by; 0: none */
	int64_t start;       /* of the first half that has one */
	GPtrArray *halves;   /* of struct span2, owned */
	GPtrArray *children; /* of struct node, borrowed */
};

struct drawing {
	GHashTable *by_id; /* uint64_t to struct node, which it owns */
	GPtrArray *nodes;  /* in the order that they came; borrowed, as are the next */
	GPtrArray *roots;
	GPtrArray *rows; /* of struct row, owned */
	int64_t start, end;
};

/* Times come from peers and may be anything: arithmetic stops at the ends of the scale. */
static int64_t add_times(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		sum = b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static int64_t subtract_times(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		difference = b < 0 ? INT64_MAX : INT64_MIN;
	return difference;
}

static void node_free(void *data)
{
	struct node *node = data;

	g_ptr_array_unref(node->halves);
	g_ptr_array_unref(node->children);
	g_free(node);
}

static const char *service_of(const struct span2 *span)
{
	return span->local && span->local->service ? span->local->service : "";
}

/* Adds what @from says to @into, another piece of it or nothing yet. Where both say something, the first
 * holds. */
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
	       strcmp(service_of(a), service_of(b)) == 0;
}

static void add_span(struct drawing *drawing, const struct span2 *span)
{
	struct node *node = g_hash_table_lookup(drawing->by_id, &span->id);
	struct span2 *half = NULL;

	if (!node) {
		node = g_new0(struct node, 1);
		node->id = span->id;
		node->halves = g_ptr_array_new_with_free_func(span2_free);
		node->children = g_ptr_array_new();
		g_hash_table_insert(drawing->by_id, &node->id, node);
		g_ptr_array_add(drawing->nodes, node);
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

/* Who asks stands over who answers. */
static int compare_halves(const void *a, const void *b)
{
	const struct span2 *left = *(struct span2 *const *)a, *right = *(struct span2 *const *)b;

	if (is_far(left) != is_far(right))
		return is_far(left) ? 1 : -1;
	if (left->timestamp != right->timestamp)
		return left->timestamp < right->timestamp ? -1 : 1;
	return strcmp(service_of(left), service_of(right));
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node *left = *(struct node *const *)a, *right = *(struct node *const *)b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

static void stretch(struct drawing *drawing, int64_t from, int64_t to)
{
	drawing->start = from < drawing->start ? from : drawing->start;
	drawing->end = to > drawing->end ? to : drawing->end;
}

/* All spans are in: settles what a node is, and from when to when the trace went. */
static void settle(struct drawing *drawing, struct node *node)
{
	for (guint i = 0; i < node->halves->len; i++) {
		struct span2 *half = g_ptr_array_index(node->halves, i);

		span2_sort(half);
		if (!node->parent_id && half->parent_id != node->id)
			node->parent_id = half->parent_id;
		if (half->timestamp)
			stretch(drawing, half->timestamp, add_times(half->timestamp, half->duration));
		for (guint k = 0; k < half->annotations->len; k++) {
			int64_t time = g_array_index(half->annotations, struct span2_annotation, k).timestamp;

			stretch(drawing, time, time);
		}
	}
	g_ptr_array_sort(node->halves, compare_halves);
	for (guint i = 0; i < node->halves->len && !node->start; i++)
		node->start = ((struct span2 *)g_ptr_array_index(node->halves, i))->timestamp;
	node->parent = g_hash_table_lookup(drawing->by_id, &node->parent_id);
	node->place = !node->parent_id ? ROOT : node->parent ? BELOW_PARENT : PARENT_MISSING;
}

/* Follows parents up from @node; if that comes round, cuts the loop at the one that began first. */
static void cut_loop(struct node *node, unsigned int walk)
{
	struct node *first;

	while (node && !node->walk) {
		node->walk = walk;
		node = node->parent;
	}
	if (!node || node->walk != walk)
		return;
	first = node;
	for (struct node *next = node->parent; next != node; next = next->parent)
		if (compare_nodes(&next, &first) < 0)
			first = next;
	first->parent = NULL;
	first->place = PARENT_BELOW;
}

/* Orders children and counts depth, from the roots down; a span that is too deep becomes one more root. */
static void lay_out(struct drawing *drawing)
{
	GPtrArray *todo = g_ptr_array_new();

	for (guint i = 0; i < drawing->nodes->len; i++) {
		struct node *node = g_ptr_array_index(drawing->nodes, i);

		g_ptr_array_add(node->parent ? node->parent->children : drawing->roots, node);
	}
	g_ptr_array_sort(drawing->roots, compare_nodes);
	for (guint i = 0; i < drawing->roots->len; i++) {
		g_ptr_array_add(todo, g_ptr_array_index(drawing->roots, i));
		while (todo->len) {
			struct node *node = g_ptr_array_steal_index_fast(todo, todo->len - 1);

			g_ptr_array_sort(node->children, compare_nodes);
			for (guint k = 0; k < node->children->len; k++) {
				struct node *child = g_ptr_array_index(node->children, k);

				child->depth = node->depth + 1;
				if (child->depth < DEPTH_MAX) {
					g_ptr_array_add(todo, child);
					continue;
				}
				child->depth = 0;
				child->place = PARENT_ABOVE;
				g_ptr_array_add(drawing->roots, child);
			}
			if (node->depth + 1 >= DEPTH_MAX)
				g_ptr_array_set_size(node->children, 0);
		}
	}
	g_ptr_array_unref(todo);
}

static char *time_text(const char *sign, int64_t us)
{
	struct buffer out = {0};

	if (us >= 0 && *sign)
		buffer_put(&out, sign, strlen(sign));
	printable_put_time(&out, us);
	buffer_put(&out, "", 1);
	return (char *)out.data;
}

static char *remark_of(const struct node *node)
{
	switch (node->place) {
	case PARENT_MISSING:
		return g_strdup_printf("(parent %016" PRIx64 " missing)", node->parent_id);
	case PARENT_BELOW:
		return g_strdup_printf("(parent %016" PRIx64 " is below)", node->parent_id);
	case PARENT_ABOVE:
		return g_strdup_printf("(parent %016" PRIx64 " is above, too deep to draw)", node->parent_id);
	default:
		return NULL;
	}
}

static struct row *add_row(struct drawing *drawing, const char *prefix, const char *branch, char *name)
{
	struct row *row = g_new0(struct row, 1);

	row->prefix = g_strconcat(prefix, branch, NULL);
	row->name = name;
	g_ptr_array_add(drawing->rows, row);
	return row;
}

static void add_span_row(
	struct drawing *drawing, const char *prefix, const char *branch, const struct span2 *span)
{
	const char *name = span->name ? span->name : "(no name)", *service = service_of(span);
	struct row *row =
		add_row(drawing, prefix, branch, printable_copy(name, strlen(name), NAME_MAX_SHOWN));

	row->service = printable_copy(service, strlen(service), NAME_MAX_SHOWN);
	row->kind = span2_kind_name(span->kind);
	row->start = subtract_times(span->timestamp, drawing->start);
	row->length = span->timestamp ? span->duration : -1;
	row->offset = span->timestamp ? time_text("+", row->start) : g_strdup("-");
	row->duration = span->duration ? time_text("", span->duration) : g_strdup("-");
}

static void add_details(
	struct drawing *drawing, const char *prefix, const char *branch, const struct span2 *span)
{
	for (guint i = 0; i < span->annotations->len; i++) {
		const struct span2_annotation *note =
			&g_array_index(span->annotations, struct span2_annotation, i);
		char *when = time_text("+", subtract_times(note->timestamp, drawing->start));
		char *what = printable_copy(note->value, strlen(note->value), VALUE_MAX_SHOWN);

		add_row(drawing, prefix, branch, g_strdup_printf("%s %s", when, what))->detail = true;
		g_free(when);
		g_free(what);
	}
	for (guint i = 0; i < span->tags->len; i++) {
		const struct span2_tag *tag = &g_array_index(span->tags, struct span2_tag, i);
		char *key = printable_copy(tag->key, strlen(tag->key), NAME_MAX_SHOWN);
		char *value = printable_copy(tag->value, tag->value_size, VALUE_MAX_SHOWN);

		add_row(drawing, prefix, branch, g_strdup_printf("%s = %s", key, value))->detail = true;
		g_free(key);
		g_free(value);
	}
}

/* @prefix: the lines of the trees above that go on. */
static void add_node(struct drawing *drawing, const struct node *node, const char *prefix, bool last)
{
	char *below = g_strconcat(prefix, last ? "   " : "│  ", NULL);
	const char *branch = node->children->len ? "│    " : "     ";
	guint first_row = drawing->rows->len;

	for (guint i = 0; i < node->halves->len; i++) {
		const struct span2 *half = g_ptr_array_index(node->halves, i);

		if (i == 0)
			add_span_row(drawing, prefix, last ? "└─ " : "├─ ", half);
		else
			add_span_row(drawing, below, "", half);
		add_details(drawing, below, branch, half);
	}
	((struct row *)g_ptr_array_index(drawing->rows, first_row))->remark = remark_of(node);
	for (guint i = 0; i < node->children->len; i++)
		add_node(drawing, g_ptr_array_index(node->children, i), below, i + 1 == node->children->len);
	g_free(below);
}

/* The services in the order that they stand below, each once. */
static void put_services(struct buffer *out, const struct drawing *drawing)
{
	GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
	guint count;

	for (guint i = 0; i < drawing->rows->len; i++) {
		const struct row *row = g_ptr_array_index(drawing->rows, i);

		if (row->detail || !*row->service || !g_hash_table_add(seen, row->service))
			continue;
		count = g_hash_table_size(seen);
		if (count <= SERVICES_SHOWN)
			buffer_printf(out, "%s%s", count == 1 ? "  " : ", ", row->service);
	}
	count = g_hash_table_size(seen);
	if (count > SERVICES_SHOWN)
		buffer_printf(out, " and %u more", count - SERVICES_SHOWN);
	g_hash_table_unref(seen);
}

static void put_header(struct buffer *out, const struct drawing *drawing, const struct span2 *span,
	const struct rows_style *style)
{
	guint count = drawing->nodes->len;
	char id[48];

	if (span->trace_id_high)
		g_snprintf(id, sizeof(id), "trace %016" PRIx64 "%016" PRIx64, span->trace_id_high,
			span->trace_id);
	else
		g_snprintf(id, sizeof(id), "trace %016" PRIx64, span->trace_id);
	rows_paint(out, style, "1", id);
	buffer_printf(out, "  %u span%s", count, count == 1 ? "" : "s");
	if (drawing->end > drawing->start) {
		buffer_printf(out, "  ");
		printable_put_time(out, subtract_times(drawing->end, drawing->start));
	}
	put_services(out, drawing);
	buffer_printf(out, "\n");
}

void tree_print(struct buffer *out, const GPtrArray *spans, const struct rows_style *style)
{
	struct drawing drawing = {
		.by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, node_free),
		.nodes = g_ptr_array_new(),
		.roots = g_ptr_array_new(),
		.rows = g_ptr_array_new_with_free_func(row_free),
		.start = INT64_MAX,
		.end = INT64_MIN,
	};

	for (guint i = 0; i < spans->len; i++)
		add_span(&drawing, g_ptr_array_index(spans, i));
	for (guint i = 0; i < drawing.nodes->len; i++)
		settle(&drawing, g_ptr_array_index(drawing.nodes, i));
	for (guint i = 0; i < drawing.nodes->len; i++)
		cut_loop(g_ptr_array_index(drawing.nodes, i), i + 1);
	lay_out(&drawing);
	for (guint i = 0; i < drawing.roots->len; i++)
		add_node(&drawing, g_ptr_array_index(drawing.roots, i), "", i + 1 == drawing.roots->len);
	put_header(out, &drawing, g_ptr_array_index(spans, 0), style);
	rows_put(out, drawing.rows, subtract_times(drawing.end, drawing.start), style);
	g_ptr_array_unref(drawing.rows);
	g_ptr_array_unref(drawing.roots);
	g_ptr_array_unref(drawing.nodes);
	g_hash_table_unref(drawing.by_id);
}
