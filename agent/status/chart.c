/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/chart.h"

#include <inttypes.h>
#include <math.h>

#include <glib.h>

#include "status/html.h"

/* A trend's points are so wide, and it is so high. */
#define STEP 2
#define HEIGHT 24

/* Bars of a quarter of an octave, the room for them, and for the scale below. */
#define BUCKETS_A_BAR (HISTOGRAM_STEPS / 4)
#define BARS (HISTOGRAM_BUCKETS / BUCKETS_A_BAR)
#define WIDTH 640
#define BARS_HEIGHT 120
#define SCALE_HEIGHT 22
#define LABEL_WIDTH 90

/* Trends */

static double largest(const double *values, unsigned count)
{
	double most = 0;

	for (unsigned i = 0; i < count; i++)
		most = MAX(most, values[i]);
	return most;
}

static int height_of(double value, double most)
{
	return HEIGHT - (most > 0 ? (int)lround(value / most * (HEIGHT - 2)) : 0);
}

/* The last point is at the right end. */
static int place_of(unsigned i, unsigned count)
{
	return (int)(TREND_POINTS - count + i) * STEP;
}

static void put_area(struct buffer *out, const double *values, unsigned count)
{
	double most = largest(values, count);

	buffer_printf(out, "<path class=\"area\" d=\"M%d %d", place_of(0, count), HEIGHT);
	for (unsigned i = 0; i < count; i++)
		buffer_printf(out, "V%dH%d", height_of(values[i], most), place_of(i, count) + STEP);
	buffer_printf(out, "V%dZ\"/>", HEIGHT);
}

/* It has a gap where there were no spans. */
static void put_line(struct buffer *out, const double *values, unsigned count)
{
	double most = largest(values, count);
	bool begun = false;

	html_put(out, "<path class=\"line\" d=\"");
	for (unsigned i = 0; i < count; i++) {
		if (values[i] > 0)
			buffer_printf(out, "%c%d %d", begun ? 'L' : 'M', place_of(i, count) + STEP / 2,
				height_of(values[i], most));
		if (values[i] > 0 && !begun) /* a point alone is seen, too */
			html_put(out, "h1");
		begun = values[i] > 0;
	}
	html_put(out, "\"/>");
}

static void put_words(
	struct buffer *out, const double *spans, const double *p99, unsigned count, unsigned every)
{
	if (count == 1)
		buffer_printf(out, "In the last %u s: up to ", every);
	else
		buffer_printf(out, "In the last %u points of %u s: up to ", count, every);
	html_rate(out, largest(spans, count) / every);
	html_put(out, " spans a second, and a p99 of up to ");
	html_time(out, largest(p99, count) / 1e3);
}

void chart_trend(struct buffer *out, const struct trend *trend, uint32_t number, unsigned every)
{
	double spans[TREND_POINTS], p99[TREND_POINTS];
	unsigned count = trend_read(trend, number, spans, p99);

	if (!count)
		return;
	buffer_printf(out,
		"<svg class=\"trend\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"",
		TREND_POINTS * STEP, HEIGHT, TREND_POINTS * STEP, HEIGHT);
	put_words(out, spans, p99, count, every);
	html_put(out, "\">");
	put_area(out, spans, count);
	put_line(out, p99, count);
	html_put(out, "</svg>");
}

/* Histograms */

struct bars {
	uint64_t counts[BARS], most, total;
	unsigned first, last;
};

static bool is_time(const struct limits *limits, int which)
{
	return limits && which != LIMIT_ERRORS && limits->of[which] >= 0;
}

/* Limits are shown, too, wherever they are. */
static void gather_limits(struct bars *bars, const struct limits *limits)
{
	for (int i = 0; i < LIMITS; i++) {
		unsigned bar;

		if (!is_time(limits, i))
			continue;
		bar = histogram_bucket((uint64_t)limits->of[i]) / BUCKETS_A_BAR;
		bars->first = MIN(bars->first, bar);
		bars->last = MAX(bars->last, bar);
	}
}

static void gather(struct bars *bars, const struct histogram *histogram, const struct limits *limits)
{
	*bars = (struct bars){.first = BARS};
	for (uint32_t i = 0; i < histogram->used; i++) {
		unsigned bar = histogram->counts[i].bucket / BUCKETS_A_BAR;

		bars->counts[bar] += histogram->counts[i].count;
		bars->total += histogram->counts[i].count;
		bars->most = MAX(bars->most, bars->counts[bar]);
		bars->first = MIN(bars->first, bar);
		bars->last = bar;
	}
	if (bars->total)
		gather_limits(bars, limits);
	/* some room at both sides, and not too wide a bar */
	bars->first -= MIN(bars->first, 4);
	bars->last = MIN(MAX(bars->last + 4, bars->first + 24), BARS - 1);
}

