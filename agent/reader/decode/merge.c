/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/merge.h"

#include <stdbool.h>

#include <glib.h>

/* A stream, and the messages of it that are there. */
struct lane {
	bt_message_iterator *iterator;
	bt_message_array_const messages; /* owned from @at on */
	uint64_t count, at;
	int64_t time; /* of the next message */
};

struct merge {
	struct lane *lanes;
	uint64_t lane_count;
	struct lane **heap; /* those that go on; the one that is next is the first */
	uint64_t size;
	uint64_t filled; /* lanes that have got their first messages */
};

struct merge *merge_create(bt_self_component_sink *sink, uint64_t count)
{
	struct merge *merge = g_new0(struct merge, 1);

	merge->lanes = g_new0(struct lane, count);
	merge->heap = g_new0(struct lane *, count);
	for (; merge->lane_count < count; merge->lane_count++)
		if (bt_message_iterator_create_from_sink_component(sink,
			    bt_self_component_sink_borrow_input_port_by_index(sink, merge->lane_count),
			    &merge->lanes[merge->lane_count].iterator) !=
			BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
			merge_destroy(merge);
			return NULL;
		}
	return merge;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	for (uint64_t i = 0; i < merge->lane_count; i++) {
		struct lane *lane = &merge->lanes[i];

		while (lane->at < lane->count)
			bt_message_put_ref(lane->messages[lane->at++]);
		bt_message_iterator_put_ref(lane->iterator);
	}
	g_free(merge->lanes);
	g_free(merge->heap);
	g_free(merge);
}

/* The message's time, or @otherwise if it has none: only events are to be in order. */
static int64_t time_of(const bt_message *message, int64_t otherwise)
{
	const bt_clock_snapshot *clock;
	int64_t time;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT ||
		!bt_message_event_borrow_stream_class_default_clock_class_const(message))
		return otherwise;
	clock = bt_message_event_borrow_default_clock_snapshot_const(message);
	if (bt_clock_snapshot_get_ns_from_origin(clock, &time) ==
		BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		return time;
	bt_current_thread_clear_error(); /* with it, the next call would end the process */
	return otherwise;
}

/*
 * Sees to it that the lane has a message; END: it has none left. It fails where time goes back, as
 * babeltrace2's muxer does and live reading, too: who records so is left out, and named.
 */
static bt_message_iterator_next_status fill(struct lane *lane)
{
	bt_message_iterator_next_status status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	int64_t before = lane->time;

	if (lane->at == lane->count) {
		lane->at = lane->count = 0;
		status = bt_message_iterator_next(lane->iterator, &lane->messages, &lane->count);
	}
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		lane->time = time_of(lane->messages[lane->at], before);
	if (lane->time >= before)
		return status;
	(void)BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_UNKNOWN("blkin", "the clock of a stream goes back");
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR;
}

/* Of two at the same time, always the same one: or else a trace would be read differently each time. */
static bool is_before(const struct lane *one, const struct lane *other)
{
	return one->time != other->time ? one->time < other->time : one < other;
}

/* Moves a lane down the heap, from @at, to where it belongs. */
static void sink_down(struct merge *merge, uint64_t at)
{
	struct lane *lane = merge->heap[at];

	for (;;) {
		uint64_t next = 2 * at + 1;

		if (next + 1 < merge->size && is_before(merge->heap[next + 1], merge->heap[next]))
			next++;
		if (next >= merge->size || is_before(lane, merge->heap[next]))
			break;
		merge->heap[at] = merge->heap[next];
		at = next;
	}
	merge->heap[at] = lane;
}

/* Begins with all lanes. */
static bt_message_iterator_next_status fill_all(struct merge *merge)
{
	while (merge->filled < merge->lane_count) {
		struct lane *lane = &merge->lanes[merge->filled];
		bt_message_iterator_next_status status;

		lane->time = INT64_MIN;
		status = fill(lane);
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
			merge->heap[merge->size++] = lane;
		else if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
			return status;
		merge->filled++;
	}
	for (uint64_t at = merge->size; at > 0; at--)
		sink_down(merge, at - 1);
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

/* The first lane goes on behind the message that was taken. */
static bt_message_iterator_next_status go_on(struct merge *merge)
{
	struct lane *lane = merge->heap[0];
	bt_message_iterator_next_status status = fill(lane);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		merge->heap[0] = merge->heap[--merge->size];
	else if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	if (merge->size)
		sink_down(merge, 0);
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}

/* The lane that would be next without the first one; NULL: there is none. */
static const struct lane *rival_of(const struct merge *merge)
{
	if (merge->size > 2 && is_before(merge->heap[2], merge->heap[1]))
		return merge->heap[2];
	return merge->size > 1 ? merge->heap[1] : NULL;
}

/* How many messages of the first lane are next. */
static uint64_t run_of(const struct merge *merge, uint64_t most)
{
	struct lane *lane = merge->heap[0];
	const struct lane *rival = rival_of(merge);
	uint64_t run = 1, there = MIN(most, lane->count - lane->at);

	for (; run < there; run++) {
		int64_t time = time_of(lane->messages[lane->at + run], lane->time);

		if (time < lane->time) /* which fails when it is its turn */
			break;
		lane->time = time;
		if (rival && !is_before(lane, rival))
			break;
	}
	return run;
}

bt_message_iterator_next_status merge_next(
	struct merge *merge, uint64_t most, bt_message_array_const *messages, uint64_t *count)
{
	bt_message_iterator_next_status status = BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	struct lane *first;

	if (merge->filled < merge->lane_count)
		status = fill_all(merge);
	else if (merge->size)
		status = go_on(merge);
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return status;
	if (!merge->size)
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
	first = merge->heap[0];
	*messages = first->messages + first->at;
	*count = run_of(merge, most);
	first->at += *count;
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
}
