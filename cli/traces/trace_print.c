/* SPDX-License-Identifier: BSD-2-Clause */
#include "traces/trace_print.h"

#include <inttypes.h>
#include <string.h>

#include "look/row.h"
#include "printable.h"
#include "status/trace/tree.h"
#include "traces/trace_fold.h"

/* Bytes shown of a name, and of an annotation or tag. */
#define NAME_MAX_SHOWN 120
#define VALUE_MAX_SHOWN 1000
/* Services named in the header. */
#define SERVICES_SHOWN 8

struct drawing {
	struct trace_tree tree;
	GPtrArray *lines; /* of struct trace_line, owned */
	const struct trace_folding *folding;
};

static char *time_text(const char *sign, int64_t us)
{
	struct buffer out = {0};

	if (us >= 0 && *sign)
		buffer_put(&out, sign, strlen(sign));
	printable_put_time(&out, us);
	buffer_put(&out, "", 1);
	return (char *)out.data;
}

static char *remark_of(const struct trace_node *node)
{
	switch (node->place) {
	case TRACE_PARENT_MISSING:
		return g_strdup_printf("(parent %016" PRIx64 " missing)", node->parent_id);
	case TRACE_PARENT_BELOW:
		return g_strdup_printf("(parent %016" PRIx64 " is below)", node->parent_id);
	case TRACE_PARENT_ABOVE:
		return g_strdup_printf("(parent %016" PRIx64 " is above, too deep to draw)", node->parent_id);
	default:
		return NULL;
	}
}

static struct trace_line *add_line(
	struct drawing *drawing, const char *prefix, const char *branch, char *name)
{
	struct trace_line *line = g_new0(struct trace_line, 1);

	line->prefix = g_strconcat(prefix, branch, NULL);
	line->name = name;
	g_ptr_array_add(drawing->lines, line);
	return line;
}

static void add_span_line(
	struct drawing *drawing, const char *prefix, const char *branch, const struct span2 *span)
{
	const char *name = span->name ? span->name : "(no name)", *service = trace_service(span);
	g_autofree char *shown = printable_copy(name, strlen(name), NAME_MAX_SHOWN);
	bool error = trace_half_failed(span);
	struct trace_line *line =
		add_line(drawing, prefix, branch, g_strconcat(error ? "✗ " : "", shown, NULL));

	line->error = error;
	line->service = printable_copy(service, strlen(service), NAME_MAX_SHOWN);
	line->kind = span2_kind_name(span->kind);
	line->start = time_difference(span->timestamp, drawing->tree.start);
	line->length = span->timestamp ? span->duration : -1;
	line->offset = span->timestamp ? time_text("+", line->start) : g_strdup("-");
	line->duration = span->duration ? time_text("", span->duration) : g_strdup("-");
}

static void add_details(
	struct drawing *drawing, const char *prefix, const char *branch, const struct span2 *span)
{
	for (guint i = 0; i < span->annotations->len; i++) {
		const struct span2_annotation *annotation =
			&g_array_index(span->annotations, struct span2_annotation, i);
		char *when = time_text("+", time_difference(annotation->timestamp, drawing->tree.start));
		char *what = printable_copy(annotation->value, strlen(annotation->value), VALUE_MAX_SHOWN);

		add_line(drawing, prefix, branch, g_strdup_printf("%s %s", when, what))->detail = true;
		g_free(when);
		g_free(what);
	}
	for (guint i = 0; i < span->tags->len; i++) {
		const struct span2_tag *tag = &g_array_index(span->tags, struct span2_tag, i);
		g_autofree char *key = printable_copy(tag->key, strlen(tag->key), NAME_MAX_SHOWN);
		g_autofree char *value = printable_copy(tag->value, tag->value_size, VALUE_MAX_SHOWN);
		struct trace_line *line;

		if (span2_is_added(span, tag))
			continue;
		line = add_line(drawing, prefix, branch, g_strdup_printf("%s = %s", key, value));
		line->detail = true;
		line->error = !strcmp(tag->key, "error");
	}
}

static void add_node(struct drawing *drawing, const struct trace_node *node, const char *prefix, bool last);

