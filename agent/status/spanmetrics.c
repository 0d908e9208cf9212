/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/spanmetrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"

#define SPANS "blkin_spans_total"
#define ERRORS "blkin_spans_errors_total"
#define DURATION "blkin_span_duration_seconds"
#define NAMES "blkin_span_names"
#define SUMMED "blkin_spans_summed_total"

#define BOUNDS (SPANMETRICS_LAST - SPANMETRICS_FIRST + 1)
/* Octave number n ends at 2^(n + 4) ns: histogram.h. */
#define OCTAVE_END 4

/* What is to be written: all samples of a metric have to stand together. */
struct writing {
	enum exposition form;
	bool is_listed[STATISTICS_SERIES_MAX + 1];
	char bounds[BOUNDS + 1][32]; /* in seconds, with what stands around them */
	struct buffer labels, spans, errors, durations;
	struct series other; /* its histogram: */
	uint64_t other_counts[HISTOGRAM_BUCKETS];
	bool has_other;
	uint64_t names[2]; /* that have no series of their own; that have */
};

static void make_bounds(struct writing *to)
{
	for (int i = 0; i < BOUNDS; i++)
		snprintf(to->bounds[i], sizeof(to->bounds[i]), ",le=\"%.12g\"} ",
			(double)(UINT64_C(1) << (SPANMETRICS_FIRST + i)) / NS_PER_SECOND);
	strcpy(to->bounds[BOUNDS], ",le=\"+Inf\"} ");
}

/* The bucket that an octave is in. */
static int bound_of(unsigned octave)
{
	return CLAMP((int)octave + OCTAVE_END - SPANMETRICS_FIRST, 0, BOUNDS);
}

static void put_number(struct buffer *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	buffer_put(out, digits + at, sizeof(digits) - at);
}

static void put_start(struct buffer *out, const char *name, const char *suffix, const struct buffer *labels)
{
	buffer_put(out, name, strlen(name));
	buffer_put(out, suffix, strlen(suffix));
	buffer_put(out, "{", 1);
	buffer_put(out, labels->data, labels->size);
}

static void put_sample(
	struct buffer *out, const char *name, const char *suffix, const struct buffer *labels, uint64_t value)
{
	put_start(out, name, suffix, labels);
	buffer_put(out, "} ", 2);
	put_number(out, value);
	buffer_put(out, "\n", 1);
}

/* The trace's id is written as `blkin tail` and Zipkin have it. */
static void put_exemplar(struct buffer *out, const struct exemplar *exemplar)
{
	buffer_printf(out, " # {trace_id=\"");
	if (exemplar->trace_id_high)
		buffer_printf(out, "%016" PRIx64, exemplar->trace_id_high);
	buffer_printf(out, "%016" PRIx64 "\"} %.9f %.3f", exemplar->trace_id,
		(double)exemplar->duration / NS_PER_SECOND, (double)exemplar->time / NS_PER_SECOND);
}

/* The latest of each bucket. */
static void choose_exemplars(const struct exemplar *all, const struct exemplar *chosen[BOUNDS + 1])
{
	memset(chosen, 0, (BOUNDS + 1) * sizeof(*chosen));
	for (unsigned octave = 0; all && octave < HISTOGRAM_OCTAVES; octave++) {
		const struct exemplar **its = &chosen[bound_of(octave)];

		if (all[octave].time && (!*its || (*its)->time < all[octave].time))
			*its = &all[octave];
	}
}

static void put_durations(struct writing *to, const struct series *series, const struct exemplar *exemplars)
{
	const struct exemplar *chosen[BOUNDS + 1];
	uint64_t counts[BOUNDS + 1] = {0}, below = 0, all = histogram_total(&series->histogram);

	if (to->form != EXPOSITION_OPENMETRICS)
		exemplars = NULL;
	choose_exemplars(exemplars, chosen);
	for (uint32_t i = 0; i < series->histogram.used; i++)
		counts[bound_of(series->histogram.counts[i].bucket / HISTOGRAM_STEPS)] +=
			series->histogram.counts[i].count;
	for (int i = 0; i <= BOUNDS; i++) {
		put_start(&to->durations, DURATION, "_bucket", &to->labels);
		buffer_put(&to->durations, to->bounds[i], strlen(to->bounds[i]));
		put_number(&to->durations, below += counts[i]);
		if (chosen[i])
			put_exemplar(&to->durations, chosen[i]);
		buffer_put(&to->durations, "\n", 1);
	}
	put_start(&to->durations, DURATION, "_sum", &to->labels);
	buffer_printf(&to->durations, "} %.9f\n", (double)series->sum / NS_PER_SECOND);
	put_sample(&to->durations, DURATION, "_count", &to->labels, all);
}

