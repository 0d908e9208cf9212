/* SPDX-License-Identifier: BSD-2-Clause */
/* The histogram of a series, put together from its parts: inner.h. */
#include "stats/inner.h"

/* Of part 0 there are none: it stands for no part. */
static uint64_t count_of(
	const struct statistics *statistics, const uint32_t *before, uint16_t part, unsigned step)
{
	uint64_t count;

	if (!part)
		return 0;
	count = counter_get(&statistics->parts[part][step]);
	/* if that moment was before the series had the part, it had counted for another one */
	return before ? MIN((uint32_t)count - before[part * HISTOGRAM_STEPS + step],
				count - statistics->parts_born[part][step])
		      : count - statistics->parts_born[part][step];
}

bool cell_is_fine(const struct statistics *statistics, const struct cell *cell)
{
	uint16_t coarse = atomic_load_explicit(&cell->coarse, memory_order_acquire);
	uint64_t count = 0;

	for (unsigned i = 0; i < HISTOGRAM_STEPS; i++)
		count += count_of(statistics, NULL, coarse, i);
	return !count;
}

/* Where the coarse counts of some octaves go. */
static bool is_middle(unsigned octave, unsigned step)
{
	return octave % OCTAVES_TOGETHER == OCTAVES_TOGETHER / 2 && step == HISTOGRAM_STEPS / 2;
}

void cell_histogram(const struct statistics *statistics, const struct cell *cell, const uint32_t *before,
	struct histogram *histogram)
{
	uint16_t coarse = atomic_load_explicit(&cell->coarse, memory_order_acquire);

	histogram->used = 0;
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t part = atomic_load_explicit(&cell->part[octave], memory_order_acquire);

		for (unsigned i = 0; (part || coarse) && i < HISTOGRAM_STEPS; i++) {
			uint64_t count = count_of(statistics, before, part, i);

			if (is_middle(octave, i))
				count += count_of(statistics, before, coarse, octave / OCTAVES_TOGETHER);
			if (count)
				histogram_append(histogram, octave * HISTOGRAM_STEPS + i, count);
		}
	}
}
