/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/names.h"

#include <string.h>

#include <glib.h>

#include "base/pack.h"

/* Each text may be in one of so many places, which are one line of the processor's cache. With ten thousand
 * texts that are all in use, as good as none has to make room for another one. */
#define WAYS 8

struct names {
	_Alignas(64) uint64_t series[NAMES_SERIES]; /* the hash of what has the place; 0: nothing */
	uint64_t programs[NAMES_PROGRAMS];
	uint64_t seed, turn;
};

struct names *names_create(void)
{
	struct names *names = g_aligned_alloc0(1, sizeof(*names), _Alignof(struct names));

	/* so that nobody can choose names which share a place */
	names->seed = (uint64_t)g_random_int() << 32 | g_random_int();
	return names;
}

void names_destroy(struct names *names)
{
	g_aligned_free(names);
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *at, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);
	return word;
}

/* Two hashes that are equal are taken for two texts that are: of 64 bits, with a seed that nobody knows. */
static inline uint64_t hash_text(uint64_t hash, struct text text)
{
	const char *at = text.data;
	uint32_t left = text.size;

	for (; left > 8; left -= 8, at += 8)
		hash = mix(hash ^ load(at, 8), UINT64_C(0x9e3779b97f4a7c15));
	if (text.size >= 8) /* what is left, with some of what was before it */
		hash ^= load(at + left - 8, 8);
	else if (left >= 4)
		hash ^= load(at, 4) << 32 | load(at + left - 4, 4);
	else if (left)
		hash ^= load(at, 1) | load(at + left / 2, 1) << 8 | load(at + left - 1, 1) << 16;
	return mix(hash, UINT64_C(0xd6e8feb86659fd93) + text.size);
}

/* The first of the places where it may be. */
static inline uint32_t first_of(uint64_t hash, uint32_t places)
{
	return (uint32_t)(hash >> 32) & (places - 1) & ~(uint32_t)(WAYS - 1);
}

/* The place that has it, or gets it: then @new is true. */
static inline uint32_t find(struct names *names, uint64_t *table, uint32_t places, uint64_t hash, bool *new)
{
	uint32_t first = first_of(hash, places);

	hash |= 1; /* never 0 */
	for (uint32_t i = first; i < first + WAYS; i++)
		if (table[i] == hash)
			return i;
	*new = true;
	for (uint32_t i = first; i < first + WAYS; i++) {
		if (!table[i]) {
			table[i] = hash;
			return i;
		}
	}
	first += names->turn++ & (WAYS - 1);
	table[first] = hash;
	return first;
}

static void put_head(struct buffer *words, uint32_t at, enum names_kind kind, uint32_t place)
{
	pack_u32(words, at);
	pack_u8(words, (uint8_t)kind);
	pack_u32(words, place);
}

static void put_text(struct buffer *words, struct text text)
{
	pack_bytes(words, text.data, MIN(text.size, NAMES_TEXT_MAX));
}

static inline uint32_t user_of(const struct span *span)
{
	return span->has_user ? span->user : UINT32_MAX;
}

struct name_keys names_keys(const struct names *names, const struct span *span)
{
	struct name_keys keys = {.series = hash_text(hash_text(names->seed, span->local.service), span->name),
		.program =
			hash_text(names->seed ^ ((uint64_t)user_of(span) << 32 | span->pid), span->program)};

	__builtin_prefetch(&names->series[first_of(keys.series, NAMES_SERIES)]);
	__builtin_prefetch(&names->programs[first_of(keys.program, NAMES_PROGRAMS)]);
	return keys;
}

struct named names_of(struct names *names, const struct span *span, const struct name_keys *keys, uint32_t at,
	struct buffer *words)
{
	struct named named;
	bool new = false;

	named.series = find(names, names->series, NAMES_SERIES, keys->series, &new);
	if (G_UNLIKELY(new)) {
		put_head(words, at, NAMES_OF_SERIES, named.series);
		put_text(words, span->local.service);
		put_text(words, span->name);
	}
	new = false;
	named.program = find(names, names->programs, NAMES_PROGRAMS, keys->program, &new);
	if (G_UNLIKELY(new)) {
		put_head(words, at, NAMES_OF_PROGRAM, named.program);
		put_text(words, span->program);
		pack_u32(words, span->pid);
		pack_u32(words, user_of(span));
	}
	return named;
}
