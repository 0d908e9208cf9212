/* SPDX-License-Identifier: BSD-2-Clause */
/* A fanout's outlets change while batches are open; and what is settled when there are several queues. */
#include <pthread.h>

#include "fanout_rig.h"
#include "queue/backlog.h"

static struct outlets *list_of(struct side *side)
{
	struct outlet outlet = outlet_of(side, 10, 1000);

	return outlets_create(&outlet, 1);
}

static struct fanout *fanout_to_both(void)
{
	return fanout_create(outlets_of(outlet_of(&one, 10, 1000), outlet_of(&other, 10, 1000)));
}

static bool is_closed(const struct side *side)
{
	struct backlog backlog;

	backlog_look(side->queue, &backlog);
	return backlog.closed;
}

/* The queue that leaves gets what was begun for it, and nothing else; what stays goes on. */
START_TEST(one_leaves)
{
	struct fanout *to = fanout_to_both();
	struct entry *last;

	add_to(to, 1, 30);
	add_to(to, 2, 30);
	fanout_configure(to, list_of(&other));
	ck_assert(!is_closed(&one));
	ck_assert_ptr_null(queue_take(one.queue));
	add_to(to, 3, 30);
	ck_assert(is_closed(&one));
	ck_assert(!is_closed(&other));
	add_to(to, 4, 30);
	flush_of(to, 0, true);
	assert_rows(&one, 2, 2, 0);
	assert_rows(&other, 4, 4, 0);
	assert_next_of(other.queue, 1, 2);
	assert_next_of(other.queue, 3, 2);
	fanout_mark(to);
	ck_assert(!fanout_settled(to)); /* for the one that left */
	last = queue_take(one.queue);
	ck_assert_uint_eq(last->batch->count, 2);
	ck_assert_ptr_null(queue_take(one.queue));
	ck_assert(!fanout_settled(to));
	queue_release(one.queue, last);
	ck_assert(queue_done(one.queue));
	ck_assert(fanout_settled(to));
	fanout_destroy(to);
}
END_TEST

/* The output ends before its queue is empty: what is left is counted as dropped, and that settles it. */
START_TEST(one_leaves_and_ends)
{
	struct fanout *to = fanout_to_both();

	add_to(to, 1, 30);
	fanout_configure(to, list_of(&other));
	flush_of(to, 0, false);
	ck_assert(!fanout_settled(to));
	queue_end(queue_ref(one.queue));
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_SHUTDOWN), 1);
	assert_next_of(other.queue, 1, 1);
	ck_assert(fanout_settled(to));
	/* ended before the producer took notice: what was begun is dropped there */
	add_to(to, 2, 30);
	fanout_configure(to, list_of(&one));
	queue_end(queue_ref(other.queue));
	flush_of(to, 0, false);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 1);
	ck_assert(fanout_settled(to));
	fanout_destroy(to);
}
END_TEST

/* A queue that is added has only what comes after. */
START_TEST(one_is_added)
{
	struct fanout *to = fanout_create(list_of(&one));

	add_to(to, 1, 30);
	fanout_configure(to, outlets_of(outlet_of(&other, 10, 1000), outlet_of(&one, 10, 1000)));
	add_to(to, 2, 30);
	add_to(to, 3, 30);
	flush_of(to, 0, true);
	assert_rows(&one, 3, 3, 0);
	assert_rows(&other, 2, 2, 0);
	assert_next_of(one.queue, 1, 1);
	assert_next_of(one.queue, 2, 2);
	assert_next_of(other.queue, 2, 2);
	ck_assert(!is_closed(&one) && !is_closed(&other));
	fanout_destroy(to);
}
END_TEST

/* The same queue with other limits stays open; of two changes before a flush the last one counts. */
START_TEST(limits_change)
{
	struct fanout *to = fanout_create(list_of(&one));
	struct outlet narrow = outlet_of(&one, 2, 1000);

	add_to(to, 1, 30);
	fanout_configure(to, list_of(&other));
	fanout_configure(to, outlets_create(&narrow, 1));
	flush_of(to, 0, false);
	ck_assert(!is_closed(&one) && !is_closed(&other));
	assert_next_of(one.queue, 1, 1);
	add_to(to, 2, 30);
	add_to(to, 3, 30);
	assert_next_of(one.queue, 2, 2);
	assert_rows(&one, 3, 3, 0);
	assert_rows(&other, 0, 0, 0);
	ck_assert(fanout_settled(to));
	fanout_configure(to, list_of(&other)); /* never taken up */
	fanout_destroy(to);
}
END_TEST

/* All that was marked has to be settled at every queue; what comes later does not matter. */
START_TEST(settled_at_all)
{
	struct fanout *to = fanout_to_both();

	fanout_mark(to);
	ck_assert(fanout_settled(to));
	add_to(to, 1, 30);
	fanout_mark(to); /* of what is pushed */
	ck_assert(fanout_settled(to));
	flush_of(to, 0, true);
	fanout_mark(to);
	add_to(to, 2, 30);
	flush_of(to, 0, true);
	ck_assert(!fanout_settled(to));
	assert_next_of(one.queue, 1, 1);
	assert_next_of(one.queue, 2, 1);
	ck_assert(!fanout_settled(to));
	assert_next_of(other.queue, 1, 1);
	ck_assert(fanout_settled(to));
	fanout_mark(to);
	ck_assert(!fanout_settled(to));
	queue_drop_waiting(other.queue, false);
	ck_assert(fanout_settled(to));
	fanout_destroy(to);
}
END_TEST

