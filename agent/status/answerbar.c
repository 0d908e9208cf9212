/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/answerbar.h"

#include <glib.h>

#include "status/answertable.h"
#include "status/html.h"

#define HEIGHT 10
/* Of less the name is in the details only. */
#define LEAST_SHARE 0.01

void answerbar_number(struct buffer *out, const char *attribute, double value)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	buffer_printf(out, " %s=\"%s\"", attribute, g_ascii_formatd(digits, sizeof(digits), "%.1f", value));
}

/* What is not known is hatched. */
void answerbar_begin(struct buffer *out)
{
	html_put(out,
		"<svg class=\"hatch\" width=\"0\" height=\"0\" aria-hidden=\"true\"><pattern id=\"hatch\" "
		"width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect class=\"hatched\" "
		"width=\"8\" height=\"8\"/><path d=\"M0 8 8 0\"/></pattern></svg>");
}

static double share_of(const struct answer_span *span, enum part part)
{
	return span->duration ? (double)span->part[part] / (double)span->duration : 0;
}

static void put_words(struct buffer *out, const struct answer_span *span, enum part part)
{
	buffer_printf(out, "%s ", part_label(part));
	html_time(out, (double)span->part[part] / 1e3);
	buffer_printf(out, ", %.0f %%", 100 * share_of(span, part));
}

static void put_label(struct buffer *out, const struct answer_span *span)
{
	const char *before = "";

	html_put(out, " aria-label=\"");
	for (enum part part = 0; part < PARTS; part++) {
		if (!span->part[part])
			continue;
		html_put(out, before);
		put_words(out, span, part);
		before = "; ";
	}
	html_put(out, "\"");
}

static void put_bar(
	struct buffer *out, const struct answer_span *span, double scale, double from, double width)
{
	int64_t before = 0;

	buffer_printf(out, "<svg class=\"where\"");
	buffer_printf(
		out, " viewBox=\"0 0 %.0f %d\" preserveAspectRatio=\"none\" role=\"img\"", scale, HEIGHT);
	put_label(out, span);
	html_put(out, ">");
	for (enum part part = 0; part < PARTS; part++) {
		if (!span->part[part])
			continue;
		buffer_printf(out, "<rect class=\"part%d\" y=\"0\" height=\"%d\"", part, HEIGHT);
		answerbar_number(out, "x", from + (double)before / (double)span->duration * width);
		answerbar_number(out, "width", share_of(span, part) * width);
		html_put(out, "><title>");
		put_words(out, span, part);
		html_put(out, "</title></rect>");
		before += span->part[part];
	}
	html_put(out, "</svg>");
}

static void put_legend(struct buffer *out, const struct answer_span *span)
{
	html_put(out, "<ul class=\"legend\">");
	for (enum part part = 0; part < PARTS; part++) {
		if (share_of(span, part) < LEAST_SHARE)
			continue;
		html_put(out, "<li>");
		answertable_key(out, part);
		put_words(out, span, part);
		html_put(out, "</li>");
	}
	html_put(out, "</ul>");
}

void answerbar_write(
	struct buffer *out, const struct answer_span *span, double scale, double from, double width)
{
	if (span->duration) {
		put_bar(out, span, scale, from, width);
		put_legend(out, span);
	}
	html_put(out, "<details class=\"cause\"><summary>");
	if (*span->cause)
		html_shown(out, span->cause, strlen(span->cause), ANSWER_SENTENCE_MAX);
	else
		html_put(out, "where its time went");
	html_put(out, "</summary>");
	answertable_write(out, span);
	html_put(out, "</details>");
}
