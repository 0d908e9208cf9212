/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/bytrace.h"

#include <inttypes.h>
#include <stdio.h>

#include <glib.h>

#include "queue/item.h"
#include "queue/tracehash.h"

static struct trace_id id_of(uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	struct trait trait;

	item_trait(&trait, format, item, size, memory);
	return (struct trace_id){trait.trace_id_high, trait.trace_id};
}

/* The spans of a group are a list. */
struct groups {
	GHashTable *last;     /* of each group: its id to its last span's number + 1 */
	GArray *first;        /* uint32_t of each group, in their order: its first span */
	uint32_t *next;       /* of each span: the next one of its group; UINT32_MAX: it is the last */
	const uint8_t **item; /* of each span: its bytes */
	struct trace_id *id;  /* of each span */
};

static void add(struct groups *groups, uint32_t number)
{
	gpointer last = g_hash_table_lookup(groups->last, &groups->id[number]);

	groups->next[number] = UINT32_MAX;
	if (last)
		groups->next[GPOINTER_TO_UINT(last) - 1] = number;
	else
		g_array_append_val(groups->first, number);
	g_hash_table_insert(groups->last, &groups->id[number], GUINT_TO_POINTER(number + 1));
}

static void find(struct groups *groups, const struct batch *batch)
{
	struct span_memory memory = {0};
	const uint8_t *at = batch->spans.data;

	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++]) {
		groups->item[i] = at;
		groups->id[i] = id_of(batch->format, at, batch_sizes(batch)[i], &memory);
		add(groups, i);
	}
	span_memory_free(&memory);
}

static struct batch *put_together(const struct groups *groups, const struct batch *batch)
{
	struct batch *to = batch_create(batch->format, batch->count, batch->spans.size);

	to->born = batch->born;
	to->rules = batch->rules;
	to->otlp_names = batch->otlp_names;
	for (guint g = 0; g < groups->first->len; g++)
		for (uint32_t i = g_array_index(groups->first, uint32_t, g); i != UINT32_MAX;
			i = groups->next[i])
			batch_add(to, groups->item[i], batch_sizes(batch)[i], batch_events(batch)[i]);
	return to;
}

void bytrace_group(struct queue *queue, struct entry *entry)
{
	const struct batch *batch = entry->batch;
	struct groups groups = {
		.last = g_hash_table_new(tracehash, tracehash_equal),
		.first = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.next = g_new(uint32_t, batch->count),
		.item = g_new(const uint8_t *, batch->count),
		.id = g_new(struct trace_id, batch->count),
	};

	find(&groups, batch);
	if (groups.first->len > 1)
		queue_exchange(queue, entry, put_together(&groups, batch));
	g_hash_table_unref(groups.last);
	g_array_unref(groups.first);
	g_free(groups.next);
	g_free(groups.item);
	g_free(groups.id);
}

static void print(const struct trace_id *id, char key[BYTRACE_KEY])
{
	if (id->high)
		snprintf(key, BYTRACE_KEY, "%016" PRIx64 "%016" PRIx64, id->high, id->low);
	else
		snprintf(key, BYTRACE_KEY, "%016" PRIx64, id->low);
}

void bytrace_key(uint8_t format, const uint8_t *span, size_t size, char key[BYTRACE_KEY])
{
	struct span_memory memory = {0};
	const struct trace_id id = id_of(format, span, size, &memory);

	span_memory_free(&memory);
	print(&id, key);
}

uint32_t bytrace_run(const struct batch *batch, uint32_t first, uint32_t count, char key[BYTRACE_KEY])
{
	const uint32_t *sizes = batch_sizes(batch);
	const uint8_t *at = batch->spans.data;
	struct span_memory memory = {0};
	uint32_t same = 1;
	struct trace_id id;

	for (uint32_t i = 0; i < first; i++)
		at += sizes[i];
	id = id_of(batch->format, at, sizes[first], &memory);
	for (; same < count; same++) {
		struct trace_id other;

		at += sizes[first + same - 1];
		other = id_of(batch->format, at, sizes[first + same], &memory);
		if (!tracehash_equal(&id, &other))
			break;
	}
	span_memory_free(&memory);
	print(&id, key);
	return same;
}
