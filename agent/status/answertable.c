/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/answertable.h"

#include <inttypes.h>

#include "status/html.h"

static void put_time(struct buffer *out, int64_t ns)
{
	html_time(out, (double)ns / 1e3);
}

void answertable_key(struct buffer *out, enum part part)
{
	buffer_printf(out,
		"<svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"part%d\" "
		"width=\"10\" height=\"10\"/></svg>",
		part);
}

/* The table: a row is a part, its time, its share, and what there is to say of it. */

static void begin_row(struct buffer *out)
{
	html_put(out, "<tr><th scope=\"row\">");
}

static void put_separator(struct buffer *out, unsigned index)
{
	html_put(out, index ? "; " : "");
}

static void put_rest(struct buffer *out, unsigned count, unsigned shown)
{
	if (count > shown)
		buffer_printf(out, "; %u more", count - shown);
}

static void put_name(struct buffer *out, const char *name)
{
	html_name(out, name, "no name");
}

static void put_runners(struct buffer *out, const struct answer_span *span)
{
	unsigned shown = MIN(span->runner_count, ANSWER_RUNNERS);

	for (unsigned i = 0; i < shown; i++) {
		put_separator(out, i);
		html_put(out, i ? "" : "there ran ");
		if (!whom_put(out, &span->runners[i].whom, put_name))
			html_put(out, "who is not known");
		html_put(out, " ");
		put_time(out, span->runners[i].time);
	}
	put_rest(out, span->runner_count, shown);
}

static void put_wait(struct buffer *out, const struct answer_wait *wait, enum part part)
{
	bool rest = wait->by.kind == WHOM_OTHERS;
	struct buffer by = {0};

	if (*wait->call)
		html_name(out, wait->call, "");
	else if (rest)
		html_put(out, "others");
	else if (part != PART_FAULT)
		html_put(out, "in no system call that is recorded");
	html_put(out, *wait->call || rest || part != PART_FAULT ? " " : "");
	put_time(out, wait->time);
	if (wait->count > 1)
		buffer_printf(out, " in %" PRId64 " waits", wait->count);
	if (!rest && whom_put(&by, &wait->by, put_name)) {
		html_put(out, ", woken by ");
		buffer_put(out, by.data, by.size);
	}
	buffer_free(&by);
}

static void put_waits(struct buffer *out, const struct answer_span *span, enum part part)
{
	unsigned shown = MIN(span->wait_count[part], ANSWER_WAITS);

	for (unsigned i = 0; i < shown; i++) {
		put_separator(out, i);
		put_wait(out, &span->waits[part][i], part);
	}
	put_rest(out, span->wait_count[part], shown);
}

static void put_part(struct buffer *out, const struct answer_span *span, enum part part)
{
	double share = 100 * (double)span->part[part] / (double)span->duration;
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	begin_row(out);
	answertable_key(out, part);
	buffer_printf(out, "%s</th><td class=\"number\">", part_label(part));
	put_time(out, span->part[part]);
	html_put(out, "</td><td class=\"number\">");
	buffer_printf(out, "%s %%</td><td>", g_ascii_formatd(digits, sizeof(digits), "%.1f", share));
	if (part == PART_RUNNABLE)
		put_runners(out, span);
	else
		put_waits(out, span, part);
	html_put(out, "</td></tr>");
}

static void put_calls(struct buffer *out, const struct answer_span *span)
{
	unsigned shown = MIN(span->call_count, ANSWER_CALLS);

	if (!shown)
		return;
	begin_row(out);
	html_put(out, "system calls</th><td colspan=\"3\">");
	for (unsigned i = 0; i < shown; i++) {
		put_separator(out, i);
		html_name(out, span->calls[i].name, "others");
		html_put(out, " ");
		put_time(out, span->calls[i].time);
		if (span->calls[i].count > 1)
			buffer_printf(out, " (%" PRId64 " times)", span->calls[i].count);
	}
	put_rest(out, span->call_count, shown);
	html_put(out, "</td></tr>");
}

void answertable_write(struct buffer *out, const struct answer_span *span)
{
	html_put(out, "<table class=\"facts\"><caption>Where its time went</caption>");
	if (span->tid != WHOM_NO_NUMBER) {
		begin_row(out);
		buffer_printf(out, "thread</th><td colspan=\"3\">%" PRId64 "</td></tr>", span->tid);
	}
	for (enum part part = 0; part < PARTS; part++)
		if (span->part[part])
			put_part(out, span, part);
	put_calls(out, span);
	html_put(out, "</table>");
}

/* Remarks */

static void put_command(struct buffer *out, const char *options, const char *id, const struct config *config)
{
	buffer_printf(out, "<code>blkin why %s%s%s</code>", config->user ? "--user " : "", options, id);
}

/* What would be here, if it were. */
static void put_way(struct buffer *out, const char *id, const struct config *config)
{
	if (config_flies(config)) {
		html_put(out, "<p>The flight recorder has kept nothing of this trace. It does so of late and "
			      "failed ones, <code>flight-per-minute</code> at the most, and may take a "
			      "minute or two for that.</p>");
	} else if (config_reads_kernel(config)) {
		html_put(out, "<p>Why its spans took so long, by what the kernel did: ");
		put_command(out, "", id, config);
		html_put(out, " says that, on this node, until the relay overwrites it.</p>");
	}
}

static void put_faults(
	struct buffer *out, const struct answer *answer, const char *id, const struct config *config)
{
	if (answer->error) {
		html_put(out, "<p>What the flight recorder has kept of this trace cannot be read: ");
		html_text(out, answer->error);
		html_put(out, ".</p>");
	}
	if (answer->damaged && !answer->spans->len) {
		html_put(out, "<p>What the flight recorder has kept of this trace is damaged.</p>");
	} else if (answer->damaged) {
		html_put(out, "<p>Of what the flight recorder has kept of this trace, ");
		html_count(out, answer->damaged);
		buffer_printf(out, " %s damaged, and left out.</p>",
			answer->damaged == 1 ? "line is" : "lines are");
	}
	if (answer->cut) {
		html_put(out, "<p>The flight recorder has kept more of this trace than is shown here: ");
		put_command(out, "--json ", id, config);
		html_put(out, " has it all.</p>");
	}
}

void answertable_remarks(
	struct buffer *out, const struct answer *answer, const char *id, const struct config *config)
{
	if (!answer->is)
		put_way(out, id, config);
	if (answer->spans->len)
		html_put(out,
			"<p>The bar below a span's own says how its time was shared out, and not when.</p>");
	put_faults(out, answer, id, config);
	for (guint i = 0; i < answer->missing->len; i++) {
		const char *sentence = answer->missing->pdata[i];

		html_put(out, "<p>");
		html_shown(out, sentence, strlen(sentence), ANSWER_SENTENCE_MAX);
		html_put(out, "</p>");
	}
}
