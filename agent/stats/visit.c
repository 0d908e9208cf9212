/* SPDX-License-Identifier: BSD-2-Clause */
/* Series by series, without a copy of all: statistics.h. */
#include "stats/inner.h"

/* Names are borrowed. */
static struct series series_of(const struct statistics *statistics, const struct cell *cell)
{
	struct sums its = cell_sums(cell);

	if (cell == statistics->cells) {
		const struct sums *gone = &statistics->gone;

		its = (struct sums){its.spans + gone->spans, its.errors + gone->errors,
			its.timed + gone->timed, its.sum + gone->sum, MAX(its.max, gone->max)};
	}
	return (struct series){
		.service = cell->service,
		.name = cell->name,
		.spans = its.spans,
		.errors = its.errors,
		.timed = its.timed,
		.sum = its.sum,
		.max = its.max,
		.fine = cell_is_fine(statistics, cell),
	};
}

static void read_exemplars(
	const struct statistics *statistics, const struct cell *cell, struct exemplar *exemplars)
{
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t part = atomic_load_explicit(&cell->part[octave], memory_order_acquire);

		exemplars[octave] = (struct exemplar){0};
		if (part)
			exemplars[octave] = exemplars_read(statistics->exemplars, part);
	}
}

void statistics_each(const struct statistics *statistics, statistics_see *see, void *data)
{
	uint32_t count = atomic_load_explicit(&statistics->cell_count, memory_order_acquire);
	struct exemplar exemplars[HISTOGRAM_OCTAVES];
	struct histogram histogram = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct series series;
		LOCK_SERIES(statistics);

		series = series_of(statistics, &statistics->cells[i]);
		cell_histogram(statistics, &statistics->cells[i], NULL, &histogram);
		if (i == 0)
			histogram_merge(&histogram, &statistics->gone_histogram);
		read_exemplars(statistics, &statistics->cells[i], exemplars);
		series.histogram = histogram;
		see(data, i, &series, exemplars);
	}
	histogram_clear(&histogram);
}

void statistics_show(struct statistics *statistics, const struct keep *keep)
{
	exemplars_choose(statistics->exemplars, keep);
	exemplars_choose(statistics->failures, keep);
}

void statistics_sweep(struct statistics *statistics)
{
	room_sweep(statistics);
}

/* Whose the series are */

uint64_t statistics_summed(const struct statistics *statistics)
{
	return counter_get(&statistics->cells[0].counts.spans);
}

/* How many series each share has; the caller frees them. */
static uint32_t *count_shares(const struct statistics *statistics, uint32_t count)
{
	uint32_t *series = g_new0(uint32_t, SHARES_MAX + 1);

	for (uint32_t i = 1; i < count; i++)
		series[statistics->cells[i].share]++;
	return series;
}

uint32_t statistics_richest(const struct statistics *statistics, uint32_t *names)
{
	uint32_t count = atomic_load_explicit(&statistics->cell_count, memory_order_acquire), richest = 0;
	g_autofree uint32_t *series = NULL;
	LOCK_SERIES(statistics);

	series = count_shares(statistics, count);
	for (uint32_t i = 1; i <= SHARES_MAX; i++)
		if (series[i] > series[richest])
			richest = i;
	*names = series[richest];
	return richest ? statistics->shares[richest].user : UINT32_MAX;
}

/* So many series of each share are listed, at most. There is nothing to look for once no share has more. */
static uint32_t quota_of(const uint32_t *series, uint64_t most)
{
	uint64_t listed = 0, more = 1;
	uint32_t quota = 0;

	for (; more; quota++) {
		more = 0;
		for (uint32_t i = 0; i <= SHARES_MAX; i++)
			more += series[i] > quota;
		listed += more;
		if (listed > most)
			break;
	}
	return quota;
}

void statistics_list(const struct statistics *statistics, uint64_t most, bool *listed)
{
	uint32_t count = atomic_load_explicit(&statistics->cell_count, memory_order_acquire), quota;
	g_autofree uint32_t *series = NULL, *passed = g_new0(uint32_t, SHARES_MAX + 1);
	uint64_t left = most;
	LOCK_SERIES(statistics);

	series = count_shares(statistics, count);
	quota = quota_of(series, most);
	for (uint32_t i = 0; i <= SHARES_MAX; i++)
		left -= MIN(series[i], quota);
	listed[0] = false;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t rank = passed[statistics->cells[i].share]++;

		listed[i] = rank < quota || (rank == quota && left > 0 && left-- > 0);
	}
}
