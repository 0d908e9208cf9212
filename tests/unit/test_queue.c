/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue between reader and uplink: order, bounds, what is dropped, and base64. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "wire/base64.h"
#include "queue/batch.h"
#include "core/ledger.h"

static struct batch_queue *queue;
static int wakes;

static void wake(void *data)
{
	(void)data;
	wakes++;
}

static void make_queue(uint32_t spans, size_t bytes, size_t queue_bytes, bool wait)
{
	struct batch_limits limits = {spans, bytes, 100, queue_bytes, wait};

	queue = batch_queue_create(&limits, wake, NULL);
}

static void teardown(void)
{
	batch_queue_destroy(queue);
}

static int64_t row(enum ledger_row which)
{
	struct ledger rows;

	ledger_read(&rows, NULL);
	return rows.row[which];
}

/* Adds a span of @size bytes whose event time tells it apart. */
static void add(int64_t number, size_t size)
{
	uint8_t *span = g_malloc0(size);

	if (batch_add(queue, span, size, number, 0))
		ledger_add(SPANS_QUEUED, 1);
	if (batch_full(queue))
		batch_flush(queue, 0, true);
	g_free(span);
}

static void assert_next(int64_t first, uint32_t spans)
{
	struct batch *batch = batch_take(queue);

	ck_assert_ptr_nonnull(batch);
	ck_assert_uint_eq(batch->count, spans);
	for (uint32_t i = 0; i < spans; i++)
		ck_assert_int_eq(batch_events(batch)[i], first + i);
	batch_release(queue, batch);
}

START_TEST(test_full_by_count_and_by_size)
{
	make_queue(3, 1000, 1 << 20, false);
	for (int i = 0; i < 7; i++)
		add(i, 30);
	assert_next(0, 3);
	assert_next(3, 3);
	ck_assert_ptr_null(batch_take(queue));
	add(7, 980); /* on top of what is there */
	assert_next(6, 2);
	ck_assert_int_eq(wakes, 3);
}
END_TEST

START_TEST(test_flushed_by_age)
{
	make_queue(10, 1000, 1 << 20, false);
	add(1, 30);
	batch_flush(queue, 99, false);
	ck_assert_ptr_null(batch_take(queue));
	batch_flush(queue, 100, false);
	assert_next(1, 1);
	batch_flush(queue, 1000, true);
	ck_assert_ptr_null(batch_take(queue));
}
END_TEST

START_TEST(test_oversize_span_is_refused)
{
	uint8_t span[1001] = {0};

	make_queue(10, 1000, 1 << 20, false);
	ck_assert(!batch_add(queue, span, sizeof(span), 1, 0));
	add(2, 100);
	batch_flush(queue, 0, true);
	assert_next(2, 1);
}
END_TEST

START_TEST(test_given_back_keeps_order)
{
	struct batch *first, *second;

	make_queue(1, 1000, 1 << 20, false);
	for (int i = 0; i < 4; i++)
		add(i, 30);
	first = batch_take(queue);
	second = batch_take(queue);
	batch_give_back(queue, second);
	batch_give_back(queue, first);
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
	struct batch *taken;
	struct batch *batch;
	int64_t kept = 0;

	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 10; i++)
		add(i, 600);
	taken = batch_take(queue);
	for (int i = 10; i < 500; i++)
		add(i, 600);
	ck_assert_uint_le(batch_queue_bytes(queue), 100 * 1024);
	ck_assert_int_gt(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_eq(row(SPANS_QUEUED) + row(SPANS_DROPPED_QUEUE_FULL), 500);
	ck_assert_int_eq(batch_events(taken)[0], 0);
	batch_release(queue, taken);
	while ((batch = batch_take(queue))) {
		kept += batch->count;
		ck_assert_int_eq(batch_events(batch)[batch->count - 1] % 10, 9);
		batch_release(queue, batch);
	}
	ck_assert_int_eq(kept + 10, row(SPANS_QUEUED));
	ck_assert_uint_eq(batch_queue_bytes(queue), 0);
}
END_TEST

static void *add_many(void *data)
{
	(void)data;
	for (int i = 0; i < 2000; i++)
		add(i, 600);
	batch_close(queue);
	return NULL;
}

