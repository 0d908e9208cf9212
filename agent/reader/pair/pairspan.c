/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/pair/pairspan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <glib.h>

#include "base/clock.h"
#include "core/value.h"

#define LITERAL(literal) ((struct text){literal, sizeof(literal) - 1})
#define EXIT_PREFIX "exit."
/* The thread, and what is said of those that are not whole. */
#define OWN_TAGS 3
/* Among more tags than this, keys are found by their hash: a program may have each of its events compared
 * with hundreds. */
#define FEW_TAGS 16
#define SLOTS (2 * PAIR_TAGS_MAX)

void pair_memory_free(struct pair_memory *memory)
{
	g_free(memory->tags);
	g_free(memory->slots);
	buffer_free(&memory->keys);
}

static void allocate(struct pair_memory *memory)
{
	const int64_t now = clock_wall();

	memory->tags = g_new(struct tag, 2 * PAIR_TAGS_MAX + OWN_TAGS);
	memory->slots = g_new(uint16_t, SLOTS);
	if (getrandom(memory->secret, sizeof(memory->secret), 0) != sizeof(memory->secret))
		memcpy(memory->secret, &now, sizeof(now));
}

/* Where the key's tag stands, counted from 1, or is to stand: there is 0. Half of them are free. */
static uint16_t *slot_of(struct pair_memory *memory, struct text key)
{
	size_t at = siphash(memory->secret, key.data, key.size) % SLOTS;

	while (memory->slots[at] && !text_is_equal(memory->tags[memory->slots[at] - 1].key, key))
		at = (at + 1) % SLOTS;
	return &memory->slots[at];
}

/* Of @count tags, if they are many. */
static void put_into_slots(struct pair_memory *memory, size_t count)
{
	if (count <= FEW_TAGS)
		return;
	memset(memory->slots, 0, SLOTS * sizeof(*memory->slots));
	for (size_t i = 0; i < count; i++) {
		uint16_t *slot = slot_of(memory, memory->tags[i].key);

		if (!*slot)
			*slot = (uint16_t)(i + 1);
	}
}

/* The first of @count tags that has the key; NULL if none has. */
static const struct tag *find_key(struct pair_memory *memory, size_t count, struct text key)
{
	uint16_t number;

	if (count > FEW_TAGS) {
		number = *slot_of(memory, key);
		return number ? &memory->tags[number - 1] : NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (text_is_equal(memory->tags[i].key, key))
			return &memory->tags[i];
	return NULL;
}

/* The key with the prefix; there is room, so that nothing moves. */
static struct text with_prefix(struct buffer *keys, struct text key)
{
	struct text made = {(const char *)keys->data + keys->size, key.size + (uint32_t)strlen(EXIT_PREFIX)};

	buffer_put(keys, EXIT_PREFIX, strlen(EXIT_PREFIX));
	buffer_put(keys, key.data, key.size);
	return made;
}

/* Lays out the fields of one event behind @count tags; returns how many there are then. @is_cut is set if
 * that is not all. */
static size_t lay_out(struct pair_memory *memory, size_t count, struct text fields, bool *is_cut)
{
	const size_t before = count;
	const struct tag *same;
	struct tag tag;

	put_into_slots(memory, before);
	while (value_next(&fields, true, &tag)) {
		if (count - before == PAIR_TAGS_MAX) {
			*is_cut = true;
			break;
		}
		same = find_key(memory, before, tag.key);
		if (same && same->type == tag.type && text_is_equal(same->value, tag.value))
			continue;
		if (same)
			tag.key = with_prefix(&memory->keys, tag.key);
		memory->tags[count++] = tag;
	}
	return count;
}

/* The text of the thread's tag is behind the keys. */
static struct tag thread_tag(const struct pair *pair, struct pair_memory *memory)
{
	char *digits = (char *)buffer_reserve(&memory->keys, 24);
	/* of the threads of that number each processor has one: pairs.h */
	int size = snprintf(digits, 24, "%" PRId64, MAX(pair->key.tid, 0));

	return (struct tag){LITERAL("thread.id"), {digits, (uint32_t)size}, TAG_INT};
}

/* What a span has that has values which Zipkin has no word for: encoders know them by that. */
static const struct span_more *more_of(const struct tag *tags, size_t count)
{
	static const struct span_more ours = {.ours = true};

	for (size_t i = 0; i < count; i++)
		if (tags[i].type >= TAG_BYTES)
			return &ours;
	return NULL;
}

struct span pair_span(const struct pair *pair, struct pair_memory *memory)
{
	const int64_t pid = pair->key.pid;
	bool is_cut = pair->is_cut;
	size_t count;

	if (!memory->tags)
		allocate(memory);
	memory->keys.size = 0;
	buffer_reserve(&memory->keys, pair->exit_size + PAIR_TAGS_MAX * strlen(EXIT_PREFIX) + 24);
	count = lay_out(memory, 0, pair_enter(pair), &is_cut);
	count = lay_out(memory, count, pair_exit(pair), &is_cut);
	memory->tags[count++] = thread_tag(pair, memory);
	if (!pair->duration)
		memory->tags[count++] = (struct tag){LITERAL(PAIR_UNFINISHED), pair_events(pair), TAG_TEXT};
	if (is_cut)
		memory->tags[count++] =
			(struct tag){LITERAL("blkin.truncated"), LITERAL("fields of its events"), TAG_TEXT};
	return (struct span){
		.trace_id = pair->trace_id,
		.id = pair->id,
		.parent_id = pair->parent_id,
		.kind = SPAN_LOCAL,
		.timestamp = pair->time,
		.duration = pair->duration,
		.name = pair_name(pair),
		.pid = pid > 0 && pid <= UINT32_MAX ? (uint32_t)pid : 0,
		.program = pair_program(pair),
		.has_user = pair->key.has_user,
		.user = pair->key.user,
		.local = {.service = pair_program(pair)},
		.tags = memory->tags,
		.tag_count = count,
		.more = more_of(memory->tags, count),
		.last_event = pair->time + pair->duration,
	};
}
