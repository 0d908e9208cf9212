/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of calls, from the first to their answer: inner.h. */
#include "base/clock.h"
#include "base/waker.h"
#include "inlet/inner.h"

/* Handed over at once when it has so much, although more is there to be read. */
#define GROUP_BYTES (256 * 1024)
/* Senders wait so long for their OK: less than the time after which an agent takes its server for dead. */
#define ANSWER_NS (8 * NS_PER_SECOND)

static void on_settled(void *data)
{
	struct inlet *inlet = data;

	waker_wake(inlet->wake);
}

struct group *group_open(const struct connection *connection, const struct weight *weight)
{
	struct inlet *inlet = connection->inlet;
	bool counted = count_is_due(connection);
	struct group **open = &inlet->open[(weight->of[KIND_MESSAGES] ? OPEN_MESSAGES : 0) +
					   (counted ? OPEN_COUNTED : 0)],
		     *group = *open;

	if (group)
		return group;
	group = *open = g_new0(struct group, 1);
	group->link.data = group;
	group->counted = counted;
	group->namer = weight->of[KIND_MESSAGES] > 0;
	group->calls = g_ptr_array_new();
	group->spans = batch_create(inlet->protocol->spans, 0, 0);
	group->takes_spans = fanout_takes(inlet->fanout, KIND_SPANS);
	if (fanout_takes(inlet->fanout, KIND_MESSAGES))
		group->messages = batch_create(BATCH_MESSAGES, 0, 0);
	group->largest[KIND_SPANS] = fanout_largest(inlet->fanout, KIND_SPANS);
	group->largest[KIND_MESSAGES] = MIN(fanout_largest(inlet->fanout, KIND_MESSAGES), MESSAGE_MAX);
	return group;
}

void group_add(struct group *group, struct call *call, const struct weight *weight)
{
	struct inlet *inlet = call->connection->inlet;

	call->group = group;
	weight_add(&group->weight, weight);
	weight_add(&inlet->held, weight);
	g_ptr_array_add(group->calls, call);
	if (weight_sum(&group->weight) >= GROUP_BYTES)
		group_hand(inlet);
	else
		event_active(inlet->hand, 0, 0);
}

void group_forget_call(struct call *call)
{
	if (call->group)
		g_ptr_array_remove_fast(call->group->calls, call);
	call->group = NULL;
}

static void free_items(struct group *group)
{
	batch_unref(group->spans);
	batch_unref(group->messages);
	group->spans = group->messages = NULL;
	count_free(group);
}

static void group_free(struct inlet *inlet, struct group *group)
{
	free_items(group);
	if (group->receipt)
		receipt_silence(group->receipt);
	receipt_unref(group->receipt);
	for (int kind = 0; kind < KINDS; kind++)
		inlet->held.of[kind] -= group->weight.of[kind];
	g_ptr_array_unref(group->calls);
	g_free(group);
}

static bool is_empty(const struct group *group)
{
	return !group->spans->count && (!group->messages || !group->messages->count);
}

void group_give_up(struct inlet *inlet, struct group *group)
{
	for (size_t i = 0; i < G_N_ELEMENTS(inlet->open); i++)
		if (inlet->open[i] == group && is_empty(group)) {
			inlet->open[i] = NULL;
			group_free(inlet, group);
			return;
		}
}

/* Its calls are answered; the group is over. */
static void answer_group(struct inlet *inlet, struct group *group, enum answer answer)
{
	g_autoptr(GPtrArray) calls = g_ptr_array_ref(group->calls);

	g_queue_unlink(&inlet->groups, &group->link);
	while (calls->len) {
		struct call *call = g_ptr_array_index(calls, calls->len - 1);

		group_forget_call(call);
		inlet->protocol->answer(call, answer);
	}
	group_free(inlet, group);
}

/* Outputs that were taken up since it was opened, and would drop as too large what was good for those of
 * before, get none of it. */
static bool hand_items(
	struct inlet *inlet, struct group *group, struct ledger *change, const struct items *items)
{
	const enum kind kind = batch_kind(items->batch->format);

