/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the series: inner.h. While there is room, every name gets one. When there is none, a name that has
 * been quiet for an hour makes room, and for a user who has fewer names than another one does that one's
 * name which has been quiet for longest: so nobody's names leave those of others without a series.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "stats/inner.h"

/* No window shows a name that has been quiet for so long. */
#define SILENT_NS (3600 * NS_PER_SECOND)
/* If none is, it is looked for again after so long. */
#define LOOK_NS NS_PER_SECOND

/* Shares */

uint16_t share_of(struct statistics *statistics, uint32_t user)
{
	uint32_t i = 1;

	while (i < statistics->share_count && statistics->shares[i].user != user)
		i++;
	if (i > SHARES_MAX)
		return 0;
	if (i == statistics->share_count)
		statistics->shares[statistics->share_count++].user = user;
	return (uint16_t)i;
}

static uint16_t richest_share(const struct statistics *statistics)
{
	uint32_t richest = 0;

	for (uint32_t i = 1; i < statistics->share_count; i++)
		if (statistics->shares[i].series > statistics->shares[richest].series)
			richest = i;
	return (uint16_t)richest;
}

/* Names that wait */

void room_forget(struct namer *namer, uint32_t number)
{
	g_free(namer->waiting[number]);
	namer->waiting[number] = NULL;
}

void room_wait(struct namer *namer, uint32_t number, const char *key)
{
	struct waiting *waiting = g_malloc(sizeof(*waiting) + strlen(key) + 1);

	room_forget(namer, number);
	waiting->counted = false;
	strcpy(waiting->key, key);
	namer->waiting[number] = waiting;
	namer->series[number] = 1;
}

/* Names that make room */

static int compare_victims(const void *one, const void *other)
{
	const struct victim *a = one, *b = other;

	if (a->last != b->last)
		return (a->last < b->last) - (a->last > b->last);
	return (a->cell < b->cell) - (a->cell > b->cell);
}

/* @share: whose; -1: anybody's, if they were quiet since @since. */
static void find_victims(struct statistics *statistics, struct victims *victims, int share, int64_t since)
{
	uint32_t count = atomic_load_explicit(&statistics->cell_count, memory_order_relaxed), found = 0,
		 taken;
	g_autofree struct victim *all = g_new(struct victim, count);

	for (uint32_t i = 1; i < count; i++) {
		const struct cell *cell = &statistics->cells[i];

		if (share < 0 ? cell->last < since : cell->share == share)
			all[found++] = (struct victim){cell->last, i};
	}
	qsort(all, found, sizeof(*all), compare_victims);
	taken = MIN(found, VICTIMS_MAX);
	memcpy(victims->list, all + found - taken, taken * sizeof(*all));
	victims->count = taken;
	victims->looked = statistics->now;
}

/* One that is as quiet as it was, and of that share, if @share is one; 0: there is none. */
static uint32_t next_victim(const struct statistics *statistics, struct victims *victims, int share)
{
	while (victims->count) {
		struct victim victim = victims->list[--victims->count];
		const struct cell *cell = &statistics->cells[victim.cell];

		if (cell->last == victim.last && (share < 0 || cell->share == share))
			return victim.cell;
	}
	return 0;
}

static uint32_t silent_victim(struct statistics *statistics)
{
	struct victims *victims = &statistics->silent;
	uint32_t cell = next_victim(statistics, victims, -1);

	if (cell || statistics->now - victims->looked < LOOK_NS)
		return cell;
	find_victims(statistics, victims, -1, statistics->now - SILENT_NS);
	return next_victim(statistics, victims, -1);
}

static uint32_t richest_victim(struct statistics *statistics, uint16_t share)
{
	struct victims *victims = &statistics->of_richest;
	uint16_t richest = richest_share(statistics);
	uint32_t cell;

	if (statistics->shares[share].series >= statistics->shares[richest].series)
		return 0;
	cell = next_victim(statistics, victims, richest);
	if (cell)
		return cell;
	find_victims(statistics, victims, richest, 0);
	return next_victim(statistics, victims, richest);
}

/* What it has counted is among what is gone. */
static void add_to_gone(struct statistics *statistics, const struct cell *cell)
{
	struct sums its = cell_sums(cell);
	struct histogram histogram = {0};

	statistics->gone.spans += its.spans;
	statistics->gone.errors += its.errors;
	statistics->gone.timed += its.timed;
	statistics->gone.sum += its.sum;
	statistics->gone.max = MAX(statistics->gone.max, its.max);
	cell_histogram(statistics, cell, NULL, &histogram);
	histogram_merge(&statistics->gone_histogram, &histogram);
	histogram_clear(&histogram);
}

