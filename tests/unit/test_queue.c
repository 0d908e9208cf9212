/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue between reader and uplink: order, bounds, and what is dropped; and what fills it. */
#include <pthread.h>
#include <unistd.h>

#include "queue_rig.h"
#include "run.h"

START_TEST(test_full_by_count_and_by_size)
{
	make_queue(3, 1000, 1 << 20, false);
	for (int i = 0; i < 7; i++)
		add(i, 30);
	assert_next(0, 3);
	assert_next(3, 3);
	ck_assert_ptr_null(queue_take(queue));
	add(7, 980); /* on top of what is there */
	assert_next(6, 2);
	ck_assert_int_eq(wakes, 3);
}
END_TEST

START_TEST(test_flushed_by_age)
{
	make_queue(10, 1000, 1 << 20, false);
	add(1, 30);
	flush(99, false);
	ck_assert_ptr_null(queue_take(queue));
	flush(100, false);
	assert_next(1, 1);
	flush(1000, true);
	ck_assert_ptr_null(queue_take(queue));
}
END_TEST

START_TEST(test_oversize_span_is_refused)
{
	make_queue(10, 1000, 1 << 20, false);
	add(1, 1001);
	add(2, 100);
	flush(0, true);
	assert_next(2, 1);
	ck_assert_ptr_null(queue_take(queue));
	ck_assert_int_eq(row(SPANS_DROPPED_OVERSIZE), 1);
}
END_TEST

START_TEST(test_given_back_keeps_order)
{
	struct entry *first, *second;

	make_queue(1, 1000, 1 << 20, false);
	for (int i = 0; i < 4; i++)
		add(i, 30);
	first = queue_take(queue);
	second = queue_take(queue);
	queue_give_back(queue, second);
	queue_give_back(queue, first);
	for (int i = 0; i < 4; i++)
		assert_next(i, 1);
	add(4, 30); /* the queue's end is still known after it ran empty */
	add(5, 30);
	assert_next(4, 1);
	assert_next(5, 1);
}
END_TEST

/* The oldest that wait go, counted; what the uplink has taken does not. */
START_TEST(test_bound)
{
	struct entry *taken;
	struct entry *entry;
	int64_t kept = 0;

	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 10; i++)
		add(i, 600);
	taken = queue_take(queue);
	for (int i = 10; i < 500; i++)
		add(i, 600);
	ck_assert_uint_le(queue_bytes(queue), 100 * 1024);
	ck_assert_int_gt(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_eq(row(SPANS_QUEUED) + row(SPANS_DROPPED_QUEUE_FULL), 500);
	ck_assert_int_eq(batch_events(taken->batch)[0], 0);
	queue_release(queue, taken);
	while ((entry = queue_take(queue))) {
		kept += entry->batch->count;
		ck_assert_int_eq(batch_events(entry->batch)[entry->batch->count - 1] % 10, 9);
		queue_release(queue, entry);
	}
	ck_assert_int_eq(kept + 10, row(SPANS_QUEUED));
	ck_assert_uint_eq(queue_bytes(queue), 0);
}
END_TEST

static void *add_many(void *data)
{
	(void)data;
	for (int i = 0; i < 2000; i++)
		add(i, 600);
	queue_close(queue);
	return NULL;
}

/* Where nothing may be dropped, the reader waits for the uplink. */
START_TEST(test_waits_when_full)
{
	pthread_t reader;
	int64_t next = 0;

	make_queue(10, 64 * 1024, 100 * 1024, true);
	ck_assert_int_eq(pthread_create(&reader, NULL, add_many, NULL), 0);
	while (!queue_done(queue)) {
		struct entry *entry = queue_take(queue);

		if (!entry) {
			usleep(100);
			continue;
		}
		ck_assert_uint_le(queue_bytes(queue), 100 * 1024);
		ck_assert_int_eq(batch_events(entry->batch)[0], next);
		next += entry->batch->count;
		queue_release(queue, entry);
	}
	pthread_join(reader, NULL);
	ck_assert_int_eq(next, 2000);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
}
END_TEST

