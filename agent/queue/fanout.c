/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/fanout.h"

#include <pthread.h>
#include <string.h>

#include <glib.h>

#include "queue/item.h"
#include "queue/lane.h"
#include "queue/undecided.h"

struct fanout {
	struct outlets *outlets;
	bool closes;             /* queues that are left out */
	struct receipt *receipt; /* of the items that are handed, borrowed; NULL: they are this node's */
	struct receipt *waited;  /* of those that waited for their trace: they cannot be had again */
	struct lane *lanes;      /* as many as there are outlets at most */
	size_t lane_count;
	size_t *lane_of;                 /* each outlet's */
	struct account_entry *entries;   /* for each outlet */
	struct buffer traits;            /* of the items that are handed, if nobody has looked before */
	bool posted;                     /* items were, since before_push was called */
	void (*before_push)(void *data); /* NULL: nobody is */
	void *before_push_data;
	GPtrArray *leaving;                     /* of struct queue *: closed, and not settled yet */
	pthread_mutex_t lock;                   /* guards what follows */
	_Atomic(struct outlets *) outlets_next; /* NULL: no others */
};

/* The lane with these limits, made if there is none. */
static size_t find_lane(struct fanout *fanout, const struct batch_limits *limits)
{
	size_t i = 0;

	while (i < fanout->lane_count && !batch_limits_agree(&fanout->lanes[i].limits, limits))
		i++;
	if (i < fanout->lane_count)
		return i;
	fanout->lanes[i] = lane_begin(limits);
	return fanout->lane_count++;
}

/* Takes over one count of @outlets. */
static void build(struct fanout *fanout, struct outlets *outlets)
{
	fanout->outlets = outlets;
	fanout->lanes = g_new0(struct lane, outlets->count);
	fanout->lane_of = g_new0(size_t, outlets->count);
	fanout->entries = g_new0(struct account_entry, outlets->count);
	fanout->lane_count = 0;
	for (size_t i = 0; i < outlets->count; i++) {
		fanout->lane_of[i] = find_lane(fanout, &outlets->outlet[i].limits);
		fanout->entries[i].account = queue_account(outlets->outlet[i].queue);
	}
}

static void unbuild(struct fanout *fanout)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		lane_end(&fanout->lanes[i]);
	g_free(fanout->lanes);
	g_free(fanout->lane_of);
	g_free(fanout->entries);
	outlets_unref(fanout->outlets);
}

static void forget_queue(void *queue)
{
	queue_unref(queue);
}

static struct fanout *create(struct outlets *outlets, bool closes)
{
	struct fanout *fanout = g_new0(struct fanout, 1);

	fanout->closes = closes;
	fanout->waited = receipt_create(NULL, NULL);
	receipt_give(fanout->waited);
	pthread_mutex_init(&fanout->lock, NULL);
	fanout->leaving = g_ptr_array_new_with_free_func(forget_queue);
	build(fanout, outlets);
	return fanout;
}

struct fanout *fanout_create(struct outlets *outlets)
{
	return create(outlets, true);
}

struct fanout *fanout_create_second(struct outlets *outlets)
{
	return create(outlets, false);
}

void fanout_destroy(struct fanout *fanout)
{
	if (!fanout)
		return;
	unbuild(fanout);
	outlets_unref(fanout->outlets_next);
	receipt_unref(fanout->waited);
	buffer_free(&fanout->traits);
	g_ptr_array_unref(fanout->leaving);
	pthread_mutex_destroy(&fanout->lock);
	g_free(fanout);
}

void fanout_configure(struct fanout *fanout, struct outlets *outlets)
{
	pthread_mutex_lock(&fanout->lock);
	outlets_unref(atomic_exchange(&fanout->outlets_next, outlets));
	pthread_mutex_unlock(&fanout->lock);
}

void fanout_before_push(struct fanout *fanout, void (*call)(void *data), void *data)
{
	fanout->before_push = call;
	fanout->before_push_data = data;
}

/* Adding */

size_t fanout_largest(const struct fanout *fanout, enum kind kind)
{
	size_t largest = SIZE_MAX;

	for (size_t i = 0; i < fanout->lane_count; i++)
		if (fanout->lanes[i].limits.kind == kind)
			largest = MIN(largest, fanout->lanes[i].limits.bytes);
	return largest;
}

bool fanout_takes(const struct fanout *fanout, enum kind kind)
{
	return fanout_largest(fanout, kind) < SIZE_MAX;
}

