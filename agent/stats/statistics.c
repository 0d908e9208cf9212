/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/statistics.h"

#include <string.h>

#include "base/clock.h"
#include "base/pack.h"
#include "base/sanitize.h"
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
	statistics->failures = exemplars_create(STATISTICS_SERIES_MAX + 1);
	statistics->places = g_new0(struct place, STATISTICS_PROGRAMS_MAX + 1);
	statistics->parts_born = g_malloc0_n(PARTS_MAX, sizeof(*statistics->parts_born));
	statistics->parts_free = g_new0(uint16_t, PARTS_MAX);
	statistics->shares = g_new0(struct share, SHARES_MAX + 1);
	statistics->retired = g_ptr_array_new_with_free_func(g_free);
	pthread_mutex_init(&statistics->lock, NULL);
	pthread_mutex_init(&statistics->counting, NULL);
	for (unsigned i = 0; i < STATISTICS_NAMERS; i++)
		statistics->namers[i] = (struct namer){
			.statistics = statistics,
			.series = g_new0(uint16_t, NAMES_SERIES),
			.waiting = g_new0(struct waiting *, NAMES_SERIES),
			.programs = g_new0(struct known_program, NAMES_PROGRAMS),
		};
	/* no hash table: programs could choose names that all have the same hash */
	statistics->by_name = g_tree_new_full(compare_keys, NULL, g_free, NULL);
	statistics->cell_count = statistics->place_count = statistics->part_count = 1;
	statistics->share_count = 1;
	return statistics;
}

static void forget_numbers(struct namer *namer)
{
	for (uint32_t i = 0; i < NAMES_SERIES; i++)
		if (namer->waiting[i])
			room_forget(namer, i);
}

static void free_namer(struct namer *namer)
{
	forget_numbers(namer);
	g_free(namer->series);
	g_free(namer->waiting);
	g_free(namer->programs);
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
	g_free(statistics->parts_born);
	g_free(statistics->parts_free);
	for (unsigned i = 0; i < STATISTICS_NAMERS; i++)
		free_namer(&statistics->namers[i]);
	g_free(statistics->shares);
	g_ptr_array_unref(statistics->retired);
	histogram_clear(&statistics->gone_histogram);
	pthread_mutex_destroy(&statistics->lock);
	pthread_mutex_destroy(&statistics->counting);
	exemplars_destroy(statistics->exemplars);
	exemplars_destroy(statistics->failures);
	g_free(statistics->places);
	g_tree_unref(statistics->by_name);
	g_free(statistics);
}

struct namer *statistics_namer(struct statistics *statistics, unsigned who)
{
	return &statistics->namers[who];
}

void statistics_hold(struct namer *namer)
{
	pthread_mutex_lock(&namer->statistics->counting);
}

void statistics_release(struct namer *namer)
{
	pthread_mutex_unlock(&namer->statistics->counting);
}

void statistics_begin(struct namer *namer)
{
	memset(namer->series, 0, NAMES_SERIES * sizeof(*namer->series));
	memset(namer->programs, 0, NAMES_PROGRAMS * sizeof(*namer->programs));
	forget_numbers(namer);
	namer->told = false;
}

/* Words */

/* As it is shown: names that look alike are one, here and wherever they are read. */
static char *take_text(struct unpacker *from)
{
	struct unpacker bytes = unpack_bytes(from);
	g_autofree char *text = bytes.failed
					? g_strdup("")
					: g_strndup((const char *)bytes.at, (size_t)(bytes.end - bytes.at));

	return words_show(text);
}

/* A name that is new gets its series with its first span, which tells whose it is. */
static void take_series(struct namer *namer, struct unpacker *words, uint32_t number)
{
	g_autofree char *service = take_text(words), *name = take_text(words);
	g_autofree char *key = g_strconcat(service, "\xff", name, NULL); /* which is in no UTF-8 */
	uint32_t cell = GPOINTER_TO_UINT(g_tree_lookup(namer->statistics->by_name, key));

	room_forget(namer, number);
	if (cell)
		namer->series[number] = (uint16_t)(cell + 1);
	else
		room_wait(namer, number, key);
}

