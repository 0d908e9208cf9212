/* SPDX-License-Identifier: BSD-2-Clause */
#include "traces/pending_traces.h"

#include "queue/tracehash.h"

struct trace {
	struct trace_id id;
	GPtrArray *spans;
	size_t bytes;
	int64_t last; /* when its last span came */
	GList link;   /* in the traces's queue */
};

struct pending_traces {
	struct pending_limits limits;
	void (*show)(void *data, const GPtrArray *spans);
	void *data;
	GHashTable *by_id; /* struct trace_id to struct trace, which it owns */
	GQueue quiet;      /* of struct trace, the one that has been quiet longest at the head */
	size_t bytes;
};

static void trace_free(void *data)
{
	struct trace *trace = data;

	g_ptr_array_unref(trace->spans);
	g_free(trace);
}

struct pending_traces *pending_traces_create(
	const struct pending_limits *limits, void (*show)(void *data, const GPtrArray *spans), void *data)
{
	struct pending_traces *traces = g_new0(struct pending_traces, 1);

	traces->limits = *limits;
	traces->show = show;
	traces->data = data;
	traces->by_id = g_hash_table_new_full(tracehash, tracehash_equal, NULL, trace_free);
	g_queue_init(&traces->quiet);
	return traces;
}

void pending_traces_destroy(struct pending_traces *traces)
{
	if (!traces)
		return;
	g_hash_table_unref(traces->by_id);
	g_free(traces);
}

static struct trace *head(struct pending_traces *traces)
{
	return g_queue_peek_head(&traces->quiet);
}

static void show_head(struct pending_traces *traces)
{
	struct trace *trace = head(traces);

	g_queue_unlink(&traces->quiet, &trace->link);
	traces->bytes -= trace->bytes;
	traces->show(traces->data, trace->spans);
	g_hash_table_remove(traces->by_id, &trace->id);
}

static struct trace *find_trace(struct pending_traces *traces, const struct span2 *span)
{
	struct trace_id id = {.high = span->trace_id_high, .low = span->trace_id};
	struct trace *trace = g_hash_table_lookup(traces->by_id, &id);

	if (trace)
		return trace;
	trace = g_new0(struct trace, 1);
	trace->id = id;
	trace->spans = g_ptr_array_new_with_free_func(span2_free);
	trace->bytes = sizeof(*trace) + 128; /* the table's and the array's share */
	trace->link.data = trace;
	traces->bytes += trace->bytes;
	g_hash_table_insert(traces->by_id, &trace->id, trace);
	g_queue_push_tail_link(&traces->quiet, &trace->link);
	return trace;
}

void pending_traces_add(struct pending_traces *traces, struct span2 *span, int64_t now)
{
	struct trace *trace = find_trace(traces, span);
	size_t size = span2_size(span);

	trace->last = now;
	trace->bytes += size;
	traces->bytes += size;
	g_ptr_array_add(trace->spans, span);
	g_queue_unlink(&traces->quiet, &trace->link);
	g_queue_push_tail_link(&traces->quiet, &trace->link);
	while (head(traces) &&
		(traces->quiet.length > traces->limits.traces || traces->bytes > traces->limits.bytes))
		show_head(traces);
}

int64_t pending_traces_show_quiet(struct pending_traces *traces, int64_t now)
{
	while (head(traces) && now - head(traces)->last >= traces->limits.quiet)
		show_head(traces);
	return head(traces) ? traces->limits.quiet - (now - head(traces)->last) : -1;
}

void pending_traces_show_all(struct pending_traces *traces)
{
	while (head(traces))
		show_head(traces);
}
