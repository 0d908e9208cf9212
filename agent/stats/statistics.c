/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/statistics.h"

#include <string.h>

#include "base/clock.h"
#include "base/pack.h"
#include "queue/keep.h"
#include "stats/inner.h"

static int compare_keys(const void *one, const void *other, void *data)
{
	(void)data;
	return strcmp(one, other);
}

struct statistics *statistics_create(void)
{
	struct statistics *statistics = g_new0(struct statistics, 1);

	statistics->began = clock_wall();
	statistics->since = clock_monotonic();
	/* touched, and so taken, only as far as there are names */
	statistics->cells = g_new0(struct cell, STATISTICS_SERIES_MAX + 1);
	statistics->parts = g_malloc0_n(PARTS_MAX, sizeof(*statistics->parts));
	statistics->exemplars = exemplars_create(PARTS_MAX);
	statistics->places = g_new0(struct place, STATISTICS_PROGRAMS_MAX + 1);
	statistics->series = g_new0(struct cell *, NAMES_SERIES);
	statistics->programs = g_new0(struct known_program, NAMES_PROGRAMS);
	/* no hash table: programs could choose names that all have the same hash */
	statistics->by_name = g_tree_new_full(compare_keys, NULL, g_free, NULL);
	statistics->cell_count = statistics->place_count = statistics->part_count = 1;
	return statistics;
}

void statistics_destroy(struct statistics *statistics)
{
	if (!statistics)
		return;
	for (uint32_t i = 0; i < statistics->cell_count; i++) {
		g_free(statistics->cells[i].service);
		g_free(statistics->cells[i].name);
	}
	g_free(statistics->cells);
	g_free(statistics->parts);
	exemplars_destroy(statistics->exemplars);
	g_free(statistics->places);
	g_free(statistics->series);
	g_free(statistics->programs);
	g_tree_unref(statistics->by_name);
	g_free(statistics);
}

void statistics_begin_reader(struct statistics *statistics)
{
	memset(statistics->series, 0, NAMES_SERIES * sizeof(*statistics->series));
	memset(statistics->programs, 0, NAMES_PROGRAMS * sizeof(*statistics->programs));
}

/* Words */

static char *take_text(struct unpacker *from)
{
	struct unpacker bytes = unpack_bytes(from);
	g_autofree char *text = bytes.failed
					? g_strdup("")
					: g_strndup((const char *)bytes.at, (size_t)(bytes.end - bytes.at));

	return g_utf8_make_valid(text, -1);
}

/* The series of that name, made if there is room. */
static struct cell *find_cell(struct statistics *statistics, const char *service, const char *name)
{
	g_autofree char *key = g_strconcat(service, "\xff", name, NULL); /* which is in no UTF-8 */
	uint32_t next = atomic_load_explicit(&statistics->cell_count, memory_order_relaxed);
	uint32_t index = GPOINTER_TO_UINT(g_tree_lookup(statistics->by_name, key));

	if (index)
		return &statistics->cells[index];
	if (next > STATISTICS_SERIES_MAX) {
		counter_add(&statistics->unnamed, 1);
		return &statistics->cells[0];
	}
	statistics->cells[next].service = g_strdup(service);
	statistics->cells[next].name = g_strdup(name);
	g_tree_insert(statistics->by_name, g_steal_pointer(&key), GUINT_TO_POINTER(next));
	atomic_store_explicit(&statistics->cell_count, next + 1, memory_order_release);
	return &statistics->cells[next];
}

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

static void see_name(const struct place *place, char name[NAMES_TEXT_MAX])
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
	see_name(place, name);
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

/* The program's place; if there is none left, that of the one that has been quiet for longest. */
static void find_place(struct statistics *statistics, struct known_program *program)
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

static void take_program(struct statistics *statistics, struct unpacker *words, uint32_t number)
{
	struct known_program *program = &statistics->programs[number];
	g_autofree char *name = take_text(words);

	program->known = true;
	g_strlcpy(program->name, name, sizeof(program->name));
	program->pid = unpack_u32(words);
	program->user = unpack_u32(words);
	find_place(statistics, program);
}

static bool take_words(struct statistics *statistics, struct unpacker *words)
{
	uint8_t kind = unpack_u8(words);
	uint32_t number = unpack_u32(words);

	if (words->failed || number >= (kind == NAMES_OF_SERIES ? NAMES_SERIES : NAMES_PROGRAMS))
		return false;
	if (kind == NAMES_OF_SERIES) {
		g_autofree char *service = take_text(words), *name = take_text(words);

		statistics->series[number] = find_cell(statistics, service, name);
	} else if (kind == NAMES_OF_PROGRAM) {
		take_program(statistics, words, number);
	}
	return kind <= NAMES_OF_PROGRAM && !words->failed;
}

/* Counting */

/* The part that is noted there; if none is, the next one, of those below @end. 0: there is none left. */
static uint16_t find_part(struct statistics *statistics, _Atomic uint16_t *at, uint32_t end)
{
	uint16_t part = atomic_load_explicit(at, memory_order_relaxed);
	uint32_t next;

	if (G_LIKELY(part))
		return part;
	next = atomic_load_explicit(&statistics->part_count, memory_order_relaxed);
	if (next >= end)
		return 0;
	atomic_store_explicit(&statistics->part_count, next + 1, memory_order_release);
	atomic_store_explicit(at, (uint16_t)next, memory_order_release);
	return (uint16_t)next;
}

