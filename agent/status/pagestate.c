/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pagestate.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/doctor.h"
#include "status/html.h"
#include "status/lossrows.h"
#include "status/serverstate.h"

/* What to do */

static void put_finding(struct buffer *out, const struct finding *finding)
{
	html_put(out, "<li><strong>");
	html_text(out, finding->what);
	html_put(out, "</strong><span class=\"fix\">");
	html_text(out, finding->fix);
	html_put(out, "</span></li>");
}

static void put_advice(
	struct buffer *out, const struct status *status, const struct findings *findings, bool above)
{
	if (!findings->count && !above && status_is_well(status))
		html_put(out,
			"<p class=\"good\"><span class=\"mark\" aria-hidden=\"true\">✓</span> Nothing to "
			"do: all is as it should be.</p>");
	else if (!findings->count)
		html_put(out, above ? "<p>The agent itself needs nothing.</p>" : "<p>Nothing to do yet.</p>");
	if (!findings->count)
		return;
	html_put(out, "<ul class=\"advice\">");
	for (size_t i = 0; i < findings->count; i++)
		put_finding(out, &findings->list[i]);
	html_put(out, "</ul>");
}

/* Losses */

static void put_lost(void *data, const struct lossrow *row)
{
	struct buffer *out = data;
	int64_t ago = clock_monotonic() - row->at;
	char text[HUMAN_MAX];

	html_put(out, "<li><strong>");
	html_count(out, (uint64_t)row->amount);
	buffer_printf(out, "</strong> %s%s%s <small>(", row->output, *row->output ? ": " : "", row->words);
	if (row->at)
		buffer_printf(
			out, "the last %s ago)</small></li>", human_time(text, ago - ago % NS_PER_SECOND));
	else
		html_put(out, "before the agent started)</small></li>");
}

static void put_losses(struct buffer *out, const struct status *status)
{
	int64_t known = status->acknowledged.at;
	char since[HUMAN_MAX];
	struct buffer rows = {0};

	lossrows_each(status, put_lost, &rows);
	html_put(out, "<section aria-labelledby=\"lost\"><h2 id=\"lost\">Lost");
	if (known)
		buffer_printf(out, " since %s", human_moment(since, known));
	html_put(out, rows.size ? "</h2><ul class=\"lost\">" : "</h2><p>Nothing was lost.</p>");
	buffer_put(out, rows.data, rows.size);
	html_put(out, rows.size ? "</ul></section>" : "</section>");
	buffer_free(&rows);
}

/* Outputs */

static void put_number(struct buffer *out, int64_t number)
{
	html_put(out, "<td class=\"number\">");
	html_count(out, (uint64_t)MAX(number, 0));
	html_put(out, "</td>");
}

/* An error is told once: here, unless it stands above with what to do about it. */
static bool is_told(const struct findings *findings, const char *error)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strstr(findings->list[i].what, error))
			return true;
	return false;
}

static void put_output(
	struct buffer *out, const struct output_state *output, bool leaves, const struct findings *findings)
{
	const int64_t *row = output->account.row;
	enum server_state state = server_state_of(&output->uplink);
	static const struct {
		const char *row, *mark, *words;
	} said[] = {[SERVER_STATE_DOWN] = {"above", "▲", "does not"},
		[SERVER_STATE_UNTRIED] = {"", "·", "connected, nothing sent there yet"},
		[SERVER_STATE_DELIVERS] = {"below", "✓", "delivers"}};

	buffer_printf(out,
		"<tr class=\"%s\"><td class=\"state\"><span class=\"mark\" aria-hidden=\"true\">%s</span> "
		"%s</td>",
		said[state].row, said[state].mark, said[state].words);
	html_put(out, "<th scope=\"row\" class=\"text\">");
	html_text(out, output->name);
	html_put(out, leaves ? " <small>(removed)</small></th>" : "</th>");
	html_put(out, "<td class=\"text\">");
	html_text(out, output->uplink.server);
	if (state == SERVER_STATE_DOWN && output->uplink.error[0] &&
		!is_told(findings, output->uplink.error)) {
		html_put(out, "<br><small>");
		html_text(out, output->uplink.error);
		html_put(out, "</small>");
	}
	html_put(out, "</td>");
	put_number(out, row[SPANS_SENT]);
	put_number(out, row[SPANS_QUEUED] + row[SPANS_HELD] + row[SPANS_ENTRUSTED]);
	put_number(out, row[SPANS_SPOOLED]);
	put_number(out, account_dropped(output->account.row));
	html_put(out, "</tr>");
}

static void put_outputs(struct buffer *out, const struct status *status, const struct findings *findings)
{
	html_put(out, "<section aria-labelledby=\"outputs\"><h2 id=\"outputs\">Outputs</h2>");
	if (!status->output_count && !status->leaving_count) {
		html_put(out, "<p>There are none: every output has <code>type = none</code>.</p></section>");
		return;
	}
	html_put(out,
		"<table class=\"outputs\"><caption>Outputs, and their spans</caption><thead><tr>"
		"<th scope=\"col\" class=\"state\">State</th><th scope=\"col\" class=\"text\">Output</th>"
		"<th scope=\"col\" class=\"text\">To</th><th scope=\"col\" class=\"number\">Sent</th>"
		"<th scope=\"col\" class=\"number\">Queued</th><th scope=\"col\" "
		"class=\"number\">Spooled</th>"
		"<th scope=\"col\" class=\"number\">Dropped</th></tr></thead><tbody>");
	for (size_t i = 0; i < status->output_count + status->leaving_count; i++)
		put_output(out, &status->outputs[i], i >= status->output_count, findings);
	html_put(out, "</tbody></table></section>");
}

void pagestate_write(struct buffer *out, const struct status *status, bool above)
{
	struct buffer line = {0};
	struct findings findings;

	doctor_examine(status, &findings);
	status_write_summary(&line, status);
	buffer_put(&line, "", 1);
	html_put(out, "<section aria-labelledby=\"advice\"><h2 id=\"advice\">Agent</h2><p class=\"line\">");
	html_text(out, (const char *)line.data);
	html_put(out, "</p>");
	put_advice(out, status, &findings, above);
	html_put(out, "</section><div class=\"pair\">");
	put_outputs(out, status, &findings);
	put_losses(out, status);
	html_put(out, "</div>");
	buffer_free(&line);
}