#define ITEMS 20000

static int producing;

static void *produce(void *data)
{
	struct fanout *to = data;

	for (int64_t i = 0; i < ITEMS; i++) {
		add_to(to, i, 30);
		if (i % 50 == 0)
			flush_of(to, 0, false);
	}
	flush_of(to, 0, true);
	g_atomic_int_set(&producing, 0);
	return NULL;
}

/* Another thread adds and removes an output all the time: the one that stays has every item once. */
START_TEST(changed_all_the_time)
{
	struct queue_limits large = {.bytes = 64 << 20};
	struct fanout *to = fanout_create(list_of(&one));
	int64_t next = 0, added = 0;
	struct entry *entry;
	pthread_t thread;

	queue_configure(one.queue, &large);
	producing = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, produce, to), 0);
	while (g_atomic_int_get(&producing)) {
		struct side guest;

		open_side(&guest, "guest");
		fanout_configure(to, outlets_of(outlet_of(&guest, 10, 1000), outlet_of(&one, 10, 1000)));
		g_usleep(500);
		fanout_configure(to, list_of(&one));
		g_usleep(500);
		queue_end(queue_ref(guest.queue));
		queue_unref(guest.queue);
	}
	pthread_join(thread, NULL);
	while ((entry = queue_take(one.queue))) {
		for (uint32_t i = 0; i < entry->batch->count; i++)
			ck_assert_int_eq(batch_events(entry->batch)[i], next++);
		queue_release(one.queue, entry);
	}
	ck_assert_int_eq(next, ITEMS);
	assert_rows(&one, ITEMS, ITEMS, 0);
	added = row_of(account_open("guest"), SPANS_TAKEN);
	ck_assert_int_gt(added, 0);
	ck_assert_int_le(added, ITEMS);
	ck_assert_int_eq(row_of(account_open("guest"), SPANS_DROPPED_SHUTDOWN) +
				 row_of(account_open("guest"), SPANS_DROPPED_QUEUE_FULL),
		added);
	ck_assert(fanout_settled(to));
	fanout_destroy(to);
}
END_TEST

/* @count items of 30 bytes from @first on, in a batch that may be kept. */
static void hand_lasting(struct fanout *to, struct batch **items, int64_t first, uint32_t count)
{
	struct items all = {.batch = *items, .lasting = *items};
	uint8_t span[30] = {(uint8_t)first};

	for (uint32_t i = 0; i < count; i++)
		batch_add(*items, span, sizeof(span), first + i);
	fanout_hand(to, &(struct ledger){0}, &all, 0, false);
	*items = batch_renew(*items);
	ck_assert_uint_eq((*items)->count, 0);
	ck_assert_uint_eq((*items)->spans.size, 0);
}

/* A batch that is full as it comes is kept, also by two; what is not full, or follows other items, is copied.
 */
START_TEST(whole_batches_are_kept)
{
	struct fanout *to = fanout_create(outlets_of(outlet_of(&one, 3, 1000), outlet_of(&other, 3, 90)));
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 0, 0), *kept = items;
	struct entry *mine, *its;

	hand_lasting(to, &items, 0, 3);
	ck_assert_ptr_ne(items, kept);
	mine = queue_take(one.queue);
	its = queue_take(other.queue);
	ck_assert_ptr_eq(mine->batch, kept);
	ck_assert_ptr_eq(its->batch, kept);
	ck_assert_uint_eq(kept->count, 3);
	ck_assert_int_eq(batch_events(kept)[2], 2);
	queue_release(one.queue, mine);
	queue_release(other.queue, its);
	kept = items;
	hand_lasting(to, &items, 3, 2);
	ck_assert_ptr_eq(items, kept);
	hand_lasting(to, &items, 5, 3);
	ck_assert_ptr_eq(items, kept);
	hand_lasting(to, &items, 8, 1);
	for (int64_t first = 3; first < 9; first += 3) {
		assert_next_of(one.queue, first, 3);
		assert_next_of(other.queue, first, 3);
	}
	hand_lasting(to, &items, 9, 4);
	ck_assert_ptr_eq(items, kept);
	flush_of(to, 0, true);
	assert_next_of(one.queue, 9, 3);
	assert_next_of(one.queue, 12, 1);
	assert_rows(&one, 13, 13, 0);
	assert_rows(&other, 13, 13, 0);
	batch_unref(items);
	fanout_destroy(to);
}
END_TEST

TCase *queue_outlets(void)
{
	TCase *tests = tcase_create("outlets");

	tcase_set_timeout(tests, 30);
	tcase_add_checked_fixture(tests, open_sides, close_sides);
	tcase_add_test(tests, whole_batches_are_kept);
	tcase_add_test(tests, one_leaves);
	tcase_add_test(tests, one_leaves_and_ends);
	tcase_add_test(tests, one_is_added);
	tcase_add_test(tests, limits_change);
	tcase_add_test(tests, settled_at_all);
	tcase_add_test(tests, changed_all_the_time);
	return tests;
}
