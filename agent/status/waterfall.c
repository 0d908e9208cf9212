/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/waterfall.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "status/answerbar.h"
#include "status/answertable.h"
#include "status/html.h"
#include "status/pagetrace.h"
#include "status/spandetails.h"
#include "status/trace/tree.h"

/* Rows shown. */
#define ROWS_MAX 1000
/* Services that have a colour of their own. */
#define COLOURS 6
/* A bar's scale, and what can be seen of it at least. */
#define WIDTH 1000.0
#define HEIGHT 16
#define THIN 3.0

struct waterfall {
	struct buffer *out;
	const struct answer *answer;
	struct trace_tree tree;
	GHashTable *services; /* each one's number, plus 1 */
	unsigned rows, left_out, orphans;
};

/* Times come from programs and may be anything: as numbers that do not overflow. */
static double offset_of(const struct waterfall *waterfall, int64_t time)
{
	return (double)time - (double)waterfall->tree.start;
}

static double total_of(const struct waterfall *waterfall)
{
	const struct trace_tree *tree = &waterfall->tree;

	return tree->end > tree->start ? (double)tree->end - (double)tree->start : 0;
}

/* Where in a bar's place a time is. */
static double place_of(const struct waterfall *waterfall, int64_t time)
{
	double total = total_of(waterfall);

	return total > 0 ? CLAMP(offset_of(waterfall, time) / total, 0, 1) * WIDTH : 0;
}

/* A row */

static unsigned colour_of(const struct waterfall *waterfall, const struct span2 *span)
{
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(waterfall->services, trace_service(span)));

	return number ? (number - 1) % COLOURS : 0;
}

static void put_mark(const struct waterfall *waterfall, const struct span2_annotation *annotation)
{
	html_put(waterfall->out, "<rect class=\"tick\" y=\"0\" width=\"2\" height=\"16\"");
	answerbar_number(waterfall->out, "x", MIN(place_of(waterfall, annotation->timestamp), WIDTH - 2));
	html_put(waterfall->out, "/>");
}

/* From where to where it is. */
static double begin_of(const struct waterfall *waterfall, const struct span2 *span, double *width)
{
	double whole = total_of(waterfall);

	*width = whole > 0 ? MIN((double)span->duration / whole, 1) * WIDTH : WIDTH;
	*width = MAX(*width, THIN);
	return MIN(place_of(waterfall, span->timestamp), WIDTH - *width);
}

