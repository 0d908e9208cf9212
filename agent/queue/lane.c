/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/lane.h"

#include "queue/undecided.h"

struct lane lane_begin(const struct batch_limits *limits)
{
	return (struct lane){.limits = *limits,
		.undecided = undecided_create(&limits->keep),
		.rare = limits->keep.quota ? rare_create() : NULL};
}

void lane_end(struct lane *lane)
{
	batch_unref(lane->open);
	batch_unref(lane->other);
	undecided_destroy(lane->undecided);
	rare_destroy(lane->rare);
	buffer_free(&lane->marked);
}

static bool is_oversize(const struct lane *lane, uint32_t size)
{
	return !size || size > lane->limits.bytes;
}

static void retag_items(struct lane *lane)
{
	struct batch *retagged =
		retag(lane->items, lane->limits.rules, lane->limits.otlp_names, &lane->retagged);

	if (!retagged)
		return;
	batch_unref(lane->own);
	lane->items = lane->own = retagged;
}

/* What is chosen of @handed items gets the tags that the lane leaves. */
static void prepare_items(struct lane *lane, uint32_t handed)
{
	lane->handed = handed;
	lane->sampled_out = lane->oversize = lane->next = lane->early = 0;
	lane->asked = lane->undecided ? undecided_asked(lane->undecided) : 0;
	lane->undecided_more = 0;
	lane->retagged = (struct retag_counts){0};
	lane->whole = NULL;
	if (lane->items && lane->limits.rules)
		retag_items(lane);
	lane->at = lane->items ? lane->items->spans.data : NULL;
	for (uint32_t i = 0; lane->items && i < lane->items->count; i++)
		lane->oversize += is_oversize(lane, batch_sizes(lane->items)[i]);
}

bool lane_asks_traits(const struct lane *lane)
{
	return lane->limits.kind == KIND_SPANS && !keep_is_all(&lane->limits.keep);
}

static struct batch *keep_some(struct lane *lane, const struct batch *all, int64_t now)
{
	if (!all || !lane_asks_traits(lane))
		return NULL;
	return lane->undecided ? undecided_choose(lane->undecided, all, lane->traits, now)
			       : keep_select(&lane->limits.keep, all, lane->traits);
}

/* Those that are of its kind; NULL: none is. */
static const struct batch *suitable(const struct lane *lane, const struct items *items)
{
	return items_count(items) && batch_kind(items->batch->format) == lane->limits.kind ? items->batch
											   : NULL;
}

/* Whether the span is kept, but for its service being rare; or that it is marked for this. */
static bool mark(struct lane *lane, struct trait *trait, const uint8_t *item, uint32_t size, int64_t now)
{
	bool kept = keep_takes_trace(&lane->limits.keep, trait);
	uint32_t service = trait->service ? trait->service : record_service(item, size);

	if (kept || keep_takes_span(&lane->limits.keep, trait))
		rare_keep(lane->rare, service, now);
	else
		trait->rare = rare_wants(lane->rare, service, now);
	return kept;
}

void lane_look(struct lane *lane, const struct items *items, int64_t now)
{
	const struct batch *all = suitable(lane, items);
	struct quota *quota = lane->limits.keep.quota;
	struct trait *marked;
	const uint8_t *at;
	uint64_t kept = 0;

	lane->traits = items->traits;
	if (!all || !lane->rare)
		return;
	lane->marked.size = 0;
	buffer_put(&lane->marked, items->traits, all->count * sizeof(*marked));
	lane->traits = marked = (struct trait *)(void *)lane->marked.data;
	at = all->spans.data;
	for (uint32_t i = 0; i < all->count; at += batch_sizes(all)[i++])
		kept += mark(lane, &marked[i], at, batch_sizes(all)[i], now);
	atomic_fetch_add_explicit(&quota->came, all->count, memory_order_relaxed);
	atomic_fetch_add_explicit(&quota->kept, kept, memory_order_relaxed);
}

static void expire(struct lane *lane, int64_t now, bool all)
{
	uint32_t gone = undecided_expire(lane->undecided, now, all, &lane->early);

	lane->sampled_out += gone;
	lane->undecided_more -= gone;
}

void lane_choose(struct lane *lane, const struct items *items, int64_t now)
{
	const struct batch *all = suitable(lane, items);
	uint32_t left_out;

	lane->own = keep_some(lane, all, now);
	left_out = lane->own ? all->count - lane->own->count : 0;
	lane->items = lane->own ? lane->own : all;
	prepare_items(lane, all ? all->count : 0);
	/* a batch that is kept by others cannot say that it is as the rules have it */
	if (all && !lane->own && !lane->limits.rules)
		lane->whole = items->lasting;
	if (!lane->undecided) {
		lane->sampled_out = left_out;
		return;
	}
	lane->undecided_more = left_out;
	expire(lane, now, false);
	if (lane->limits.keep.wanted && undecided_count(lane->undecided))
		wanted_note(lane->limits.keep.wanted, WANTED_HERE, now);
}

bool lane_choose_waiting(struct lane *lane, const struct items *items, int64_t now)
{
	const struct batch *all = suitable(lane, items);

	lane->own = NULL;
	if (lane->undecided) {
		undecided_hear(lane->undecided, now);
		if (all)
			undecided_look(lane->undecided, lane->traits, all->count, now);
		lane->own = undecided_take(lane->undecided);
	}
	lane->items = lane->own;
	prepare_items(lane, 0);
	lane->undecided_more = lane->own ? -(int64_t)lane->own->count : 0;
	return lane->own != NULL;
}

void lane_decide(struct lane *lane)
{
	lane->own = NULL;
	lane->items = NULL;
	prepare_items(lane, 0);
	if (lane->undecided)
		expire(lane, 0, true);
}

void lane_unchoose(struct lane *lane)
{
	batch_unref(lane->own);
	lane->own = NULL;
	lane->items = NULL;
}

void lane_switch(struct lane *lane)
{
	struct batch *open = lane->open;

	lane->open = lane->other;
	lane->other = open;
}

/* A batch has items of one format. */
static bool is_of_other_format(const struct lane *lane)
{
	return lane->items && lane->next < lane->items->count && lane->open->format != lane->items->format;
}

bool lane_is_full(const struct lane *lane)
{
	return lane->open &&
	       (lane->open->count >= lane->limits.spans || lane->open->spans.size >= lane->limits.bytes ||
		       is_of_other_format(lane));
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
	lane->open = batch_create((enum batch_format)lane->items->format, lane->last_count, lane->last_bytes);
	lane->open->born = now;
	lane->open->rules = lane->limits.rules;
	lane->open->otlp_names = lane->limits.otlp_names;
	lane->open->receipt = receipt ? receipt_ref(receipt) : NULL;
}

/* Items that fill a batch by themselves are not copied, if theirs may be kept, and is waited for by the same.
 */
static bool take_whole(struct lane *lane, uint32_t count, const struct receipt *receipt)
{
	if (!lane->whole || lane->open || lane->whole->receipt != receipt || count < lane->whole->count)
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
