/* SPDX-License-Identifier: BSD-2-Clause */
#include "forest.h"

struct trace_id {
	uint64_t high, low;
};

struct trace {
	struct trace_id id;
	GPtrArray *spans;
	size_t bytes;
	int64_t last; /* when its last span came */
	GList link;   /* in the forest's queue */
};

struct forest {
	struct forest_limits limits;
	void (*show)(void *data, const GPtrArray *spans);
	void *data;
	GHashTable *by_id; /* struct trace_id to struct trace, which it owns */
	GQueue quiet;      /* of struct trace, the one that has been quiet longest at the head */
	size_t bytes;
};

static guint hash_id(const void *key)
{
	const struct trace_id *id = key;
	uint64_t mixed = (id->low ^ id->high * 31) * UINT64_C(0x9e3779b97f4a7c15);

	return (guint)(mixed >> 32);
}

static gboolean equal_ids(const void *a, const void *b)
{
	const struct trace_id *left = a, *right = b;

	return left->low == right->low && left->high == right->high;
}

static void trace_free(void *data)
{
	struct trace *trace = data;

	g_ptr_array_unref(trace->spans);
	g_free(trace);
}

struct forest *forest_create(
	const struct forest_limits *limits, void (*show)(void *data, const GPtrArray *spans), void *data)
{
	struct forest *forest = g_new0(struct forest, 1);

	forest->limits = *limits;
	forest->show = show;
	forest->data = data;
	forest->by_id = g_hash_table_new_full(hash_id, equal_ids, NULL, trace_free);
	g_queue_init(&forest->quiet);
	return forest;
}

void forest_destroy(struct forest *forest)
{
	if (!forest)
		return;
	g_hash_table_unref(forest->by_id);
	g_free(forest);
}

static struct trace *head(struct forest *forest)
{
	return g_queue_peek_head(&forest->quiet);
}

static void show_head(struct forest *forest)
{
	struct trace *trace = head(forest);

	g_queue_unlink(&forest->quiet, &trace->link);
	forest->bytes -= trace->bytes;
	forest->show(forest->data, trace->spans);
	g_hash_table_remove(forest->by_id, &trace->id);
}

static struct trace *find_trace(struct forest *forest, const struct span2 *span)
{
	struct trace_id id = {.high = span->trace_id_high, .low = span->trace_id};
	struct trace *trace = g_hash_table_lookup(forest->by_id, &id);

	if (trace)
		return trace;
	trace = g_new0(struct trace, 1);
	trace->id = id;
	trace->spans = g_ptr_array_new_with_free_func(span2_free);
	trace->bytes = sizeof(*trace) + 128; /* the table's and the array's share */
	trace->link.data = trace;
	forest->bytes += trace->bytes;
	g_hash_table_insert(forest->by_id, &trace->id, trace);
	g_queue_push_tail_link(&forest->quiet, &trace->link);
	return trace;
}

void forest_take(struct forest *forest, struct span2 *span, int64_t now)
{
	struct trace *trace = find_trace(forest, span);
	size_t size = span2_size(span);

	trace->last = now;
	trace->bytes += size;
	forest->bytes += size;
	g_ptr_array_add(trace->spans, span);
	g_queue_unlink(&forest->quiet, &trace->link);
	g_queue_push_tail_link(&forest->quiet, &trace->link);
	while (head(forest) &&
		(forest->quiet.length > forest->limits.traces || forest->bytes > forest->limits.bytes))
		show_head(forest);
}

int64_t forest_show_quiet(struct forest *forest, int64_t now)
{
	while (head(forest) && now - head(forest)->last >= forest->limits.quiet)
		show_head(forest);
	return head(forest) ? forest->limits.quiet - (now - head(forest)->last) : -1;
}

void forest_show_all(struct forest *forest)
{
	while (head(forest))
		show_head(forest);
}
