/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/histogram.h"

#include <math.h>
#include <string.h>

uint64_t histogram_least(unsigned bucket)
{
	unsigned octave = bucket / HISTOGRAM_STEPS, step = bucket % HISTOGRAM_STEPS;

	return octave ? (uint64_t)(HISTOGRAM_STEPS + step) << (octave - 1) : step;
}

double histogram_middle(unsigned bucket)
{
	unsigned octave = bucket / HISTOGRAM_STEPS;
	uint64_t width = octave ? UINT64_C(1) << (octave - 1) : 1;

	return (double)histogram_least(bucket) + (double)(width - 1) / 2;
}

void histogram_clear(struct histogram *histogram)
{
	g_free(histogram->counts);
	*histogram = (struct histogram){0};
}

void histogram_append(struct histogram *histogram, uint32_t bucket, uint64_t count)
{
	if (histogram->used == histogram->room) {
		histogram->room = MAX(8, 2 * histogram->room);
		histogram->counts = g_renew(struct histogram_count, histogram->counts, histogram->room);
	}
	histogram->counts[histogram->used++] = (struct histogram_count){bucket, count};
}

void histogram_merge(struct histogram *into, const struct histogram *more)
{
	struct histogram sum = {0};
	uint32_t i = 0, k = 0;

	while (i < into->used || k < more->used) {
		uint32_t one = i < into->used ? into->counts[i].bucket : UINT32_MAX;
		uint32_t other = k < more->used ? more->counts[k].bucket : UINT32_MAX;
		uint64_t count = 0;

		if (one <= other)
			count += into->counts[i++].count;
		if (other <= one)
			count += more->counts[k++].count;
		histogram_append(&sum, MIN(one, other), count);
	}
	histogram_clear(into);
	*into = sum;
}

void histogram_subtract(struct histogram *from, const struct histogram *before)
{
	uint32_t kept = 0;

	for (uint32_t i = 0, k = 0; i < from->used; i++) {
		struct histogram_count rest = from->counts[i];

		while (k < before->used && before->counts[k].bucket < rest.bucket)
			k++;
		if (k < before->used && before->counts[k].bucket == rest.bucket)
			rest.count -= MIN(rest.count, before->counts[k].count);
		if (rest.count)
			from->counts[kept++] = rest;
	}
	from->used = kept;
}

uint64_t histogram_total(const struct histogram *histogram)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < histogram->used; i++)
		total += histogram->counts[i].count;
	return total;
}

double histogram_quantile(const struct histogram *histogram, double quantile)
{
	double rank = ceil((double)histogram_total(histogram) * quantile);
	uint64_t seen = 0;

	for (uint32_t i = 0; i < histogram->used; i++) {
		seen += histogram->counts[i].count;
		if ((double)seen >= rank)
			return histogram_middle(histogram->counts[i].bucket);
	}
	return 0;
}
