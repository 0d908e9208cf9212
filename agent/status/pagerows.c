/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pagerows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/chart.h"
#include "status/html.h"
#include "status/pagetrace.h"

#define COLUMNS 10

static const struct column {
	enum view_key key;
	const char *title, *says; /* what it says to those who hear it, if that is not the title */
	const char *style;
} columns[] = {
	{VIEW_STATE, "State", NULL, "state"},
	{VIEW_SERVICE, "Service", NULL, "text"},
	{VIEW_SPAN, "Span", NULL, "text"},
	{VIEW_RATE, "Rate /s", "Spans a second", "number"},
	{VIEW_MEAN, "Mean", NULL, "number"},
	{VIEW_P50, "p50", "Median", "number wide"},
	{VIEW_P99, "p99", "99th percentile", "number"},
	{VIEW_MAX, "Max", "Maximum", "number wide"},
	{VIEW_ERRORS, "Errors", NULL, "number"},
};

/* The address of the page with something changed. */
static void put_link(struct buffer *out, const struct view *changed)
{
	html_put(out, "href=\"");
	view_put(out, changed);
	html_put(out, "\"");
}

/* What is shown */

static void put_windows(struct buffer *out, const struct view *view)
{
	static const char *const titles[] = {"1 minute", "10 minutes", "60 minutes", "since the start"};

	html_put(out, "<ul class=\"windows\" aria-label=\"Time\">");
	for (unsigned i = 0; i <= WINDOW_ALL; i++) {
		struct view other = *view;

		other.window = i;
		html_put(out, "<li><a ");
		put_link(out, &other);
		buffer_printf(out, " id=\"window-%s\"%s>%s</a></li>", view_window_name(i),
			i == view->window ? " aria-current=\"true\"" : "", titles[i]);
	}
	html_put(out, "</ul>");
}

static void put_filter(struct buffer *out, const struct view *view)
{
	html_put(out, "<form id=\"search\" action=\"/\" role=\"search\"><label for=\"filter\">Filter</label>"
		      "<input id=\"filter\" name=\"filter\" type=\"search\" autocomplete=\"off\" "
		      "spellcheck=\"false\" value=\"");
	html_text(out, view->filter);
	buffer_printf(out, "\"><input type=\"hidden\" name=\"minutes\" value=\"%s\">",
		view_window_name(view->window));
	buffer_printf(out, "<input type=\"hidden\" name=\"sort\" value=\"%s\">", view_keys[view->key]);
	if (view->reverse)
		html_put(out, "<input type=\"hidden\" name=\"reverse\" value=\"1\">");
	html_put(out, "</form>");
}

/* How long the window really is, if it is not what its name says. */
static void put_age(struct buffer *out, const struct view *view, const struct monitor *monitor)
{
	static const int64_t minutes[] = {1, 10, 60};
	int64_t age = monitor_age(monitor, view->window);
	char text[HUMAN_MAX];

	if (view->window != WINDOW_ALL && age >= minutes[view->window] * 60 * NS_PER_SECOND)
		return;
	html_put(out, ", of the last ");
	html_put(out, human_time(text, MAX(age - age % NS_PER_SECOND, NS_PER_SECOND)));
}

static void put_found(struct buffer *out, const struct view *view, const struct monitor *monitor,
	const GArray *rows, uint32_t total)
{
	unsigned shown = MIN(rows->len, view->rows);

	html_put(out, "<p class=\"found\">");
	if (!total) {
		html_put(out, "There were no spans.</p>");
		return;
	}
	if (shown < rows->len) {
		html_put(out, "The first ");
		html_count(out, shown);
		html_put(out, " of ");
	}
	html_count(out, rows->len);
	html_put(out, rows->len == 1 ? " row" : " rows");
	if (rows->len < total) {
		html_put(out, " of ");
		html_count(out, total);
		html_put(out, " match");
	}
	put_age(out, view, monitor);
	html_put(out, ".</p>");
}

