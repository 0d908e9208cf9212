/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/retag.h"

#include <stdio.h>

#include <glib.h>

#include "queue/format.h"
#include "queue/item.h"

/* Refuses what has become empty; returns the rest, and takes over @to. */
static struct batch *refuse_empty(struct queue *queue, const struct entry *entry, struct batch *to)
{
	g_autofree uint8_t *empty = g_malloc0(to->count);
	struct batch *rest;
	uint32_t count = 0;

	for (uint32_t i = 0; i < to->count; i++) {
		empty[i] = !batch_sizes(to)[i];
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

/* What the items of one batch share. */
struct retagging {
	const struct tagrules *rules;
	bool names;
	struct span_memory read;
	struct retag_memory memory;
	struct retag_counts *counts;
};

/* Whether the item changes: then it is appended to @out, unless it is no span. */
static bool change(
	struct retagging *is, struct buffer *out, uint8_t format, const uint8_t *item, uint32_t size)
{
	struct span span;

	if (!size) /* it was too large */
		return false;
	if (!item_read(&span, format, item, size, &is->read))
		return true;
	/* tags of other agents' that are no text are shown nowhere, and no rule can be held against them */
	is->counts->dropped += is->read.left_out;
	if (!retag_span(&span, is->rules, is->names, &is->memory, is->counts) && !is->read.left_out)
		return false;
	format_again(format, out, &span, item, size);
	return true;
}

struct batch *retag(
	const struct batch *items, const struct tagrules *rules, bool names, struct retag_counts *counts)
{
	struct retagging is = {.rules = rules, .names = names, .counts = counts};
	const uint8_t *at = items->spans.data;
	struct buffer changed = {0};
	struct batch *to = NULL;

	for (uint32_t i = 0; i < items->count; at += batch_sizes(items)[i++]) {
		uint32_t size = batch_sizes(items)[i];
		bool changes;

		changed.size = 0;
		changes = change(&is, &changed, items->format, at, size);
		if (changes && !to)
			to = begin(items, at, i);
		if (changes)
			batch_add(to, changed.data, changed.size, batch_events(items)[i]);
		else if (to)
			batch_add(to, at, size, batch_events(items)[i]);
	}
	if (to) {
		to->rules = rules;
		to->otlp_names = names;
	}
	buffer_free(&changed);
	span_memory_free(&is.read);
	retag_memory_free(&is.memory);
	return to;
}

/* Whether its spans are as they are to be: those that OTLP was to get are right for others, too. */
static bool is_done(const struct batch *batch, const struct queue_treatment *with)
{
	return batch->rules == with->rules && (batch->otlp_names || !with->otlp_names);
}

bool retag_entry(struct queue *queue, struct entry *entry)
{
	const struct queue_treatment with = queue_treatment(queue);
	struct account *account = queue_account(queue);
	struct retag_counts counts = {0};
	struct batch *to;

	if (!with.rules || is_done(entry->batch, &with) || batch_kind(entry->batch->format) != KIND_SPANS)
		return true;
	to = retag(entry->batch, with.rules, with.otlp_names, &counts);
	if (!to)
		return true;
	account_add(account, OUTPUT_TAGS_DROPPED, counts.dropped);
	account_add(account, OUTPUT_TAGS_RENAMED, counts.renamed);
	account_add(account, OUTPUT_TAGS_REDACTED, counts.redacted);
	return queue_exchange(queue, entry, refuse_empty(queue, entry, to));
}