static void count_bucket(struct statistics *statistics, struct cell *cell, const struct trait *trait)
{
	unsigned bucket = histogram_bucket(trait->duration), octave = bucket / HISTOGRAM_STEPS;
	uint16_t part = find_part(statistics, &cell->part[octave], PARTS_MAX - PARTS_COARSE);

	if (G_UNLIKELY(!part)) {
		part = find_part(statistics, &cell->coarse, PARTS_MAX);
		counter_add(&statistics->parts[part][octave / OCTAVES_TOGETHER], 1);
		return;
	}
	counter_add(&statistics->parts[part][bucket % HISTOGRAM_STEPS], 1);
	exemplars_offer(statistics->exemplars, part, trait);
}

static inline void count_span(struct counts *counts, const struct trait *trait)
{
	counter_add(&counts->spans, 1);
	if (trait->error)
		counter_add(&counts->errors, 1);
	if (!trait->duration)
		return;
	counter_add(&counts->timed, 1);
	counter_add(&counts->sum, trait->duration);
	if (trait->duration > counter_get(&counts->max))
		counter_set(&counts->max, trait->duration);
}

static bool take_span(struct statistics *statistics, const struct named *named, const struct trait *trait)
{
	struct known_program *program;
	struct place *place;
	struct cell *cell;

	if (named->series >= NAMES_SERIES || named->program >= NAMES_PROGRAMS)
		return false;
	cell = statistics->series[named->series];
	program = &statistics->programs[named->program];
	if (!cell || !program->known)
		return false;
	if (trait->duration)
		count_bucket(statistics, cell, trait);
	count_span(&cell->counts, trait);
	place = &statistics->places[program->index];
	if (G_UNLIKELY(atomic_load_explicit(&place->version, memory_order_relaxed) !=
		       program->version)) { /* it had to make room */
		find_place(statistics, program);
		place = &statistics->places[program->index];
	}
	place->last = statistics->turn;
	count_span(&place->counts, trait);
	return true;
}

bool statistics_take(struct statistics *statistics, const struct batches *spans)
{
	struct unpacker words = unpacker_of(spans->words, spans->words_size);
	uint32_t next = words.at < words.end ? unpack_u32(&words) : UINT32_MAX;

	statistics->turn++;
	exemplars_set_time(statistics->exemplars, clock_wall());
	for (uint32_t i = 0; i < spans->count; i++) {
		struct named named;
		struct trait trait;

		while (next <= i) {
			if (!take_words(statistics, &words))
				return false;
			next = words.at < words.end ? unpack_u32(&words) : UINT32_MAX;
		}
		memcpy(&named, spans->named + i * sizeof(named), sizeof(named));
		memcpy(&trait, spans->traits + i * sizeof(trait), sizeof(trait));
		if (!take_span(statistics, &named, &trait))
			return false;
	}
	return next == UINT32_MAX && !words.failed;
}

uint32_t statistics_series_of(const struct statistics *statistics, const struct batches *spans, uint32_t i,
	const char **service, const char **name)
{
	const struct cell *cell;
	struct named named;

	memcpy(&named, spans->named + i * sizeof(named), sizeof(named));
	cell = statistics->series[named.series];
	*service = cell->service;
	*name = cell->name;
	return (uint32_t)(cell - statistics->cells);
}

/* Looking */

static void read_cell(const struct statistics *statistics, const struct cell *cell, struct snapshot *snapshot)
{
	struct series series = {
		.spans = counter_get(&cell->counts.spans),
		.errors = counter_get(&cell->counts.errors),
		.timed = counter_get(&cell->counts.timed),
		.sum = counter_get(&cell->counts.sum),
		.max = counter_get(&cell->counts.max),
		.fine = cell_is_fine(cell),
	};

	if (!series.spans)
		return;
	series.service = g_strdup(cell->service);
	series.name = g_strdup(cell->name);
	cell_histogram(statistics, cell, NULL, &series.histogram);
	g_array_append_val(snapshot->series, series);
}

/* @index: 0 is the sum of those that made room. */
static void read_place(const struct place *place, uint32_t index, struct snapshot *snapshot)
{
	uint32_t version = atomic_load(&place->version);
	uint64_t who = counter_see(&place->who);
	struct program program = {
		.pid = (uint32_t)(who >> 32),
		.user = (uint32_t)who,
		.spans = counter_see(&place->counts.spans),
		.errors = counter_see(&place->counts.errors),
		.timed = counter_see(&place->counts.timed),
		.sum = counter_see(&place->counts.sum),
		.max = counter_see(&place->counts.max),
	};
	char name[NAMES_TEXT_MAX];

	see_name(place, name);
	if (!program.spans || version % 2 || atomic_load(&place->version) != version)
		return;
	name[sizeof(name) - 1] = '\0';
	program.name = index ? g_utf8_make_valid(name, -1) : NULL;
	g_array_append_val(snapshot->programs, program);
}

void statistics_read(const struct statistics *statistics, struct snapshot *snapshot)
{
	uint32_t cells = atomic_load_explicit(&statistics->cell_count, memory_order_acquire),
		 places = atomic_load_explicit(&statistics->place_count, memory_order_acquire);

	snapshot_init(snapshot);
	snapshot->began = statistics->began;
	snapshot->age = clock_monotonic() - statistics->since;
	ledger_read(&snapshot->rows);
	snapshot->unnamed = counter_get(&statistics->unnamed);
	for (uint32_t i = 0; i < cells; i++)
		read_cell(statistics, &statistics->cells[i], snapshot);
	for (uint32_t i = 0; i < places; i++)
		read_place(&statistics->places[i], i, snapshot);
}
