/* SPDX-License-Identifier: BSD-2-Clause */
#include "traces/trace_fold.h"

#include <string.h>

#include "printable.h"

/* The depth of what is drawn is bounded, and so is that of the calls. */
static void add(const struct trace_node *node, struct trace_sum *sum)
{
	sum->spans++;
	sum->errors += trace_failed(node);
	for (guint i = 0; i < node->halves->len; i++) {
		const struct span2 *half = g_ptr_array_index(node->halves, i);

		sum->longest = MAX(sum->longest, half->duration);
	}
	for (guint i = 0; i < node->children->len; i++)
		add(g_ptr_array_index(node->children, i), sum);
}

bool trace_fold(const struct trace_folding *folding, const struct trace_node *node, struct trace_sum *sum)
{
	bool too_deep =
		folding->depth && (node->depth >= folding->depth || node->place == TRACE_PARENT_ABOVE);
	bool may_be = node->depth || node->place == TRACE_PARENT_ABOVE;
	struct trace_sum its = {0};

	if (!too_deep && (!folding->min_duration || !may_be))
		return false;
	add(node, &its);
	if (!too_deep && its.longest >= folding->min_duration)
		return false;
	sum->spans += its.spans;
	sum->errors += its.errors;
	sum->longest = MAX(sum->longest, its.longest);
	return true;
}

char *trace_fold_text(const struct trace_sum *sum)
{
	struct buffer out = {0};

	buffer_printf(&out, "… %u span%s folded", sum->spans, sum->spans == 1 ? "" : "s");
	if (sum->longest) {
		buffer_printf(&out, ", up to ");
		printable_put_time(&out, sum->longest);
	}
	if (sum->errors)
		buffer_printf(&out, ", ✗ %u error%s", sum->errors, sum->errors == 1 ? "" : "s");
	buffer_put(&out, "", 1);
	return (char *)out.data;
}
