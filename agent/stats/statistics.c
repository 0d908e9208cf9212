/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/statistics.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/pack.h"
#include "queue/keep.h"
#include "stats/names.h"
#include "stats/parts.h"

typedef _Atomic uint64_t counter;

struct counts {
	counter spans, errors, timed, sum, max;
};

/* A series: what is before the counts never changes once it is there. */
struct cell {
	char *service, *name;
	struct counts counts;
	struct octaves octaves;
};

/* A program: whoever looks sees the same version before and after, or leaves it out. */
struct place {
	_Atomic uint32_t version; /* odd: it changes */
	uint32_t pid, user;
	char name[NAMES_TEXT_MAX];
	struct counts counts;
	uint64_t last; /* the turn that had a span of it */
};

/* The reader's number of a program, and what it means. */
struct known_program {
	bool known;
	uint32_t index, version;
	uint32_t pid, user;
	char name[NAMES_TEXT_MAX];
};

struct statistics {
	int64_t began, since; /* since the epoch; CLOCK_MONOTONIC */
	uint64_t turn;
	struct cell *cells;
	struct parts *parts;
	struct place *places;
	_Atomic uint32_t cell_count, place_count;
	counter unnamed;
	_Atomic uint64_t show_one_in, show_slower; /* a struct keep: of which traces exemplars are */
	_Atomic bool show_errors;
	GHashTable *by_name;  /* "service\1name" to the cell's number */
	struct cell **series; /* by the reader's number; NULL: it has not told */
	struct known_program *programs;
};

/* There is one writer: it needs no locked instruction. */
static inline uint64_t get(const counter *of)
{
	return atomic_load_explicit(of, memory_order_relaxed);
}

static inline void set(counter *of, uint64_t to)
{
	atomic_store_explicit(of, to, memory_order_relaxed);
}

static inline void add(counter *to, uint64_t more)
{
	set(to, get(to) + more);
}

struct statistics *statistics_create(void)
{
	struct statistics *statistics = g_new0(struct statistics, 1);

	statistics->began = clock_wall();
	statistics->since = clock_monotonic();
	/* touched, and so taken, only as far as there are names */
	statistics->cells = g_new0(struct cell, STATISTICS_SERIES_MAX + 1);
	statistics->parts = parts_create();
	statistics->places = g_new0(struct place, STATISTICS_PROGRAMS_MAX + 1);
	statistics->series = g_new0(struct cell *, NAMES_SERIES);
	statistics->programs = g_new0(struct known_program, NAMES_PROGRAMS);
	statistics->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	statistics->cell_count = statistics->place_count = 1;
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
	parts_destroy(statistics->parts);
	g_free(statistics->places);
	g_free(statistics->series);
	g_free(statistics->programs);
	g_hash_table_unref(statistics->by_name);
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
	g_autofree char *key = g_strconcat(service, "\1", name, NULL);
	uint32_t next = atomic_load_explicit(&statistics->cell_count, memory_order_relaxed);
	uint32_t index = GPOINTER_TO_UINT(g_hash_table_lookup(statistics->by_name, key));

	if (index)
		return &statistics->cells[index];
	if (next > STATISTICS_SERIES_MAX) {
		add(&statistics->unnamed, 1);
		return &statistics->cells[0];
	}
	statistics->cells[next].service = g_strdup(service);
	statistics->cells[next].name = g_strdup(name);
	g_hash_table_insert(statistics->by_name, g_steal_pointer(&key), GUINT_TO_POINTER(next));
	atomic_store_explicit(&statistics->cell_count, next + 1, memory_order_release);
	return &statistics->cells[next];
}

static void add_counts(struct counts *to, const struct counts *more)
{
	add(&to->spans, get(&more->spans));
	add(&to->errors, get(&more->errors));
	add(&to->timed, get(&more->timed));
	add(&to->sum, get(&more->sum));
	set(&to->max, MAX(get(&to->max), get(&more->max)));
}

static bool is_same(const struct place *place, const struct known_program *program)
{
	return place->pid == program->pid && place->user == program->user &&
	       !strcmp(place->name, program->name);
}

