/* SPDX-License-Identifier: BSD-2-Clause */
/* Series by series, without a copy of all: statistics.h. */
#include "stats/inner.h"

/* Names are borrowed. */
static struct series series_of(const struct cell *cell)
{
	return (struct series){
		.service = cell->service,
		.name = cell->name,
		.spans = counter_get(&cell->counts.spans),
		.errors = counter_get(&cell->counts.errors),
		.timed = counter_get(&cell->counts.timed),
		.sum = counter_get(&cell->counts.sum),
		.max = counter_get(&cell->counts.max),
		.fine = cell_is_fine(cell),
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
		struct series series = series_of(&statistics->cells[i]);

		cell_histogram(statistics, &statistics->cells[i], NULL, &histogram);
		read_exemplars(statistics, &statistics->cells[i], exemplars);
		series.histogram = histogram;
		see(data, i, &series, exemplars);
	}
	histogram_clear(&histogram);
}

void statistics_show(struct statistics *statistics, const struct keep *keep)
{
	exemplars_choose(statistics->exemplars, keep);
}
