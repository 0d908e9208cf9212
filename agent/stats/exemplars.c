/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/exemplars.h"

#include <stdatomic.h>

#include <glib.h>

typedef _Atomic uint64_t number;

/*
 * Whoever looks sees the same version before and after, or nothing. The order of these is that of each
 * store and load, as ThreadSanitizer knows no fences.
 */
struct slot {
	_Atomic uint32_t version; /* odd: it changes */
	uint32_t turn;            /* that it is of */
	number trace_id_high, trace_id, duration, time;
};

struct exemplars {
	struct slot *slots; /* touched, and so taken, only as far as they are used */
	uint32_t turn;
	int64_t time;
	GArray *taken;         /* of uint64_t: exemplars_taken */
	struct keep keep;      /* of this turn: */
	number one_in, slower; /* a struct keep */
	_Atomic bool errors;
};

static inline uint64_t get(const number *of)
{
	return atomic_load_explicit(of, memory_order_relaxed);
}

static inline void set(number *of, uint64_t to)
{
	atomic_store_explicit(of, to, memory_order_relaxed);
}

struct exemplars *exemplars_create(uint32_t count)
{
	struct exemplars *exemplars = g_new0(struct exemplars, 1);

	exemplars->slots = g_new0(struct slot, count);
	exemplars->taken = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return exemplars;
}

void exemplars_destroy(struct exemplars *exemplars)
{
	g_free(exemplars->slots);
	g_array_unref(exemplars->taken);
	g_free(exemplars);
}

void exemplars_choose(struct exemplars *exemplars, const struct keep *keep)
{
	set(&exemplars->one_in, keep->one_in);
	set(&exemplars->slower, (uint64_t)keep->slower);
	atomic_store_explicit(&exemplars->errors, keep->errors, memory_order_relaxed);
}

void exemplars_set_time(struct exemplars *exemplars, int64_t time)
{
	g_array_set_size(exemplars->taken, 0);
	if (time >= exemplars->time && time - exemplars->time < EXEMPLARS_NS)
		return;
	exemplars->turn++;
	exemplars->time = time;
	exemplars->keep = (struct keep){
		.one_in = get(&exemplars->one_in),
		.slower = (int64_t)get(&exemplars->slower),
		.errors = atomic_load_explicit(&exemplars->errors, memory_order_relaxed),
	};
}

const uint64_t *exemplars_taken(const struct exemplars *exemplars, size_t *count)
{
	*count = exemplars->taken->len;
	return (const uint64_t *)(const void *)exemplars->taken->data;
}

static void put(const struct exemplars *exemplars, struct slot *slot, const struct exemplar *exemplar)
{
	uint32_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

	slot->turn = exemplars->turn;
	atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
	atomic_store_explicit(&slot->trace_id_high, exemplar->trace_id_high, memory_order_release);
	atomic_store_explicit(&slot->trace_id, exemplar->trace_id, memory_order_release);
	atomic_store_explicit(&slot->duration, exemplar->duration, memory_order_release);
	atomic_store_explicit(&slot->time, (uint64_t)exemplar->time, memory_order_release);
	atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

void exemplars_fetch(const struct exemplars *exemplars, uint32_t part)
{
	__builtin_prefetch(&exemplars->slots[part], 1);
}

void exemplars_offer(struct exemplars *exemplars, uint32_t part, const struct trait *trait)
{
	struct slot *slot = &exemplars->slots[part];
	uint64_t trace = trait->trace_id;
	bool rare;

	if (G_LIKELY(slot->turn == exemplars->turn) || !keep_takes(&exemplars->keep, trait))
		return;
	rare = exemplars->time - (int64_t)get(&slot->time) >= EXEMPLARS_RARE_NS;
	put(exemplars, slot,
		&(struct exemplar){trait->trace_id_high, trace, trait->duration, exemplars->time});
	if (rare)
		g_array_append_val(exemplars->taken, trace);
}

void exemplars_forget(struct exemplars *exemplars, uint32_t part)
{
	if (exemplars->slots[part].turn) {
		put(exemplars, &exemplars->slots[part], &(struct exemplar){0});
		exemplars->slots[part].turn = 0;
	}
}

struct exemplar exemplars_read(const struct exemplars *exemplars, uint32_t part)
{
	const struct slot *slot = &exemplars->slots[part];
	uint32_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
	struct exemplar exemplar = {
		.trace_id_high = atomic_load_explicit(&slot->trace_id_high, memory_order_acquire),
		.trace_id = atomic_load_explicit(&slot->trace_id, memory_order_acquire),
		.duration = atomic_load_explicit(&slot->duration, memory_order_acquire),
		.time = (int64_t)atomic_load_explicit(&slot->time, memory_order_acquire),
	};

	if (version % 2 || atomic_load_explicit(&slot->version, memory_order_relaxed) != version)
		return (struct exemplar){0};
	return exemplar;
}