static void take_program(struct namer *namer, struct unpacker *words, uint32_t number)
{
	struct known_program *program = &namer->programs[number];
	g_autofree char *name = take_text(words);

	program->known = true;
	g_strlcpy(program->name, name, sizeof(program->name));
	program->pid = unpack_u32(words);
	program->user = unpack_u32(words);
	program->share = share_of(namer->statistics, program->user);
	place_find(namer->statistics, program);
}

static bool take_words(struct namer *namer, struct unpacker *words)
{
	uint8_t kind = unpack_u8(words);
	uint32_t number = unpack_u32(words);

	if (words->failed || number >= (kind == NAMES_OF_SERIES ? NAMES_SERIES : NAMES_PROGRAMS))
		return false;
	namer->told = true;
	if (kind == NAMES_OF_SERIES)
		take_series(namer, words, number);
	else if (kind == NAMES_OF_PROGRAM)
		take_program(namer, words, number);
	return kind <= NAMES_OF_PROGRAM && !words->failed;
}

/* Counting */

/* So many spans ahead what is counted is fetched; with so few series it is in the cache anyway. */
#define CELLS_AHEAD 16
#define PARTS_AHEAD 8
#define FEW 256

static inline unsigned octave_of(const struct trait *trait)
{
	return histogram_bucket(trait->duration) / HISTOGRAM_STEPS;
}

