/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/plane.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "stats/inner.h"

#define PARTS_SIZE ((size_t)PARTS_MAX * HISTOGRAM_STEPS * sizeof(uint32_t))
#define SUMS_SIZE ((size_t)(STATISTICS_SERIES_MAX + 1) * sizeof(struct sums))

struct plane *plane_create(int64_t at)
{
	struct plane *plane = g_new0(struct plane, 1);

	plane->at = at;
	/* touched, and so taken, only as far as there are counts */
	plane->parts = memory_map(PARTS_SIZE);
	plane->sums = memory_map(SUMS_SIZE);
	return plane;
}

void plane_destroy(struct plane *plane)
{
	memory_unmap(plane->parts, PARTS_SIZE);
	memory_unmap(plane->sums, SUMS_SIZE);
	g_free(plane);
}

static void read_sums(struct sums *sums, const struct counts *counts)
{
	*sums = (struct sums){
		.spans = counter_get(&counts->spans),
		.errors = counter_get(&counts->errors),
		.timed = counter_get(&counts->timed),
		.sum = counter_get(&counts->sum),
		.max = counter_get(&counts->max),
	};
}

void plane_read(struct plane *plane, const struct statistics *statistics)
{
	plane->at = clock_monotonic();
	plane->sums_count = atomic_load_explicit(&statistics->cell_count, memory_order_acquire);
	plane->part_count = atomic_load_explicit(&statistics->part_count, memory_order_acquire);
	for (uint32_t i = 0; i < plane->sums_count; i++)
		read_sums(&plane->sums[i], &statistics->cells[i].counts);
	for (uint32_t i = 0; i < plane->part_count; i++)
		for (unsigned k = 0; k < HISTOGRAM_STEPS; k++)
			plane->parts[i * HISTOGRAM_STEPS + k] =
				(uint32_t)counter_get(&statistics->parts[i][k]);
}

struct sums cell_sums(const struct cell *cell)
{
	struct sums is;

	read_sums(&is, &cell->counts);
	is.spans -= cell->born.spans;
	is.errors -= cell->born.errors;
	is.timed -= cell->born.timed;
	is.sum -= cell->born.sum;
	return is;
}

/* What is subtracted: of another name, which the series had at that moment, nothing is. */
static struct sums since_born(const struct cell *cell, const struct sums *then)
{
	return then->spans > cell->born.spans ? *then : cell->born;
}

/* The exact maximum is known if it is a new one; otherwise the highest bucket tells. */
static uint64_t max_since(const struct series *series, uint64_t max, uint64_t before)
{
	const struct histogram *histogram = &series->histogram;

	if (!series->timed)
		return 0;
	if (max > before || !histogram->used)
		return max;
	return MIN(max, (uint64_t)histogram_middle(histogram->counts[histogram->used - 1].bucket));
}

bool plane_since(const struct plane *plane, const struct statistics *statistics, uint32_t number,
	struct series *series)
{
	const struct cell *cell = &statistics->cells[number];
	struct sums is, was;
	LOCK_SERIES(statistics);

	read_sums(&is, &cell->counts);
	was = since_born(cell, &plane->sums[number]);
	if (is.spans == was.spans)
		return false;
	series->service = cell->service;
	series->name = cell->name;
	series->spans = is.spans - was.spans;
	series->errors = is.errors - was.errors;
	series->timed = is.timed - was.timed;
	series->sum = is.sum - was.sum;
	series->fine = cell_is_fine(statistics, cell);
	/* of all zeros nothing is subtracted: since the start a bucket may have more than 2^32 */
	cell_histogram(statistics, cell, plane->part_count ? plane->parts : NULL, &series->histogram);
	series->max = max_since(series, is.max, was.max);
	return true;
}

/* Changes: numbers of seven bits a byte, the lowest first. The distance to the next place comes first. */

static void put(struct buffer *out, uint64_t number)
{
	for (; number > 127; number >>= 7)
		pack_u8(out, (uint8_t)(number | 128));
	pack_u8(out, (uint8_t)number);
}

static uint64_t take(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	for (; **at > 127; shift += 7)
		number |= (uint64_t)(*(*at)++ & 127) << shift;
	return number | (uint64_t) * (*at)++ << shift;
}

static void put_parts(struct buffer *out, const struct plane *now, const struct plane *before)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < now->part_count * HISTOGRAM_STEPS; i++) {
		uint32_t more = now->parts[i] - (before ? before->parts[i] : 0);

		if (!more)
			continue;
		put(out, i - last + 1);
		put(out, more);
		last = i;
	}
	put(out, 0);
}

/* The maximum is what it became, as it is of all time. */
static void put_sums(struct buffer *out, const struct plane *now, const struct plane *before)
{
	static const struct sums zero;
	uint32_t last = 0;

	for (uint32_t i = 0; i < now->sums_count; i++) {
		const struct sums *is = &now->sums[i], *was = before ? &before->sums[i] : &zero;

		if (!memcmp(is, was, sizeof(*is)))
			continue;
		put(out, i - last + 1);
		put(out, is->spans - was->spans);
		put(out, is->errors - was->errors);
		put(out, is->timed - was->timed);
		put(out, is->sum - was->sum);
		put(out, is->max);
		last = i;
	}
	put(out, 0);
}

void plane_pack_change(struct buffer *out, const struct plane *now, const struct plane *before)
{
	put_parts(out, now, before);
	put_sums(out, now, before);
}

static void add_sums(struct plane *plane, const uint8_t *at)
{
	uint64_t distance;
	uint32_t i = 0;

	while ((distance = take(&at))) {
		struct sums *sums = &plane->sums[i += (uint32_t)distance - 1];

		sums->spans += take(&at);
		sums->errors += take(&at);
		sums->timed += take(&at);
		sums->sum += take(&at);
		sums->max = take(&at);
	}
	plane->sums_count = MAX(plane->sums_count, i + 1);
}

void plane_add(struct plane *plane, const struct buffer *change)
{
	const uint8_t *at = change->data;
	uint64_t distance;
	uint32_t i = 0;

	while ((distance = take(&at))) {
		i += (uint32_t)distance - 1;
		plane->parts[i] += (uint32_t)take(&at);
	}
	plane->part_count = MAX(plane->part_count, i / HISTOGRAM_STEPS + 1);
	add_sums(plane, at);
}