static void occupy(struct place *place, const struct known_program *program)
{
	atomic_fetch_add(&place->version, 1);
	place->pid = program->pid;
	place->user = program->user;
	memcpy(place->name, program->name, sizeof(place->name));
	memset(&place->counts, 0, sizeof(place->counts));
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
	program->version = places[i].version;
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

/* What the exemplars are to be of. */
static struct keep shown_of(const struct statistics *statistics)
{
	return (struct keep){
		.one_in = get(&statistics->show_one_in),
		.errors = atomic_load_explicit(&statistics->show_errors, memory_order_relaxed),
		.slower = (int64_t)get(&statistics->show_slower),
	};
}

static inline void count_span(struct counts *counts, const struct trait *trait)
{
	add(&counts->spans, 1);
	if (trait->error)
		add(&counts->errors, 1);
	if (!trait->duration)
		return;
	add(&counts->timed, 1);
	add(&counts->sum, trait->duration);
	if (trait->duration > get(&counts->max))
		set(&counts->max, trait->duration);
}

static bool take_span(struct statistics *statistics, const struct named *named, const struct trait *trait,
	const struct keep *shown)
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
		parts_count(statistics->parts, &cell->octaves, trait, shown);
	count_span(&cell->counts, trait);
	place = &statistics->places[program->index];
	if (G_UNLIKELY(place->version != program->version)) { /* it had to make room */
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
	const struct keep shown = shown_of(statistics);

	statistics->turn++;
	parts_begin_turn(statistics->parts, clock_wall());
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
		if (!take_span(statistics, &named, &trait, &shown))
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

/* Names are borrowed. */
static struct series series_of(const struct cell *cell)
{
	return (struct series){
		.service = cell->service,
		.name = cell->name,
		.spans = get(&cell->counts.spans),
		.errors = get(&cell->counts.errors),
		.timed = get(&cell->counts.timed),
		.sum = get(&cell->counts.sum),
		.max = get(&cell->counts.max),
		.whole = !atomic_load_explicit(&cell->octaves.cut, memory_order_relaxed),
	};
}

static void read_cell(const struct statistics *statistics, const struct cell *cell, struct snapshot *snapshot)
{
	struct series series = series_of(cell);

	if (!series.spans)
		return;
	series.service = g_strdup(series.service);
	series.name = g_strdup(series.name);
	parts_read(statistics->parts, &cell->octaves, &series.histogram);
	g_array_append_val(snapshot->series, series);
}

/* @index: 0 is the sum of those that made room. */
static void read_place(const struct place *place, uint32_t index, struct snapshot *snapshot)
{
	uint32_t version = atomic_load(&place->version);
	struct program program = {.pid = place->pid, .user = place->user};
	char name[NAMES_TEXT_MAX];

	memcpy(name, place->name, sizeof(name));
	program.spans = get(&place->counts.spans);
	program.errors = get(&place->counts.errors);
	program.timed = get(&place->counts.timed);
	program.sum = get(&place->counts.sum);
	program.max = get(&place->counts.max);
	atomic_thread_fence(memory_order_acquire);
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
	snapshot->unnamed = get(&statistics->unnamed);
	for (uint32_t i = 0; i < cells; i++)
		read_cell(statistics, &statistics->cells[i], snapshot);
	for (uint32_t i = 0; i < places; i++)
		read_place(&statistics->places[i], i, snapshot);
}

void statistics_each(const struct statistics *statistics, statistics_see *see, void *data)
{
	uint32_t count = atomic_load_explicit(&statistics->cell_count, memory_order_acquire);
	struct exemplar exemplars[HISTOGRAM_OCTAVES];
	struct histogram histogram = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = &statistics->cells[i];
		struct series series = series_of(cell);

		histogram.used = 0;
		parts_read(statistics->parts, &cell->octaves, &histogram);
		parts_read_exemplars(statistics->parts, &cell->octaves, exemplars);
		series.histogram = histogram;
		see(data, i, &series, exemplars);
	}
	histogram_clear(&histogram);
}

void statistics_show(struct statistics *statistics, const struct keep *keep)
{
	set(&statistics->show_one_in, keep->one_in);
	set(&statistics->show_slower, (uint64_t)keep->slower);
	atomic_store_explicit(&statistics->show_errors, keep->errors, memory_order_relaxed);
}