	call_take_up_outlets(inlet);
	if (items_count(items) && fanout_largest(inlet->fanout, kind) < group->largest[kind])
		return false;
	return fanout_hand_for(inlet->fanout, group->receipt, change, items, clock_monotonic());
}

/* False: nobody takes them any more, so that they are put off. Who sends them again learns whether anybody
 * will. */
static bool hand_spans(struct inlet *inlet, struct group *group)
{
	const struct items items = count_items(group);
	const uint32_t count = items_count(&items);

	group->change.row[SPANS_RECEIVED] = count;
	if (hand_items(inlet, group, &group->change, &items)) {
		count_take(inlet, group, &items);
		inlet->options.show(inlet->options.data, &items);
		return true;
	}
	count_forget(inlet, group);
	group->change.row[SPANS_RECEIVED] = 0;
	group->change.row[MESSAGES_PUT_OFF] = count;
	ledger_post(&group->change);
	return false;
}

/* As hand_spans. */
static bool hand_messages(struct inlet *inlet, struct group *group)
{
	const struct items items = {.batch = group->messages};
	struct ledger change = {0};

	if (!items_count(&items))
		return true;
	change.row[MESSAGES_TAKEN] = items.batch->count;
	if (hand_items(inlet, group, &change, &items))
		return true;
	change = (struct ledger){.row[MESSAGES_PUT_OFF] = items.batch->count};
	ledger_post(&change);
	return false;
}

static bool hand_all(struct inlet *inlet, struct group *group)
{
	bool spans = hand_spans(inlet, group), messages = hand_messages(inlet, group);

	if (!spans || !messages)
		receipt_end_part(receipt_take_part(group->receipt), false);
	receipt_close(group->receipt);
	return spans && messages;
}

static void hand(struct inlet *inlet, struct group **open)
{
	struct group *group = *open;
	bool safe = inlet_limits(inlet).safe, all;

	if (!group)
		return;
	*open = NULL;
	group->receipt = receipt_create(on_settled, inlet);
	group->spans->receipt = receipt_ref(group->receipt); /* as it may be kept as it is */
	group->spans->born = clock_monotonic();
	if (!safe)
		receipt_give(group->receipt);
	all = hand_all(inlet, group);
	free_items(group);
	group->handed = clock_monotonic();
	g_queue_push_tail_link(&inlet->groups, &group->link);
	inlet_sweep_soon(inlet);
	if (!safe)
		answer_group(inlet, group, all ? ANSWER_OK : ANSWER_TRY_LATER);
}

void group_hand(struct inlet *inlet)
{
	for (size_t i = 0; i < G_N_ELEMENTS(inlet->open); i++)
		hand(inlet, &inlet->open[i]);
}

/* Answers those that are not safe and will not be. */
static void look_at(struct inlet *inlet, struct group *group, int64_t now)
{
	bool good;

	if (receipt_is_settled(group->receipt, &good))
		group->safe = good;
	else if (now - group->handed <= ANSWER_NS && !inlet->ending)
		return;
	if (!group->safe)
		answer_group(inlet, group, ANSWER_TRY_LATER);
}

void group_look(struct inlet *inlet)
{
	int64_t now = clock_monotonic();
	bool any = false;

	for (GList *link = inlet->groups.head, *next; link; link = next) {
		next = link->next;
		look_at(inlet, link->data, now);
	}
	for (GList *link = inlet->groups.head; link; link = link->next)
		any |= ((struct group *)link->data)->safe;
	if (any) /* it has to be in the checkpoint before anybody is told */
		inlet->options.record(inlet->options.data);
	for (GList *link = inlet->groups.head, *next; link; link = next) {
		next = link->next;
		if (((struct group *)link->data)->safe)
			answer_group(inlet, link->data, ANSWER_OK);
	}
}

void group_end_all(struct inlet *inlet)
{
	while (inlet->groups.head)
		answer_group(inlet, inlet->groups.head->data, ANSWER_TRY_LATER);
}