/* The part that is noted there; if none is, the next one, of those below @end. 0: there is none left. */
static uint16_t find_part(struct statistics *statistics, _Atomic uint16_t *at, uint32_t end)
{
	uint16_t part = atomic_load_explicit(at, memory_order_relaxed);

	if (G_LIKELY(part))
		return part;
	part = room_take_part(statistics, end);
	if (part)
		atomic_store_explicit(at, part, memory_order_release);
	return part;
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

static bool take_span(struct namer *namer, const struct named *named, const struct trait *trait)
{
	struct statistics *statistics = namer->statistics;
	struct known_program *program;
	struct place *place;
	struct cell *cell;
	uint32_t series;

	if (named->series >= NAMES_SERIES || named->program >= NAMES_PROGRAMS)
		return false;
	program = &namer->programs[named->program];
	series = namer->series[named->series];
	if (!series || !program->known)
		return false;
	if (G_UNLIKELY(series == 1))
		series = room_find(namer, named->series, program->share) + 1;
	cell = &statistics->cells[series - 1];
	cell->last = statistics->now;
	if (trait->duration)
		count_bucket(statistics, cell, trait);
	if (trait->error)
		exemplars_offer(statistics->failures, series - 1, trait);
	count_span(&cell->counts, trait);
	place = &statistics->places[program->index];
	if (G_UNLIKELY(atomic_load_explicit(&place->version, memory_order_relaxed) !=
		       program->version)) { /* it had to make room */
		place_find(statistics, program);
		place = &statistics->places[program->index];
	}
	place->last = statistics->turn;
	count_span(&place->counts, trait);
	return true;
}

static struct named named_at(const struct items *spans, uint32_t i)
{
	struct named named;

	memcpy(&named, spans->named + i * sizeof(named), sizeof(named));
	return named;
}

/*
 * Of many series most are in no cache, and each span would wait for its series, and then for the part of its
 * histogram: both are fetched while spans before it are counted. What is not known yet, or is wrong, only
 * comes late.
 */
static void fetch_cell(const struct namer *namer, const struct items *spans, uint32_t i)
{
	const struct statistics *statistics = namer->statistics;
	struct named named = named_at(spans, i);
	struct trait trait = spans->traits[i];
	uint32_t series = named.series < NAMES_SERIES ? namer->series[named.series] : 0;

	if (!series)
		return;
	__builtin_prefetch(&statistics->cells[series - 1].counts, 1);
	__builtin_prefetch(&statistics->cells[series - 1].part[octave_of(&trait)], 1);
}

static void fetch_part(const struct namer *namer, const struct items *spans, uint32_t i)
{
	const struct statistics *statistics = namer->statistics;
	struct named named = named_at(spans, i);
	struct trait trait = spans->traits[i];
	uint32_t series = named.series < NAMES_SERIES ? namer->series[named.series] : 0;
	uint16_t part;

	if (!series)
		return;
	part = atomic_load_explicit(
		&statistics->cells[series - 1].part[octave_of(&trait)], memory_order_relaxed);
	__builtin_prefetch(&statistics->parts[part][histogram_bucket(trait.duration) % HISTOGRAM_STEPS], 1);
	exemplars_fetch(statistics->exemplars, part);
}

static void fetch_ahead(const struct namer *namer, const struct items *spans, uint32_t i)
{
	if (i + CELLS_AHEAD < items_count(spans))
		fetch_cell(namer, spans, i + CELLS_AHEAD);
	if (i + PARTS_AHEAD < items_count(spans))
		fetch_part(namer, spans, i + PARTS_AHEAD);
}

bool statistics_take(struct namer *namer, const struct items *spans)
{
	struct statistics *statistics = namer->statistics;
	bool many = atomic_load_explicit(&statistics->cell_count, memory_order_relaxed) > FEW;
	struct unpacker words = unpacker_of(spans->words, spans->words_size);
	uint32_t next = words.at < words.end ? unpack_u32(&words) : UINT32_MAX;
	int64_t now = clock_wall();

	statistics->turn++;
	statistics->now = clock_monotonic();
	exemplars_set_time(statistics->exemplars, now);
	exemplars_set_time(statistics->failures, now);
	for (uint32_t i = 0; i < items_count(spans); i++) {
		struct named named = named_at(spans, i);
		struct trait trait = spans->traits[i];

		while (next <= i) {
			if (!take_words(namer, &words))
				return false;
			next = words.at < words.end ? unpack_u32(&words) : UINT32_MAX;
		}
		if (many)
			fetch_ahead(namer, spans, i);
		if (!take_span(namer, &named, &trait))
			return false;
	}
	return next == UINT32_MAX && !words.failed;
}

void statistics_give(const struct namer *namer, const struct items *spans, struct traces *traces)
{
	const struct statistics *statistics = namer->statistics;
	size_t late, failed;
	const uint64_t *are_late = exemplars_taken(statistics->exemplars, &late),
		       *have_failed = exemplars_taken(statistics->failures, &failed);

	traces_take(traces, NULL, have_failed, failed);
	traces_take(traces, spans, are_late, late);
}

uint32_t statistics_series_of(const struct namer *namer, const struct items *spans, uint32_t i,
	const char **service, const char **name, uint32_t *era)
{
	const struct statistics *statistics = namer->statistics;
	const struct cell *cell = &statistics->cells[namer->series[named_at(spans, i).series] - 1];

	*service = cell->service;
	*name = cell->name;
	*era = atomic_load_explicit(&cell->era, memory_order_relaxed);
	return (uint32_t)(cell - statistics->cells);
}

uint32_t statistics_user_of(const struct namer *namer, const struct items *spans, uint32_t i)
{
	return namer->programs[named_at(spans, i).program].user;
}

/* Looking */

static void read_cell(const struct statistics *statistics, const struct cell *cell, struct snapshot *snapshot)
{
	struct series series = {0};
	struct sums its;
	LOCK_SERIES(statistics);

	its = cell_sums(cell);
	if (!its.spans)
		return;
	series.fine = cell_is_fine(statistics, cell);
	series.spans = its.spans;
	series.errors = its.errors;
	series.timed = its.timed;
	series.sum = its.sum;
	series.max = its.max;
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

	place_see_name(place, name);
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