/* Posts @change and the items that come with it. */
static void post(struct fanout *fanout, struct ledger *change)
{
	for (size_t i = 0; i < fanout->outlets->count; i++) {
		const struct lane *lane = &fanout->lanes[fanout->lane_of[i]];
		uint32_t taken = lane->items ? lane->items->count : 0;
		int64_t *row = fanout->entries[i].change.row;

		row[SPANS_TAKEN] = lane->handed;
		row[SPANS_SAMPLED_OUT] = lane->sampled_out;
		row[SPANS_UNDECIDED] = lane->undecided_more;
		row[SPANS_LEFT_EARLY] = lane->early;
		row[SPANS_ASKED] = lane->asked;
		row[SPANS_QUEUED] = row[SPANS_HELD] = row[SPANS_ENTRUSTED] = 0;
		row[receipt_row(fanout->receipt)] = taken - lane->oversize;
		row[SPANS_DROPPED_OVERSIZE] = lane->oversize;
		row[OUTPUT_TAGS_DROPPED] = lane->retagged.dropped;
		row[OUTPUT_TAGS_RENAMED] = lane->retagged.renamed;
		row[OUTPUT_TAGS_REDACTED] = lane->retagged.redacted;
	}
	ledger_post_with(change, fanout->entries, fanout->outlets->count);
	memset(change, 0, sizeof(*change));
}

/* The lane's batch goes to all of its outputs. */
static void push(struct fanout *fanout, size_t index)
{
	struct lane *lane = &fanout->lanes[index];
	struct batch *batch = lane->open;

	if (fanout->posted && fanout->before_push)
		fanout->before_push(fanout->before_push_data);
	fanout->posted = false;
	lane->open = NULL;
	lane->last_count = batch->count;
	lane->last_bytes = batch->spans.size;
	for (size_t i = 0; i < fanout->outlets->count; i++)
		if (fanout->lane_of[i] == index)
			queue_push(fanout->outlets->outlet[i].queue, batch_ref(batch));
	batch_unref(batch);
}

/* Adds its items to one lane, and pushes its batch each time that it is full. */
static void add(struct fanout *fanout, size_t index, int64_t now)
{
	struct lane *lane = &fanout->lanes[index];

	while (lane_fill(lane, fanout->receipt, now))
		push(fanout, index);
}

/* Pushing */

static void push_if_due(struct fanout *fanout, size_t index, int64_t now, bool force)
{
	const struct lane *lane = &fanout->lanes[index];

	if (lane->open && (force || lane_is_full(lane) || now - lane->open->born >= lane->limits.delay_ns))
		push(fanout, index);
}

static void push_all(struct fanout *fanout, int64_t now, bool force)
{
	for (size_t i = 0; i < fanout->lane_count; i++) {
		push_if_due(fanout, i, now, force);
		lane_switch(&fanout->lanes[i]);
		push_if_due(fanout, i, now, force);
		lane_switch(&fanout->lanes[i]);
	}
}

/* What waits for its trace is left out. */
static void decide(struct fanout *fanout)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		lane_decide(&fanout->lanes[i]);
	post(fanout, &(struct ledger){0});
}

/* Takes up other outlets, if there are any, everything for those of before being pushed. */
static void take_up_outlets(struct fanout *fanout)
{
	struct outlets *before, *next;

	if (!atomic_load_explicit(&fanout->outlets_next, memory_order_relaxed))
		return;
	before = outlets_ref(fanout->outlets);
	push_all(fanout, 0, true);
	decide(fanout);
	pthread_mutex_lock(&fanout->lock);
	next = atomic_exchange(&fanout->outlets_next, NULL);
	pthread_mutex_unlock(&fanout->lock);
	unbuild(fanout);
	build(fanout, next);
	for (size_t i = 0; i < before->count; i++) {
		struct queue *queue = before->outlet[i].queue;

		if (!fanout->closes || outlets_have(next, queue))
			continue;
		g_ptr_array_add(fanout->leaving, queue_ref(queue));
		queue_close(queue);
	}
	outlets_unref(before);
}

static void switch_all(struct fanout *fanout)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		lane_switch(&fanout->lanes[i]);
}

/* Adds what was chosen. */
static void add_all(struct fanout *fanout, int64_t now)
{
	for (size_t i = 0; i < fanout->lane_count; i++) {
		if (fanout->lanes[i].items) /* others are for items of another kind */
			add(fanout, i, now);
		lane_unchoose(&fanout->lanes[i]);
	}
}

/* What waited for one of these items, or another agent's word, is in batches of its own. Whoever waits for
 * these items to be safe does not wait for those: their sender had its OK; and this node's own are behind the
 * position from which the next run reads. */
static void hand_waiting(struct fanout *fanout, const struct items *all, int64_t now)
{
	struct receipt *receipt = fanout->receipt;
	bool any = false;

	for (size_t i = 0; i < fanout->lane_count; i++)
		any |= lane_choose_waiting(&fanout->lanes[i], all, now);
	if (!any)
		return;
	fanout->receipt = fanout->waited;
	post(fanout, &(struct ledger){0});
	fanout->posted = true;
	switch_all(fanout);
	add_all(fanout, now);
	switch_all(fanout);
	fanout->receipt = receipt;
}

/* What the lanes ask of the items. */
static void look(struct fanout *fanout, struct items *items)
{
	bool asked = false;

	if (!items_count(items) || items->traits || batch_kind(items->batch->format) != KIND_SPANS)
		return;
	for (size_t i = 0; i < fanout->lane_count; i++)
		asked |= lane_asks_traits(&fanout->lanes[i]);
	if (asked)
		items->traits = batch_traits(items->batch, &fanout->traits);
}