static double least_of(unsigned bar)
{
	return (double)histogram_least(bar * BUCKETS_A_BAR);
}

/* Where a number of ns is on the scale. */
static double scale(const struct bars *bars, double ns)
{
	double first = log2(MAX(least_of(bars->first), 1)), last = log2(least_of(bars->last + 1));

	return (log2(MAX(ns, 1)) - first) / (last - first) * WIDTH;
}

static void put_bar(struct buffer *out, const struct bars *bars, unsigned bar)
{
	double from = scale(bars, least_of(bar)), to = scale(bars, least_of(bar + 1)),
	       height = MAX(1.5, (double)bars->counts[bar] / (double)bars->most * (BARS_HEIGHT - 6));

	buffer_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", (int)lround(from),
		(int)lround(BARS_HEIGHT - height), MAX(1, (int)lround(to) - (int)lround(from) - 1),
		(int)lround(height));
}

static void put_scale(struct buffer *out, const struct bars *bars)
{
	for (double ns = 1; ns < least_of(bars->last + 1); ns *= 10) {
		int at = (int)lround(scale(bars, ns));

		if (ns < least_of(bars->first))
			continue;
		buffer_printf(out, "<path class=\"tick\" d=\"M%d 0V%d\"/>", at, BARS_HEIGHT + 5);
		buffer_printf(out, "<text x=\"%d\" y=\"%d\">", MIN(at + 3, WIDTH - 44), BARS_HEIGHT + 17);
		if (ns < 1e6)
			buffer_printf(out, "%g %s", ns < 1e3 ? ns : ns / 1e3, ns < 1e3 ? "ns" : "µs");
		else
			buffer_printf(out, "%g %s", ns < 1e9 ? ns / 1e6 : ns / 1e9, ns < 1e9 ? "ms" : "s");
		html_put(out, "</text>");
	}
}

/* Those of the mean and of the p99, each with its name: left of the one and right of the other, if there is
 * room, and one below the other, as they may be near. */
static void put_limits(struct buffer *out, const struct bars *bars, const struct limits *limits)
{
	for (int i = 0; i < LIMITS; i++) {
		int at;
		bool left;

		if (!is_time(limits, i))
			continue;
		at = (int)lround(scale(bars, limits->of[i]));
		left = i == LIMIT_MEAN ? at > LABEL_WIDTH : at > WIDTH - LABEL_WIDTH;
		buffer_printf(out, "<path class=\"limit\" d=\"M%d 0V%d\"/>", at, BARS_HEIGHT);
		buffer_printf(out, "<text class=\"limit\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s ",
			left ? at - 4 : at + 4, 11 + 15 * i, left ? "end" : "start", limit_names[i]);
		html_time(out, limits->of[i] / 1e3);
		html_put(out, "</text>");
	}
}

/* For those who do not see the lines. */
static void put_limits_words(struct buffer *out, const struct limits *limits)
{
	for (int i = 0; i < LIMITS; i++) {
		if (!is_time(limits, i))
			continue;
		buffer_printf(out, "; limit of the %s: ", limit_names[i]);
		html_time(out, limits->of[i] / 1e3);
	}
}

static void put_table(struct buffer *out, const struct bars *bars)
{
	html_put(out, "<details id=\"buckets\"><summary>The same as a table</summary><table><thead><tr>"
		      "<th scope=\"col\">From</th><th scope=\"col\">To</th><th scope=\"col\">Spans</th>"
		      "</tr></thead><tbody>");
	for (unsigned bar = bars->first; bar <= bars->last; bar++) {
		if (!bars->counts[bar])
			continue;
		html_put(out, "<tr><td>");
		html_time(out, least_of(bar) / 1e3);
		html_put(out, "</td><td>");
		html_time(out, least_of(bar + 1) / 1e3);
		html_put(out, "</td><td>");
		html_count(out, bars->counts[bar]);
		html_put(out, "</td></tr>");
	}
	html_put(out, "</tbody></table></details>");
}

void chart_histogram(struct buffer *out, const struct histogram *histogram, const struct limits *limits)
{
	struct bars bars;

	gather(&bars, histogram, limits);
	if (!bars.total) {
		html_put(out, "<p>It is not known how long these spans took.</p>");
		return;
	}
	buffer_printf(out,
		"<svg class=\"histogram\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Histogram of ",
		WIDTH, BARS_HEIGHT + SCALE_HEIGHT);
	html_count(out, bars.total);
	html_put(out, " durations; the table below has the same numbers");
	put_limits_words(out, limits);
	html_put(out, "\">");
	put_scale(out, &bars);
	for (unsigned bar = bars.first; bar <= bars.last; bar++)
		if (bars.counts[bar])
			put_bar(out, &bars, bar);
	put_limits(out, &bars, limits);
	html_put(out, "</svg>");
	put_table(out, &bars);
}