static void leave_parts(struct statistics *statistics, struct cell *cell)
{
	uint16_t coarse = atomic_load_explicit(&cell->coarse, memory_order_relaxed);

	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t part = atomic_load_explicit(&cell->part[octave], memory_order_relaxed);

		if (!part)
			continue;
		atomic_store_explicit(&cell->part[octave], 0, memory_order_release);
		exemplars_forget(statistics->exemplars, part);
		statistics->parts_free[statistics->parts_free_count++] = part;
	}
	for (unsigned i = 0; coarse && i < HISTOGRAM_STEPS; i++)
		statistics->parts_born[coarse][i] = counter_get(&statistics->parts[coarse][i]);
}

/* The numbers of its name stand for one that waits. */
static void drop_numbers(struct statistics *statistics, uint32_t cell, const char *key)
{
	for (unsigned who = 0; who < STATISTICS_NAMERS; who++) {
		struct namer *namer = &statistics->namers[who];

		for (uint32_t i = 0; i < NAMES_SERIES && namer->told; i++)
			if (namer->series[i] == cell + 1)
				room_wait(namer, i, key);
	}
}

/* Takes the name from it, but for the number of its series. */
static void evict(struct statistics *statistics, uint32_t number)
{
	struct cell *cell = &statistics->cells[number];
	g_autofree char *key = g_strconcat(cell->service, "\xff", cell->name, NULL);

	g_tree_remove(statistics->by_name, key);
	drop_numbers(statistics, number, key);
	add_to_gone(statistics, cell);
	leave_parts(statistics, cell);
	exemplars_forget(statistics->failures, number);
	counter_set(&cell->counts.max, 0);
	cell->born.spans = counter_get(&cell->counts.spans);
	cell->born.errors = counter_get(&cell->counts.errors);
	cell->born.timed = counter_get(&cell->counts.timed);
	cell->born.sum = counter_get(&cell->counts.sum);
	statistics->shares[cell->share].series--;
	g_ptr_array_add(statistics->retired, cell->service);
	g_ptr_array_add(statistics->retired, cell->name);
	atomic_fetch_add(&cell->era, 1);
}

void room_sweep(struct statistics *statistics)
{
	LOCK_SERIES(statistics);

	g_ptr_array_set_size(statistics->retired, 0);
}

/* Names that get room */

static void occupy(struct statistics *statistics, uint32_t number, uint16_t share, const char *key)
{
	struct cell *cell = &statistics->cells[number];
	const char *end = strchr(key, '\xff');

	cell->service = g_strndup(key, (gsize)(end - key));
	cell->name = g_strdup(end + 1);
	cell->share = share;
	statistics->shares[share].series++;
	g_tree_insert(statistics->by_name, g_strdup(key), GUINT_TO_POINTER(number));
}

/* Between two ticks no more names make room than the names that are held may take memory. */
static bool is_worn(const struct statistics *statistics)
{
	return statistics->retired->len >= (guint)2 * STATISTICS_SERIES_MAX;
}

static uint32_t make_room(struct statistics *statistics, uint16_t share, const char *key)
{
	uint32_t next = atomic_load_explicit(&statistics->cell_count, memory_order_relaxed), victim;

	if (next <= STATISTICS_SERIES_MAX) {
		occupy(statistics, next, share, key);
		atomic_store_explicit(&statistics->cell_count, next + 1, memory_order_release);
		return next;
	}
	if (is_worn(statistics) ||
		(!(victim = silent_victim(statistics)) && !(victim = richest_victim(statistics, share))))
		return 0;
	LOCK_SERIES(statistics);
	evict(statistics, victim);
	occupy(statistics, victim, share, key);
	return victim;
}

uint32_t room_find(struct namer *namer, uint32_t number, uint16_t share)
{
	struct statistics *statistics = namer->statistics;
	struct waiting *waiting = namer->waiting[number];
	uint32_t cell = GPOINTER_TO_UINT(g_tree_lookup(statistics->by_name, waiting->key));

	if (!cell)
		cell = make_room(statistics, share, waiting->key);
	if (cell) {
		namer->series[number] = (uint16_t)(cell + 1);
		room_forget(namer, number);
	} else if (!waiting->counted) {
		waiting->counted = true;
		counter_add(&statistics->unnamed, 1);
	}
	return cell;
}

/* Parts */

uint16_t room_take_part(struct statistics *statistics, uint32_t end)
{
	uint32_t next = atomic_load_explicit(&statistics->part_count, memory_order_relaxed);
	uint16_t part;

	if (end < PARTS_MAX && statistics->parts_free_count) {
		part = statistics->parts_free[--statistics->parts_free_count];
		for (unsigned i = 0; i < HISTOGRAM_STEPS; i++)
			statistics->parts_born[part][i] = counter_get(&statistics->parts[part][i]);
		return part;
	}
	if (next >= end)
		return 0;
	atomic_store_explicit(&statistics->part_count, next + 1, memory_order_release);
	return (uint16_t)next;
}
