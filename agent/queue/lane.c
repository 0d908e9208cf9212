/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/lane.h"

#include "queue/label.h"
#include "queue/retag.h"

static bool is_oversize(const struct lane *lane, uint32_t size)
{
	return !size || size > lane->limits.bytes;
}

static void retag_items(struct lane *lane)
{
	struct batch *retagged = retag(lane->items, lane->limits.rules, &lane->retagged);

	if (!retagged)
		return;
	batch_unref(lane->own);
	lane->items = lane->own = retagged;
}

/* Its items get its tags. */
static void label_items(struct lane *lane)
{
	struct batch *labelled = label(lane->items, &lane->tags);

	batch_unref(lane->own);
	lane->items = lane->own = labelled;
}

void lane_choose(struct lane *lane, const struct batches *items)
{
	enum batch_format format = lane->limits.format;
	const struct batch *all = items->count ? items->of[format] : NULL;

	lane->own = all && items->traits ? keep_select(&lane->limits.keep, all, items->traits) : NULL;
	lane->items = lane->own ? lane->own : all;
	lane->sampled_out = lane->own ? all->count - lane->own->count : 0;
	lane->oversize = lane->next = 0;
	lane->retagged = (struct tagedit_counts){0};
	if (!lane->items)
		return;
	if (lane->limits.rules)
		retag_items(lane);
	if (lane->tags.count)
		label_items(lane);
	/* a batch that is kept by others cannot say that it is as the rules have it */
	lane->whole = !lane->own && !lane->limits.rules && items->lasting && all == items->lasting[format]
			      ? items->lasting[format]
			      : NULL;
	lane->at = lane->items->spans.data;
	for (uint32_t i = 0; i < lane->items->count; i++)
		lane->oversize += is_oversize(lane, batch_sizes(lane->items)[i]);
}

void lane_unchoose(struct lane *lane)
{
	batch_unref(lane->own);
	lane->own = NULL;
	lane->items = NULL;
}

bool lane_is_full(const struct lane *lane)
{
	return lane->open &&
	       (lane->open->count >= lane->limits.spans || lane->open->spans.size >= lane->limits.bytes);
}

/* How many of the next items fit into its batch, and how many bytes they have. */
static uint32_t fitting(const struct lane *lane, size_t *bytes)
{
	const struct batch *items = lane->items;
	size_t size = lane->open ? lane->open->spans.size : 0;
	uint32_t count = lane->open ? lane->open->count : 0, end = lane->next;

	if (!end && !lane->oversize && count + items->count <= lane->limits.spans &&
		size + items->spans.size <= lane->limits.bytes) {
		*bytes = items->spans.size;
		return items->count;
	}
	*bytes = 0;
	while (end < items->count && count < lane->limits.spans && size + *bytes < lane->limits.bytes &&
		!is_oversize(lane, batch_sizes(items)[end])) {
		*bytes += batch_sizes(items)[end++];
		count++;
	}
	return end - lane->next;
}

static void begin(struct lane *lane, struct receipt *receipt, int64_t now)
{
	if (lane->open)
		return;
	lane->open = batch_create(lane->limits.format, lane->last_count, lane->last_bytes);
	lane->open->born = now;
	lane->open->rules = lane->limits.rules;
	lane->open->receipt = receipt ? receipt_ref(receipt) : NULL;
}

/* Items that fill a batch by themselves are not copied, if theirs may be kept. */
static bool take_whole(struct lane *lane, uint32_t count, const struct receipt *receipt)
{
	if (!lane->whole || lane->open || receipt || count < lane->whole->count)
		return false;
	lane->open = lane->whole;
	if (!lane_is_full(lane)) {
		lane->open = NULL;
		return false;
	}
	batch_ref(lane->whole);
	return true;
}

bool lane_fill(struct lane *lane, struct receipt *receipt, int64_t now)
{
	const struct batch *items = lane->items;

	while (lane->next < items->count && !lane_is_full(lane)) {
		size_t bytes;
		uint32_t first = lane->next, count = fitting(lane, &bytes);

		if (!count) { /* too large */
			lane->at += batch_sizes(items)[lane->next++];
			continue;
		}
		lane->next += count;
		lane->at += bytes;
		if (take_whole(lane, count, receipt))
			break;
		begin(lane, receipt, now);
		batch_add_run(lane->open, lane->at - bytes, batch_sizes(items) + first,
			batch_events(items) + first, count);
	}
	return lane_is_full(lane);
}
