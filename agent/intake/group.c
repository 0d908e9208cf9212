/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of calls, from the first to their answer: inner.h. */
#include "base/clock.h"
#include "intake/inner.h"

/* Handed over at once when it has so much, although more is there to be read. */
#define GROUP_BYTES (256 * 1024)
/* Senders wait so long for their OK: less than the time after which an agent takes its server for dead. */
#define PATIENCE_NS (8 * NS_PER_SECOND)

static void on_settled(void *data)
{
	struct intake *intake = data;

	event_active(intake->wake, 0, 0);
}

struct group *group_open(struct intake *intake)
{
	struct group *group = intake->open;

	if (group)
		return group;
	group = intake->open = g_new0(struct group, 1);
	group->link.data = group;
	group->calls = g_ptr_array_new();
	for (int f = 0; f < BATCH_FORMATS; f++)
		if (fanout_takes(intake->fanout, (enum batch_format)f))
			group->items[f] = batch_create((enum batch_format)f, 0, 0);
	return group;
}

void group_add(struct group *group, struct call *call, size_t bytes)
{
	struct intake *intake = call->connection->intake;

	call->group = group;
	group->bytes += bytes;
	intake->held_bytes += bytes;
	g_ptr_array_add(group->calls, call);
	if (group->bytes >= GROUP_BYTES)
		group_hand(intake);
	else
		event_active(intake->hand, 0, 0);
}

void group_forget_call(struct call *call)
{
	if (call->group)
		g_ptr_array_remove_fast(call->group->calls, call);
	call->group = NULL;
}

static void free_items(struct group *group)
{
	for (int f = 0; f < BATCH_FORMATS; f++) {
		batch_unref(group->items[f]);
		group->items[f] = NULL;
	}
	buffer_free(&group->traits);
}

static void group_free(struct intake *intake, struct group *group)
{
	free_items(group);
	if (group->receipt)
		receipt_silence(group->receipt);
	receipt_unref(group->receipt);
	intake->held_bytes -= group->bytes;
	g_ptr_array_unref(group->calls);
	g_free(group);
}

/* Its calls are answered; the group is over. */
static void answer_group(struct intake *intake, struct group *group, enum answer answer)
{
	g_autoptr(GPtrArray) calls = g_ptr_array_ref(group->calls);

	g_queue_unlink(&intake->groups, &group->link);
	while (calls->len) {
		struct call *call = g_ptr_array_index(calls, calls->len - 1);

		group_forget_call(call);
		answer_log(call, answer);
	}
	group_free(intake, group);
}

void group_hand(struct intake *intake)
{
	struct group *group = intake->open;
	struct batches items = {0};
	bool safe = intake_limits(intake).safe;

	if (!group)
		return;
	intake->open = NULL;
	group->receipt = receipt_create(on_settled, intake);
	if (!safe)
		receipt_give(group->receipt);
	items.count = group->count;
	items.traits = group->traits.data;
	for (int f = 0; f < BATCH_FORMATS; f++)
		items.of[f] = group->items[f];
	group->change.row[SPANS_RECEIVED] = group->count;
	fanout_hand_for(intake->fanout, group->receipt, &group->change, &items, clock_monotonic());
	receipt_close(group->receipt);
	free_items(group);
	group->handed = clock_monotonic();
	g_queue_push_tail_link(&intake->groups, &group->link);
	intake_sweep_soon(intake);
	if (!safe)
		answer_group(intake, group, ANSWER_OK);
}

/* Once all is safe, that has to be in the books before anybody is told. */
static void look_at(struct intake *intake, struct group *group, int64_t now)
{
	bool good;

	if (!receipt_is_settled(group->receipt, &good)) {
		if (now - group->handed > PATIENCE_NS || intake->ending)
			answer_group(intake, group, ANSWER_TRY_LATER);
	} else if (!good) {
		answer_group(intake, group, ANSWER_TRY_LATER);
	} else if (!group->number) {
		group->number = intake->asked + 1;
	} else if (atomic_load(&intake->recorded) >= group->number || now - group->handed > PATIENCE_NS) {
		answer_group(intake, group, ANSWER_OK);
	}
}

void group_look(struct intake *intake)
{
	int64_t now = clock_monotonic();
	bool ask = false;

	for (GList *link = intake->groups.head, *next; link; link = next) {
		struct group *group = link->data;

		next = link->next;
		look_at(intake, group, now);
	}
	for (GList *link = intake->groups.head; link && !ask; link = link->next)
		ask = ((struct group *)link->data)->number == intake->asked + 1;
	if (ask)
		intake->options.record(intake->options.data, ++intake->asked);
}

void group_end_all(struct intake *intake)
{
	while (intake->groups.head)
		answer_group(intake, intake->groups.head->data, ANSWER_TRY_LATER);
	if (intake->open)
		group_free(intake, intake->open);
	intake->open = NULL;
}