void fanout_end(struct fanout *fanout)
{
	take_up_outlets(fanout);
	push_all(fanout, 0, true);
	decide(fanout);
}

static void expect(struct fanout *fanout, const struct items *items, int64_t now)
{
	struct items all = *items;

	look(fanout, &all);
	for (size_t i = 0; i < fanout->lane_count; i++)
		lane_look(&fanout->lanes[i], &all, now);
	hand_waiting(fanout, &all, now);
}

void fanout_expect(struct fanout *fanout, const struct items *items, int64_t now)
{
	take_up_outlets(fanout);
	expect(fanout, items, now);
}

void fanout_hand_expected(
	struct fanout *fanout, struct ledger *change, const struct items *items, int64_t now, bool force)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		lane_choose(&fanout->lanes[i], items, now);
	post(fanout, change);
	fanout->posted |= items_count(items) > 0;
	add_all(fanout, now);
	push_all(fanout, now, force);
}

void fanout_hand(
	struct fanout *fanout, struct ledger *change, const struct items *items, int64_t now, bool force)
{
	static const struct items none;

	fanout_expect(fanout, items ? items : &none, now);
	fanout_hand_expected(fanout, change, items ? items : &none, now, force);
}

bool fanout_hand_for(struct fanout *fanout, struct receipt *receipt, struct ledger *change,
	const struct items *items, int64_t now)
{
	take_up_outlets(fanout);
	if (items_count(items) && !fanout_takes(fanout, batch_kind(items->batch->format)))
		return false;
	fanout->receipt = receipt;
	expect(fanout, items, now);
	fanout_hand_expected(fanout, change, items, now, true);
	fanout->receipt = NULL;
	return true;
}

bool fanout_admits(const struct fanout *fanout, enum kind kind, size_t bytes, bool safe)
{
	return outlets_admit(fanout->outlets, kind, bytes, safe);
}

void fanout_tell(struct fanout *fanout, uint32_t spans, uint64_t share)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		if (fanout->lanes[i].limits.keep.quota)
			quota_tell(fanout->lanes[i].limits.keep.quota, spans, share);
}

uint64_t fanout_offer(const struct fanout *fanout, bool *finds_out)
{
	uint64_t most = 0;
	bool known = true;

	*finds_out = false;
	for (size_t i = 0; i < fanout->lane_count; i++) {
		const struct batch_limits *limits = &fanout->lanes[i].limits;
		uint64_t share = QUOTA_ALL / MAX(limits->keep.one_in, 1);

		if (limits->kind != KIND_SPANS)
			continue;
		if (limits->keep.quota) {
			*finds_out = true;
			share = atomic_load_explicit(&limits->keep.quota->offered, memory_order_relaxed);
			known &= share != 0;
		}
		most = MAX(most, share);
	}
	return *finds_out && known ? most : 0;
}

void fanout_replay(struct fanout *fanout, uint32_t spans, uint64_t *turn, int64_t now)
{
	uint64_t current = quota_turn(now);

	for (size_t i = 0; i < fanout->outlets->count; i++)
		if (fanout->outlets->outlet[i].limits.kind == KIND_SPANS)
			quota_replay(queue_quota(fanout->outlets->outlet[i].queue), spans, current,
				*turn != current);
	*turn = current;
}

uint64_t fanout_grant(const struct fanout *fanout)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < fanout->outlets->count; i++) {
		uint64_t grant = atomic_load_explicit(
			&queue_quota(fanout->outlets->outlet[i].queue)->grant, memory_order_relaxed);

		least = grant ? MIN(least, grant) : least;
	}
	return least < UINT64_MAX ? least : 0;
}

struct wanted *fanout_wanted(const struct fanout *fanout)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		if (fanout->lanes[i].limits.keep.wanted)
			return fanout->lanes[i].limits.keep.wanted;
	return NULL;
}

bool fanout_waits(const struct fanout *fanout)
{
	if (atomic_load_explicit(&fanout->outlets_next, memory_order_relaxed))
		return true;
	for (size_t i = 0; i < fanout->lane_count; i++)
		if (fanout->lanes[i].open || fanout->lanes[i].other)
			return true;
	return false;
}

bool fanout_is_undecided(const struct fanout *fanout)
{
	for (size_t i = 0; i < fanout->lane_count; i++)
		if (fanout->lanes[i].undecided && undecided_count(fanout->lanes[i].undecided))
			return true;
	return false;
}

/* What is settled */

void fanout_mark(struct fanout *fanout)
{
	outlets_mark(fanout->outlets);
}

bool fanout_settled(struct fanout *fanout)
{
	for (guint i = fanout->leaving->len; i > 0; i--)
		if (queue_done(g_ptr_array_index(fanout->leaving, i - 1)))
			g_ptr_array_remove_index_fast(fanout->leaving, i - 1);
	for (size_t i = 0; i < fanout->outlets->count; i++)
		if (!queue_mark_settled(fanout->outlets->outlet[i].queue))
			return false;
	return fanout->leaving->len == 0;
}

size_t fanout_excess(const struct fanout *fanout)
{
	return outlets_excess(fanout->outlets);
}
