/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs' places: inner.h. */
#include <string.h>

#include "stats/inner.h"

static void add_counts(struct counts *to, const struct counts *more)
{
	counter_add(&to->spans, counter_get(&more->spans));
	counter_add(&to->errors, counter_get(&more->errors));
	counter_add(&to->timed, counter_get(&more->timed));
	counter_add(&to->sum, counter_get(&more->sum));
	counter_set(&to->max, MAX(counter_get(&to->max), counter_get(&more->max)));
}

static uint64_t who_of(const struct known_program *program)
{
	return (uint64_t)program->pid << 32 | program->user;
}

void place_see_name(const struct place *place, char name[NAMES_TEXT_MAX])
{
	for (size_t i = 0; i < NAME_WORDS; i++) {
		uint64_t word = counter_see(&place->name[i]);

		memcpy(name + i * sizeof(word), &word, sizeof(word));
	}
}

static bool is_same(const struct place *place, const struct known_program *program)
{
	char name[NAMES_TEXT_MAX];

	if (counter_get(&place->who) != who_of(program))
		return false;
	place_see_name(place, name);
	return !strcmp(name, program->name);
}

static void clear_counts(struct counts *counts)
{
	counter_put(&counts->spans, 0);
	counter_put(&counts->errors, 0);
	counter_put(&counts->timed, 0);
	counter_put(&counts->sum, 0);
	counter_put(&counts->max, 0);
}

static void occupy(struct place *place, const struct known_program *program)
{
	atomic_fetch_add(&place->version, 1);
	counter_put(&place->who, who_of(program));
	for (size_t i = 0; i < NAME_WORDS; i++) {
		uint64_t word;

		memcpy(&word, program->name + i * sizeof(word), sizeof(word));
		counter_put(&place->name[i], word);
	}
	clear_counts(&place->counts);
	atomic_fetch_add(&place->version, 1);
}

void place_find(struct statistics *statistics, struct known_program *program)
{
	struct place *places = statistics->places;
	uint32_t count = atomic_load_explicit(&statistics->place_count, memory_order_relaxed), oldest = 1, i;

	for (i = 1; i < count && !is_same(&places[i], program); i++)
		if (places[i].last < places[oldest].last)
			oldest = i;
	if (i > STATISTICS_PROGRAMS_MAX) {
		i = oldest;
		add_counts(&places[0].counts, &places[i].counts);
		occupy(&places[i], program);
	} else if (i == count) {
		occupy(&places[i], program);
		atomic_store_explicit(&statistics->place_count, count + 1, memory_order_release);
	}
	places[i].last = statistics->turn;
	program->index = i;
	program->version = atomic_load_explicit(&places[i].version, memory_order_relaxed);
}