/* Batches of one span, as there are when little comes, take no more memory than they are counted for. */
START_TEST(test_small_batches_are_small)
{
	size_t bytes;

	make_queue(100000, 512 * 1024, 1 << 20, false);
	for (int i = 0; i < 100; i++) {
		add(i, 150);
		flush(0, true);
	}
	bytes = queue_bytes(queue);
	ck_assert_uint_lt(bytes, 100 * 1200);
	ck_assert_int_eq(row(SPANS_QUEUED), 100);
}
END_TEST

/* However many calls the uplink may have open, half of the queue is left to drop from. */
START_TEST(test_taken_is_bounded)
{
	struct entry *taken[64];
	int count = 0;

	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 100; i++)
		add(i, 600);
	while ((taken[count] = queue_take(queue)))
		count++;
	ck_assert_int_ge(count, 1);
	ck_assert_int_lt(count, 6);
	for (int i = 100; i < 1000; i++)
		add(i, 600);
	ck_assert_uint_le(queue_bytes(queue), 100 * 1024);
	while (count > 0)
		queue_release(queue, taken[--count]);
}
END_TEST

/* What was pushed before the mark is settled by its release or its drop, in any order; what came later, or is
 * given back, does not matter. */
START_TEST(test_mark)
{
	struct entry *first, *second;

	make_queue(1, 1000, 1 << 20, false);
	queue_mark(queue);
	ck_assert(queue_mark_settled(queue));
	for (int i = 0; i < 3; i++)
		add(i, 30);
	first = queue_take(queue);
	queue_mark(queue);
	add(3, 30);
	second = queue_take(queue);
	ck_assert(!queue_mark_settled(queue));
	queue_release(queue, second);
	queue_give_back(queue, first);
	ck_assert(!queue_mark_settled(queue));
	assert_next(0, 1);
	ck_assert(!queue_mark_settled(queue));
	assert_next(2, 1);
	ck_assert(queue_mark_settled(queue));
	queue_mark(queue);
	ck_assert(!queue_mark_settled(queue));
	queue_drop_waiting(queue, false);
	ck_assert(queue_mark_settled(queue));
}
END_TEST

START_TEST(test_mark_and_overflow)
{
	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 20; i++)
		add(i, 600);
	queue_mark(queue);
	ck_assert(!queue_mark_settled(queue));
	for (int i = 20; i < 500; i++)
		add(i, 600);
	ck_assert(queue_mark_settled(queue));
}
END_TEST

START_TEST(test_drop_all)
{
	make_queue(2, 1000, 1 << 20, false);
	for (int i = 0; i < 5; i++)
		add(i, 30);
	flush(0, true);
	queue_close(queue);
	queue_drop_waiting(queue, false);
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 5);
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	ck_assert(queue_done(queue));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tests = tcase_create("queue");

	tcase_add_checked_fixture(tests, NULL, end_queue);
	tcase_add_test(tests, test_full_by_count_and_by_size);
	tcase_add_test(tests, test_flushed_by_age);
	tcase_add_test(tests, test_oversize_span_is_refused);
	tcase_add_test(tests, test_given_back_keeps_order);
	tcase_add_test(tests, test_bound);
	tcase_add_test(tests, test_waits_when_full);
	tcase_add_test(tests, test_small_batches_are_small);
	tcase_add_test(tests, test_taken_is_bounded);
	tcase_add_test(tests, test_mark);
	tcase_add_test(tests, test_mark_and_overflow);
	tcase_add_test(tests, test_drop_all);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, queue_limits());
	suite_add_tcase(suite, queue_fanout());
	suite_add_tcase(suite, queue_keep());
	suite_add_tcase(suite, queue_shares());
	suite_add_tcase(suite, queue_undecided());
	suite_add_tcase(suite, queue_wanted());
	suite_add_tcase(suite, queue_outlets());
	suite_add_tcase(suite, queue_receipts());
	suite_add_tcase(suite, queue_retag());
	suite_add_tcase(suite, queue_encoding());
	return run_all(srunner_create(suite));
}
