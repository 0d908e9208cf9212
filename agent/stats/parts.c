/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/parts.h"

#define PARTS_MAX 60000

typedef _Atomic uint64_t number;

/* Whoever looks at an exemplar sees the same version before and after, or none. */
struct part {
	number counts[HISTOGRAM_STEPS];
	_Atomic uint32_t version; /* odd: it changes */
	uint32_t turn;            /* that it is of */
	number trace_id_high, trace_id, duration, time;
};

struct parts {
	struct part *all; /* touched, and so taken, only as far as they are used */
	uint32_t used, turn;
	int64_t time;
};

/* There is one writer: it needs no locked instruction. */
static inline uint64_t get(const number *of)
{
	return atomic_load_explicit(of, memory_order_relaxed);
}

static inline void set(number *of, uint64_t to)
{
	atomic_store_explicit(of, to, memory_order_relaxed);
}

struct parts *parts_create(void)
{
	struct parts *parts = g_new0(struct parts, 1);

	parts->all = g_new0(struct part, PARTS_MAX);
	parts->used = 1;
	return parts;
}

void parts_destroy(struct parts *parts)
{
	g_free(parts->all);
	g_free(parts);
}

void parts_begin_turn(struct parts *parts, int64_t time)
{
	parts->turn++;
	parts->time = time;
}

/* The part of an octave, made if there is room; NULL: there is none. */
static struct part *part_for(struct parts *parts, struct octaves *of, unsigned octave)
{
	uint16_t index = atomic_load_explicit(&of->part[octave], memory_order_relaxed);

	if (G_LIKELY(index))
		return &parts->all[index];
	if (parts->used == PARTS_MAX) {
		atomic_store_explicit(&of->cut, true, memory_order_relaxed);
		return NULL;
	}
	index = (uint16_t)parts->used++;
	atomic_store_explicit(&of->part[octave], index, memory_order_release);
	return &parts->all[index];
}

static void show(const struct parts *parts, struct part *part, const struct trait *trait)
{
	uint32_t version = atomic_load_explicit(&part->version, memory_order_relaxed);

	part->turn = parts->turn;
	atomic_store_explicit(&part->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	set(&part->trace_id_high, trait->trace_id_high);
	set(&part->trace_id, trait->trace_id);
	set(&part->duration, trait->duration);
	set(&part->time, (uint64_t)parts->time);
	atomic_store_explicit(&part->version, version + 2, memory_order_release);
}

void parts_count(struct parts *parts, struct octaves *of, const struct trait *trait, const struct keep *shown)
{
	unsigned bucket = histogram_bucket(trait->duration);
	struct part *part = part_for(parts, of, bucket / HISTOGRAM_STEPS);
	number *count;

	if (!part)
		return;
	count = &part->counts[bucket % HISTOGRAM_STEPS];
	set(count, get(count) + 1);
	if (G_UNLIKELY(part->turn != parts->turn) && keep_takes(shown, trait))
		show(parts, part, trait);
}

void parts_read(const struct parts *parts, const struct octaves *of, struct histogram *histogram)
{
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t index = atomic_load_explicit(&of->part[octave], memory_order_acquire);

		for (unsigned i = 0; index && i < HISTOGRAM_STEPS; i++) {
			uint64_t count = get(&parts->all[index].counts[i]);

			if (count)
				histogram_append(histogram, octave * HISTOGRAM_STEPS + i, count);
		}
	}
}

static struct exemplar read_exemplar(const struct part *part)
{
	uint32_t version = atomic_load_explicit(&part->version, memory_order_acquire);
	struct exemplar exemplar = {
		.trace_id_high = get(&part->trace_id_high),
		.trace_id = get(&part->trace_id),
		.duration = get(&part->duration),
		.time = (int64_t)get(&part->time),
	};

	atomic_thread_fence(memory_order_acquire);
	if (version % 2 || atomic_load_explicit(&part->version, memory_order_relaxed) != version)
		return (struct exemplar){0};
	return exemplar;
}

void parts_read_exemplars(const struct parts *parts, const struct octaves *of, struct exemplar *exemplars)
{
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t index = atomic_load_explicit(&of->part[octave], memory_order_acquire);

		exemplars[octave] = index ? read_exemplar(&parts->all[index]) : (struct exemplar){0};
	}
}