/* The table */

static void put_head(struct buffer *out, const struct view *view)
{
	html_put(out, "<thead><tr>");
	for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
		const struct column *column = &columns[i];
		bool sorted = column->key == view->key,
		     ascends = (column->key == VIEW_SERVICE || column->key == VIEW_SPAN) != view->reverse;
		struct view other = *view;

		other.key = column->key;
		other.reverse = sorted && !view->reverse;
		buffer_printf(out, "<th scope=\"col\" class=\"%s\"", column->style);
		if (sorted)
			buffer_printf(out, " aria-sort=\"%s\"", ascends ? "ascending" : "descending");
		html_put(out, "><a ");
		put_link(out, &other);
		buffer_printf(out, " id=\"sort-%s\"", view_keys[column->key]);
		if (column->says)
			buffer_printf(out, " title=\"%s\"", column->says);
		buffer_printf(out, ">%s</a></th>", column->title);
	}
	html_put(out, "<th scope=\"col\" class=\"wide\">Rate and p99</th></tr></thead>");
}

static bool is_open(const struct view *view, const struct view_row *row)
{
	return row->span && view->service && view->span && !strcmp(view->service, row->service) &&
	       !strcmp(view->span, row->span);
}

static void put_span(struct buffer *out, const struct view *view, const struct view_row *row)
{
	struct view other = *view;
	bool open = is_open(view, row);

	html_put(out, "<th scope=\"row\" class=\"text\">");
	if (!row->span) {
		html_put(out, "<i>names for which there is no room</i></th>");
		return;
	}
	other.service = open ? NULL : (char *)row->service;
	other.span = open ? NULL : (char *)row->span;
	html_put(out, "<a ");
	put_link(out, &other);
	buffer_printf(out, " id=\"span-%u\" aria-expanded=\"%s\">", row->number, open ? "true" : "false");
	html_name(out, row->span, "no name");
	html_put(out, "</a></th>");
}

static void put_state(struct buffer *out, const struct view_row *row)
{
	html_put(out, "<td class=\"state\">");
	if (!row->limited)
		html_put(out, "<span class=\"none word\">no limit</span></td>");
	else if (row->exceeded)
		html_put(out, "<span class=\"mark\" aria-hidden=\"true\">▲</span> <span "
			      "class=\"word\">above</span></td>");
	else
		html_put(out, "<span class=\"mark\" aria-hidden=\"true\">✓</span> <span "
			      "class=\"word\">below</span></td>");
}

/* @rough: it is not known any better. @above: this is what is above its limit. */
static void put_time(struct buffer *out, double us, bool rough, bool above, const char *style)
{
	buffer_printf(out, "<td class=\"%s\">%s%s", style, above ? "<strong>" : "", rough ? "≈ " : "");
	html_time(out, us);
	buffer_printf(out, "%s</td>", above ? "</strong>" : "");
}

static void put_errors(struct buffer *out, const struct view_row *row)
{
	double share = 100 * (double)row->figures.errors / (double)row->figures.count;
	bool above = row->exceeded & 1u << LIMIT_ERRORS;

	html_put(out, above ? "<td class=\"number\"><strong>" : "<td class=\"number\">");
	html_count(out, row->figures.errors);
	if (row->figures.errors)
		buffer_printf(out,
			share < 0.1 ? " <small>(&lt; 0.1 %%)</small>" : " <small>(%.1f %%)</small>", share);
	html_put(out, above ? "</strong></td>" : "</td>");
}

static void put_figures(struct buffer *out, const struct view_row *row)
{
	const struct figures *is = &row->figures;

	html_put(out, "<td class=\"number\">");
	html_rate(out, is->rate);
	html_put(out, "</td>");
	put_time(out, is->mean, false, row->exceeded & 1u << LIMIT_MEAN, "number");
	put_time(out, is->p50, is->rough, false, "number wide");
	put_time(out, is->p99, is->rough, row->exceeded & 1u << LIMIT_P99, "number");
	put_time(out, is->max, false, false, "number wide");
	put_errors(out, row);
}