/* Where nothing may be dropped, the reader waits for the uplink. */
START_TEST(test_waits_when_full)
{
	pthread_t reader;
	int64_t next = 0;

	make_queue(10, 64 * 1024, 100 * 1024, true);
	ck_assert_int_eq(pthread_create(&reader, NULL, add_many, NULL), 0);
	while (!batch_queue_done(queue)) {
		struct batch *batch = batch_take(queue);

		if (!batch) {
			usleep(100);
			continue;
		}
		ck_assert_uint_le(batch_queue_bytes(queue), 100 * 1024);
		ck_assert_int_eq(batch_events(batch)[0], next);
		next += batch->count;
		batch_release(queue, batch);
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
		batch_flush(queue, 0, true);
	}
	bytes = batch_queue_bytes(queue);
	ck_assert_uint_lt(bytes, 100 * 1200);
	ck_assert_int_eq(row(SPANS_QUEUED), 100);
}
END_TEST

/* However many calls the uplink may have open, half of the queue is left to drop from. */
START_TEST(test_taken_is_bounded)
{
	struct batch *taken[64];
	int count = 0;

	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 100; i++)
		add(i, 600);
	while ((taken[count] = batch_take(queue)))
		count++;
	ck_assert_int_ge(count, 1);
	ck_assert_int_lt(count, 6);
	for (int i = 100; i < 1000; i++)
		add(i, 600);
	ck_assert_uint_le(batch_queue_bytes(queue), 100 * 1024);
	while (count > 0)
		batch_release(queue, taken[--count]);
}
END_TEST

/* What was pushed before the mark is settled by its release or its drop, in any order; what came later, or is
 * given back, does not matter. */
START_TEST(test_mark)
{
	struct batch *first, *second;

	make_queue(1, 1000, 1 << 20, false);
	batch_mark(queue);
	ck_assert(batch_mark_settled(queue));
	for (int i = 0; i < 3; i++)
		add(i, 30);
	first = batch_take(queue);
	batch_mark(queue);
	add(3, 30);
	second = batch_take(queue);
	ck_assert(!batch_mark_settled(queue));
	batch_release(queue, second);
	batch_give_back(queue, first);
	ck_assert(!batch_mark_settled(queue));
	assert_next(0, 1);
	ck_assert(!batch_mark_settled(queue));
	assert_next(2, 1);
	ck_assert(batch_mark_settled(queue));
	batch_mark(queue);
	ck_assert(!batch_mark_settled(queue));
	batch_drop_all(queue, SPANS_DROPPED_SHUTDOWN);
	ck_assert(batch_mark_settled(queue));
}
END_TEST

START_TEST(test_mark_and_overflow)
{
	make_queue(10, 64 * 1024, 100 * 1024, false);
	for (int i = 0; i < 20; i++)
		add(i, 600);
	batch_mark(queue);
	ck_assert(!batch_mark_settled(queue));
	for (int i = 20; i < 500; i++)
		add(i, 600);
	ck_assert(batch_mark_settled(queue));
}
END_TEST

START_TEST(test_drop_all)
{
	make_queue(2, 1000, 1 << 20, false);
	for (int i = 0; i < 5; i++)
		add(i, 30);
	batch_close(queue);
	batch_drop_all(queue, SPANS_DROPPED_SHUTDOWN);
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 5);
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	ck_assert(batch_queue_done(queue));
}
END_TEST

static void assert_base64(
	void (*encode)(char *to, const uint8_t *from, size_t size), const uint8_t *data, size_t size)
{
	/* exactly as large as it says: the sanitizer sees a write beyond */
	g_autofree char *ours = g_malloc(BASE64_SIZE(size)), *reference = g_base64_encode(data, size);

	encode(ours, data, size);
	ck_assert_uint_eq(strlen(reference), BASE64_SIZE(size));
	ck_assert(size == 0 || memcmp(ours, reference, BASE64_SIZE(size)) == 0);
}

START_TEST(test_base64_agrees_with_glib)
{
	GRand *random = g_rand_new_with_seed(3);

	make_queue(1, 1000, 1 << 20, false);
	for (size_t size = 0; size < 200; size++) {
		uint8_t *data = g_malloc(size); /* the same for a read */

		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)g_rand_int_range(random, 0, 256);
		assert_base64(base64_encode, data, size);
		assert_base64(base64_encode_plain, data, size);
		g_free(data);
	}
	g_rand_free(random);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch");
	TCase *tests = tcase_create("queue");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, NULL, teardown);
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
	tcase_add_test(tests, test_base64_agrees_with_glib);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