static void put_series(struct writing *to, const char *service, const char *name, const struct series *series,
	const struct exemplar *exemplars)
{
	to->labels.size = 0;
	buffer_printf(&to->labels, "service=\"");
	exposition_label(&to->labels, service);
	buffer_printf(&to->labels, "\",span=\"");
	exposition_label(&to->labels, name);
	buffer_printf(&to->labels, "\"");
	put_sample(&to->spans, SPANS, "", &to->labels, series->spans);
	put_sample(&to->errors, ERRORS, "", &to->labels, series->errors);
	put_durations(to, series, exemplars);
}

static void add_other(struct writing *to, const struct series *series)
{
	to->has_other = true;
	to->other.spans += series->spans;
	to->other.errors += series->errors;
	to->other.timed += series->timed;
	to->other.sum += series->sum;
	for (uint32_t i = 0; i < series->histogram.used; i++)
		to->other_counts[series->histogram.counts[i].bucket] += series->histogram.counts[i].count;
}

bool spanmetrics_is_other(const char *service, const char *name)
{
	return !service || (!strcmp(service, SPANMETRICS_OTHER) && !strcmp(name, SPANMETRICS_OTHER));
}

static void see(void *data, uint32_t number, const struct series *series, const struct exemplar *exemplars)
{
	struct writing *to = data;
	bool listed = to->is_listed[number] && !spanmetrics_is_other(series->service, series->name);

	to->names[listed] += number > 0;
	if (listed)
		put_series(to, series->service, series->name, series, exemplars);
	else if (number > 0 || series->spans)
		add_other(to, series);
}

static void put_other(struct writing *to)
{
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (to->other_counts[i])
			histogram_append(&to->other.histogram, i, to->other_counts[i]);
	put_series(to, SPANMETRICS_OTHER, SPANMETRICS_OTHER, &to->other, NULL);
	histogram_clear(&to->other.histogram);
}

static void put_metric(
	struct buffer *out, const struct writing *from, const char *name, const char *type, const char *help)
{
	const struct buffer *samples = !strcmp(name, SPANS)    ? &from->spans
				       : !strcmp(name, ERRORS) ? &from->errors
							       : &from->durations;

	exposition_head(out, from->form, name, type, help);
	buffer_put(out, samples->data, samples->size);
}

void spanmetrics_write(
	struct buffer *out, const struct statistics *statistics, uint64_t listed, enum exposition form)
{
	g_autofree struct writing *writing = g_new0(struct writing, 1);

	make_bounds(writing);
	writing->form = form;
	statistics_list(statistics, listed, writing->is_listed);
	statistics_each(statistics, see, writing);
	if (writing->has_other)
		put_other(writing);
	put_metric(out, writing, SPANS, "counter", "Spans that ended.");
	put_metric(out, writing, ERRORS, "counter", "Spans that ended with an error.");
	put_metric(out, writing, DURATION, "histogram",
		"How long spans took, of those of which it is known; each bucket is a power of two of "
		"nanoseconds.");
	exposition_head(out, form, NAMES, "gauge",
		"Pairs of service and span name that were seen; those that are not listed are in the series "
		"\"other\".");
	buffer_printf(out, NAMES "{listed=\"yes\"} %" PRIu64 "\n" NAMES "{listed=\"no\"} %" PRIu64 "\n",
		writing->names[1], writing->names[0]);
	exposition_head(out, form, SUMMED, "counter",
		"Spans whose names found no room beside 10,000 others: they are in the series \"other\".");
	buffer_printf(out, SUMMED " %" PRIu64 "\n", statistics_summed(statistics));
	buffer_free(&writing->labels);
	buffer_free(&writing->spans);
	buffer_free(&writing->errors);
	buffer_free(&writing->durations);
}