static void put_row(struct buffer *out, const struct view *view, const struct monitor *monitor,
	const struct view_row *row)
{
	bool minutes = view->window >= WINDOW_60;

	buffer_printf(out, "<tr id=\"row-%u\" class=\"%s\">", row->number,
		!row->limited   ? "plain"
		: row->exceeded ? "above"
				: "below");
	put_state(out, row);
	html_put(out, "<td class=\"text\">");
	html_name(out, row->service, row->span ? "no service" : "other");
	html_put(out, "</td>");
	put_span(out, view, row);
	put_figures(out, row);
	html_put(out, "<td class=\"wide\">");
	chart_trend(out, monitor_trend(monitor, minutes), row->number, minutes ? 60 : WINDOWS_TICK_SECONDS);
	html_put(out, "</td></tr>");
}

/* One series */

static void put_limit(struct buffer *out, int which, double limit)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	buffer_printf(out, "<li>%s: ", limit_names[which]);
	if (which == LIMIT_ERRORS)
		buffer_printf(out, "%s %%", g_ascii_formatd(digits, sizeof(digits), "%g", 100 * limit));
	else
		html_time(out, limit / 1e3);
	html_put(out, "</li>");
}

static void put_limits(struct buffer *out, const struct limits *limits)
{
	if (!limits)
		return;
	html_put(out, "<h3>Limits</h3><ul>");
	for (int i = 0; i < LIMITS; i++)
		if (limits->of[i] >= 0)
			put_limit(out, i, limits->of[i]);
	html_put(out, "</ul>");
}

static void put_open(struct buffer *out, const struct view *view, struct monitor *monitor,
	const struct view_row *row, const struct config *config)
{
	const struct series *series = monitor_series(monitor, view->window, row->number);

	buffer_printf(out, "<tr id=\"open-%u\" class=\"open\"><td colspan=\"%d\"><div class=\"detail\"><div>",
		row->number, COLUMNS);
	if (series)
		chart_histogram(out, &series->histogram, monitor_limits(monitor, row->number));
	if (series && !series->fine)
		html_put(out, "<p>There are too many names for a finer histogram: some durations are known "
			      "to a factor of 3 only.</p>");
	html_put(out, "</div><div>");
	put_limits(out, monitor_limits(monitor, row->number));
	pagetrace_write(out, monitor, row->number, config);
	html_put(out, "</div></div></td></tr>");
}

static void put_more(struct buffer *out, const struct view *view, const GArray *rows)
{
	struct view all = *view;

	if (rows->len <= view->rows)
		return;
	all.rows = STATISTICS_SERIES_MAX + 1;
	html_put(out, "<p><a ");
	put_link(out, &all);
	html_put(out, " id=\"all\">Show all rows</a></p>");
}

void pagerows_write(
	struct buffer *out, const struct view *view, struct monitor *monitor, const struct config *config)
{
	uint32_t total;
	g_autoptr(GArray) rows = view_select(view, monitor, &total);

	html_put(out, "<section aria-labelledby=\"spans\"><h2 id=\"spans\">Spans</h2><div class=\"tools\">");
	put_windows(out, view);
	put_filter(out, view);
	html_put(out, "</div>");
	put_found(out, view, monitor, rows, total);
	html_put(out, "<table class=\"spans\"><caption>Spans by service and name</caption>");
	put_head(out, view);
	html_put(out, "<tbody>");
	for (guint i = 0; i < MIN(rows->len, view->rows); i++) {
		const struct view_row *row = &g_array_index(rows, struct view_row, i);

		put_row(out, view, monitor, row);
		if (is_open(view, row))
			put_open(out, view, monitor, row, config);
	}
	html_put(out, "</tbody></table>");
	put_more(out, view, rows);
	html_put(out, "</section>");
}
