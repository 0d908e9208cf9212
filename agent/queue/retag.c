/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/retag.h"

#include <glib.h>

static enum tagedit_result edit(struct buffer *out, uint8_t format, struct text item,
	const struct tagrules *rules, struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	switch (format) {
	case BATCH_ZIPKIN_SPANS:
		return tagedit_thrift(out, item, rules, memory, counts);
	case BATCH_ZIPKIN_JSON:
		return tagedit_json(out, item, rules, memory, counts);
	case BATCH_OTLP_SPANS:
		return tagedit_otlp(out, item, rules, memory, counts);
	default:
		return TAGEDIT_NO_SPAN;
	}
}

/* The items before the first that changes are taken over together. */
static struct batch *begin(const struct batch *items, const uint8_t *at, uint32_t count)
{
	struct batch *to = batch_create(items->format, items->count, items->spans.size);

	buffer_put(&to->spans, items->spans.data, (size_t)(at - items->spans.data));
	buffer_put(&to->sizes, items->sizes.data, count * sizeof(uint32_t));
	buffer_put(&to->events, items->events.data, count * sizeof(int64_t));
	to->count = count;
	to->born = items->born;
	return to;
}

struct batch *retag(const struct batch *items, const struct tagrules *rules, struct tagedit_counts *counts)
{
	struct tagedit_memory memory = {0};
	struct buffer changed = {0};
	const uint8_t *at = items->spans.data;
	struct batch *to = NULL;

	for (uint32_t i = 0; i < items->count; at += batch_sizes(items)[i++]) {
		uint32_t size = batch_sizes(items)[i];
		enum tagedit_result result = TAGEDIT_SAME;

		changed.size = 0;
		if (size) /* or else it was too large */
			result = edit(&changed, items->format, (struct text){(const char *)at, size}, rules,
				&memory, counts);
		if (result != TAGEDIT_SAME && !to)
			to = begin(items, at, i);
		if (result == TAGEDIT_SAME && to)
			batch_add(to, at, size, batch_events(items)[i]);
		else if (to)
			batch_add(to, changed.data, result == TAGEDIT_CHANGED ? changed.size : 0,
				batch_events(items)[i]);
	}
	if (to)
		to->rules = rules;
	buffer_free(&changed);
	tagedit_free(&memory);
	return to;
}

/* Refuses what has become empty; returns the rest, and takes over @to. */
static struct batch *refuse_empty(struct queue *queue, const struct entry *entry, struct batch *to)
{
	g_autofree uint8_t *empty = g_malloc0(to->count);
	struct batch *rest;
	uint32_t count = 0;

	for (uint32_t i = 0; i < to->count; i++) {
		empty[i] = !batch_sizes(to)[i] && batch_sizes(entry->batch)[i];
		count += empty[i];
		if (empty[i])
			queue_refuse(queue, entry, i,
				"cannot be read, and this output sends no span whose tags it does not know");
	}
	if (!count)
		return to;
	rest = batch_without(to, empty);
	batch_unref(to);
	return rest;
}

bool retag_entry(struct queue *queue, struct entry *entry)
{
	const struct tagrules *rules = queue_rules(queue);
	struct account *account = queue_account(queue);
	struct tagedit_counts counts = {0};
	struct batch *to;

	if (!rules || entry->batch->rules == rules || batch_kind(entry->batch->format) != KIND_SPANS)
		return true;
	to = retag(entry->batch, rules, &counts);
	if (!to)
		return true;
	account_add(account, OUTPUT_TAGS_DROPPED, counts.dropped);
	account_add(account, OUTPUT_TAGS_RENAMED, counts.renamed);
	account_add(account, OUTPUT_TAGS_REDACTED, counts.redacted);
	return queue_exchange(queue, entry, refuse_empty(queue, entry, to));
}