/* Adds the nodes, in their order, and behind them a line for those that are folded. */
static void add_nodes(struct drawing *drawing, const GPtrArray *nodes, const char *prefix)
{
	g_autoptr(GPtrArray) shown = g_ptr_array_new();
	struct trace_sum folded = {0};
	struct trace_line *line;

	for (guint i = 0; i < nodes->len; i++)
		if (!trace_fold(drawing->folding, g_ptr_array_index(nodes, i), &folded))
			g_ptr_array_add(shown, g_ptr_array_index(nodes, i));
	for (guint i = 0; i < shown->len; i++)
		add_node(drawing, g_ptr_array_index(shown, i), prefix, i + 1 == shown->len && !folded.spans);
	if (!folded.spans)
		return;
	line = add_line(drawing, prefix, "└─ ", trace_fold_text(&folded));
	line->detail = true;
	line->error = folded.errors > 0;
}

/* @prefix: the lines of the trees above that go on. */
static void add_node(struct drawing *drawing, const struct trace_node *node, const char *prefix, bool last)
{
	g_autofree char *below = g_strconcat(prefix, last ? "   " : "│  ", NULL);
	const char *branch = node->children->len ? "│    " : "     ";
	guint first_line = drawing->lines->len;

	for (guint i = 0; i < node->halves->len; i++) {
		const struct span2 *half = g_ptr_array_index(node->halves, i);

		if (i == 0)
			add_span_line(drawing, prefix, last ? "└─ " : "├─ ", half);
		else
			add_span_line(drawing, below, "", half);
		add_details(drawing, below, branch, half);
	}
	((struct trace_line *)g_ptr_array_index(drawing->lines, first_line))->remark = remark_of(node);
	add_nodes(drawing, node->children, below);
}

/* The services in the order of their first lines, each once. */
static void put_services(struct buffer *out, const struct drawing *drawing)
{
	GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
	guint count;

	for (guint i = 0; i < drawing->lines->len; i++) {
		const struct trace_line *line = g_ptr_array_index(drawing->lines, i);

		if (line->detail || !*line->service || !g_hash_table_add(seen, line->service))
			continue;
		count = g_hash_table_size(seen);
		if (count <= SERVICES_SHOWN)
			buffer_printf(out, "%s%s", count == 1 ? "  " : ", ", line->service);
	}
	count = g_hash_table_size(seen);
	if (count > SERVICES_SHOWN)
		buffer_printf(out, " and %u more", count - SERVICES_SHOWN);
	g_hash_table_unref(seen);
}

static void put_header(struct buffer *out, const struct drawing *drawing, const struct span2 *span,
	const struct trace_style *style)
{
	guint count = drawing->tree.nodes->len, errors = trace_errors(&drawing->tree);
	struct row row = row_begin(out, style);
	struct buffer rest = {0};
	char id[48], text[48];

	if (span->trace_id_high)
		g_snprintf(id, sizeof(id), "trace %016" PRIx64 "%016" PRIx64, span->trace_id_high,
			span->trace_id);
	else
		g_snprintf(id, sizeof(id), "trace %016" PRIx64, span->trace_id);
	row_put(&row, "1", id, 0);
	g_snprintf(text, sizeof(text), "  %u span%s", count, count == 1 ? "" : "s");
	row_put(&row, NULL, text, 0);
	if (errors) {
		g_snprintf(text, sizeof(text), "  ✗ %u error%s", errors, errors == 1 ? "" : "s");
		row_put(&row, "1;31", text, 0);
	}
	if (drawing->tree.end > drawing->tree.start) {
		buffer_printf(&rest, "  ");
		printable_put_time(&rest, time_difference(drawing->tree.end, drawing->tree.start));
	}
	put_services(&rest, drawing);
	buffer_put(&rest, "", 1);
	row_put(&row, NULL, (const char *)rest.data, 0);
	buffer_printf(out, "\n");
	buffer_free(&rest);
}

void trace_print(struct buffer *out, const GPtrArray *spans, const struct trace_style *style)
{
	struct drawing drawing = {
		.lines = g_ptr_array_new_with_free_func(trace_line_free), .folding = &style->folding};

	trace_tree_make(&drawing.tree, spans);
	add_nodes(&drawing, drawing.tree.roots, "");
	put_header(out, &drawing, g_ptr_array_index(spans, 0), style);
	trace_lines_put(out, drawing.lines, time_difference(drawing.tree.end, drawing.tree.start), style);
	g_ptr_array_unref(drawing.lines);
	trace_tree_free(&drawing.tree);
}