static void put_bar(
	const struct waterfall *waterfall, const struct span2 *span, const struct answer_span *answer)
{
	double width, from = begin_of(waterfall, span, &width);

	buffer_printf(waterfall->out,
		"<svg viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">", HEIGHT);
	if (span->timestamp) {
		buffer_printf(waterfall->out, "<rect class=\"of%u%s\" y=\"3\" height=\"10\"",
			colour_of(waterfall, span), span->duration ? "" : " open");
		answerbar_number(waterfall->out, "x", from);
		answerbar_number(waterfall->out, "width", width);
		html_put(waterfall->out, "/>");
	}
	for (guint i = 0; i < MIN(span->annotations->len, SPANDETAILS_LINES); i++)
		put_mark(waterfall, &g_array_index(span->annotations, struct span2_annotation, i));
	html_put(waterfall->out, "</svg>");
	if (answer)
		answerbar_write(waterfall->out, answer, WIDTH, from, width);
}

static void put_remark(struct buffer *out, const struct trace_node *node)
{
	static const char *const remarks[] = {
		[TRACE_PARENT_MISSING] = "its parent is not here",
		[TRACE_PARENT_BELOW] = "its parent is below",
		[TRACE_PARENT_ABOVE] = "its parent is above, too deep to draw",
	};

	if (node->place >= TRACE_PARENT_MISSING)
		buffer_printf(out, " <small>%s</small>", remarks[node->place]);
}

static void put_title(const struct waterfall *waterfall, const struct trace_node *node,
	const struct span2 *span, bool first)
{
	struct buffer *out = waterfall->out;
	bool failed = trace_half_failed(span);

	html_put(out, "<th scope=\"row\" class=\"text\"><div class=\"branch\">");
	for (unsigned i = 0; i < node->depth + !first; i++)
		html_put(out, "<span class=\"step\"></span>");
	html_put(out, "<details><summary>");
	if (failed)
		html_put(out, "<span class=\"mark\" aria-hidden=\"true\">✗</span> ");
	html_short_name(out, span->name, "no name");
	if (failed)
		html_put(out, " <small>failed</small>");
	if (first)
		put_remark(out, node);
	html_put(out, "</summary>");
	spandetails_write(out, span, waterfall->tree.start);
	html_put(out, "</details></div></th>");
}

static void put_row(
	struct waterfall *waterfall, const struct trace_node *node, const struct span2 *span, bool first)
{
	const struct answer_span *answer = answer_about(waterfall->answer, span->id, span->kind);
	struct buffer *out = waterfall->out;

	if (waterfall->rows >= ROWS_MAX) {
		waterfall->left_out++;
		return;
	}
	waterfall->rows++;
	html_put(out, trace_half_failed(span) ? "<tr class=\"bad\">" : "<tr>");
	put_title(waterfall, node, span, first);
	buffer_printf(out, "<td class=\"text\"><span class=\"dot of%u\" aria-hidden=\"true\"></span>",
		colour_of(waterfall, span));
	html_short_name(out, trace_service(span), "no service");
	if (span->kind)
		buffer_printf(out, " <small>%s</small>", span2_kind_name(span->kind));
	html_put(out, "</td><td class=\"number wide\">+");
	html_time(out, span->timestamp ? offset_of(waterfall, span->timestamp) : (double)NAN);
	html_put(out, "</td><td class=\"number\">");
	html_time(out, span->duration ? (double)span->duration : (double)NAN);
	html_put(out, "</td><td class=\"bar\">");
	put_bar(waterfall, span, answer);
	html_put(out, "</td></tr>");
}

/* The tree's depth is bounded. */
static void put_node(struct waterfall *waterfall, const struct trace_node *node)
{
	waterfall->orphans += node->place == TRACE_PARENT_MISSING;
	for (guint i = 0; i < node->halves->len; i++)
		put_row(waterfall, node, g_ptr_array_index(node->halves, i), i == 0);
	for (guint i = 0; i < node->children->len; i++)
		put_node(waterfall, g_ptr_array_index(node->children, i));
}

/* Around the rows */

static void count_service(GHashTable *services, const struct span2 *span)
{
	const char *service = trace_service(span);

	if (!g_hash_table_contains(services, service))
		g_hash_table_insert(
			services, (char *)service, GUINT_TO_POINTER(g_hash_table_size(services) + 1));
}

static void count_services(GHashTable *services, const struct trace_node *node)
{
	for (guint i = 0; i < node->halves->len; i++)
		count_service(services, g_ptr_array_index(node->halves, i));
	for (guint i = 0; i < node->children->len; i++)
		count_services(services, g_ptr_array_index(node->children, i));
}

static void put_sum(const struct waterfall *waterfall)
{
	const struct trace_tree *tree = &waterfall->tree;
	unsigned errors = trace_errors(tree), services = g_hash_table_size(waterfall->services);
	struct buffer *out = waterfall->out;

	html_put(out, "<p>");
	html_count(out, tree->nodes->len);
	html_put(out, tree->nodes->len == 1 ? " span of " : " spans of ");
	html_count(out, services);
	html_put(out, services == 1 ? " service" : " services");
	if (errors) {
		html_put(out, ", <strong class=\"bad\">");
		html_count(out, errors);
		html_put(out, " failed</strong>");
	}
	if (total_of(waterfall) > 0) {
		html_put(out, ", ");
		html_time(out, total_of(waterfall));
	}
	if (tree->start <= tree->end) {
		g_autoptr(GDateTime) start = g_date_time_new_from_unix_utc(tree->start / 1000000);
		g_autofree char *text = start ? g_date_time_format(start, "%F %T") : NULL;

		if (text)
			buffer_printf(out, ", from %s.%06d UTC", text, (int)(tree->start % 1000000));
	}
	html_put(out, "</p>");
}

/* What is not there, and why. */
static void put_gaps(const struct waterfall *waterfall, const struct found_trace *found)
{
	struct buffer *out = waterfall->out;

	if (waterfall->orphans)
		html_put(out, "<p>Spans are missing: they are of another node, or they did not come yet, or "
			      "came too long before the late one.</p>");
	if (found->missed) {
		html_put(out, "<p>");
		html_count(out, found->missed);
		html_put(out,
			" more of its spans came than are kept, or looked at: <code>page-traces</code> in "
			"[agent] is the memory for them.</p>");
	}
	if (waterfall->left_out) {
		html_put(out, "<p>");
		html_count(out, waterfall->left_out);
		buffer_printf(out,
			" more are not shown; <a href=\"" TRACE_JSON_PATH "?id=%s\">the JSON</a> has them "
			"all.</p>",
			found->id);
	}
}

static void put_scale(const struct waterfall *waterfall)
{
	html_put(waterfall->out, "<span class=\"scale\">");
	for (int i = 0; i <= 4; i++) {
		html_put(waterfall->out, "<span>");
		html_time(waterfall->out, total_of(waterfall) * i / 4);
		html_put(waterfall->out, "</span>");
	}
	html_put(waterfall->out, "</span>");
}

static void put_table(struct waterfall *waterfall)
{
	struct buffer *out = waterfall->out;

	buffer_printf(out, "<table class=\"trace%s\">", waterfall->answer->spans->len ? " told" : "");
	html_put(out, "<caption>The trace's spans</caption><thead><tr>"
		      "<th scope=\"col\">Span</th><th scope=\"col\">Service</th>"
		      "<th scope=\"col\" class=\"number wide\">Start</th>"
		      "<th scope=\"col\" class=\"number\">Duration</th>"
		      "<th scope=\"col\" class=\"bar\" title=\"Time\">");
	put_scale(waterfall);
	html_put(out, "</th></tr></thead><tbody>");
	for (guint i = 0; i < waterfall->tree.roots->len; i++)
		put_node(waterfall, g_ptr_array_index(waterfall->tree.roots, i));
	html_put(out, "</tbody></table>");
}

static void put_links(struct buffer *out, const struct found_trace *found, const char *ui)
{
	g_autofree char *elsewhere = pagetrace_address(ui, found->id);

	buffer_printf(out, "<p><a href=\"/\">All spans</a>");
	if (*elsewhere) {
		html_put(out, " · <a rel=\"noreferrer\" href=\"");
		html_text(out, elsewhere);
		html_put(out, "\">This trace where all nodes' spans go</a>");
	}
	if (found->spans->len)
		buffer_printf(out, " · <a href=\"" TRACE_JSON_PATH "?id=%s\">JSON</a>", found->id);
	if (found->answer.spans->len)
		buffer_printf(out, " · <a href=\"" TRACE_WHY_PATH "?id=%s\">JSON of where the time went</a>",
			found->id);
	html_put(out, "</p>");
}

static void put_trace(struct waterfall *waterfall, const struct found_trace *found)
{
	trace_tree_make(&waterfall->tree, found->spans);
	waterfall->services = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < waterfall->tree.roots->len; i++)
		count_services(waterfall->services, g_ptr_array_index(waterfall->tree.roots, i));
	put_sum(waterfall);
	if (found->answer.spans->len)
		answerbar_begin(waterfall->out);
	put_table(waterfall);
	put_gaps(waterfall, found);
	g_hash_table_unref(waterfall->services);
	trace_tree_free(&waterfall->tree);
}

void waterfall_write(struct buffer *out, const struct found_trace *found, const struct config *config)
{
	struct waterfall waterfall = {.out = out, .answer = &found->answer};

	buffer_printf(out, "<h2>Trace <code>%s</code></h2>", found->id);
	put_links(out, found, config->ui);
	if (found->spans->len)
		put_trace(&waterfall, found);
	else
		html_put(out, "<p>No span of this trace is here: the agent keeps those of late and failed "
			      "traces that the page lists, and all others for a moment.</p>");
	answertable_remarks(out, &found->answer, found->id, config);
}
