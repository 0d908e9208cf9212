/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue at its limits: what waits there, and what of it is dropped, and its end. */
#include <pthread.h>

#include "base/clock.h"
#include "queue/backlog.h"
#include "queue/trough.h"
#include "queue_rig.h"

#define DISK_MS 300
#define FOR_EVER_MS 3600000 /* a test that waits so long is ended */

static struct queue_limits limits;

/* How long a push waits for the disk from here on. */
static void set_patience(int64_t ms)
{
	limits.disk_ns = ms * NS_PER_MS;
	queue_configure(queue, &limits);
}

/* Batches of three spans, of which the queue has room for @batches; its spooler works. */
static void make_spooled(unsigned batches, bool wait)
{
	limits = (struct queue_limits){
		.bytes = 1 << 20, .wait_when_full = wait, .disk_ns = FOR_EVER_MS * NS_PER_MS};
	make_queue_of(&limits, 10, 64 * 1024);
	backlog_attach(queue, 100);
	backlog_set_storing(queue, true);
	push_to(queue, 0, 3, 1000);
	limits.bytes = batches * queue_bytes(queue);
	queue_configure(queue, &limits);
	ck_assert_uint_eq(queue_limit(queue), limits.bytes);
	while (--batches > 0)
		push_to(queue, 0, 3, 1000);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_uint_eq(queue_bytes(queue), queue_limit(queue));
}

/* Pushes a batch more; returns how long that took. */
static int64_t push_ms(void)
{
	int64_t start = clock_monotonic();

	push_to(queue, 0, 3, 1000);
	return (clock_monotonic() - start) / NS_PER_MS;
}

/* A disk that is too slow makes one push wait, and the next ones not, until something has gone out. */
START_TEST(a_slow_disk_is_waited_for_once)
{
	make_spooled(3, false);
	set_patience(DISK_MS);
	ck_assert_int_ge(push_ms(), DISK_MS);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 3);
	set_patience(FOR_EVER_MS);
	for (int i = 0; i < 3; i++)
		push_ms();
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 4 * 3);
	send_next(queue);
	push_ms(); /* there is room */
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 4 * 3);
	set_patience(DISK_MS);
	ck_assert_int_ge(push_ms(), DISK_MS);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 5 * 3);
	ck_assert_int_eq(row(SPANS_QUEUED), 3 * 3);
	assert_balance(account);
}
END_TEST

START_TEST(without_a_disk_nobody_waits)
{
	make_spooled(3, false);
	backlog_set_storing(queue, false);
	push_ms();
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 3);
	assert_balance(account);
}
END_TEST

static int64_t waited_ms;

static void *push_one(void *data)
{
	(void)data;
	waited_ms = push_ms();
	return NULL;
}

/* What it pushes was counted, so that its clock runs; and has come to the queue, mostly. */
static void begin_push(pthread_t *thread)
{
	int64_t before = row(SPANS_TAKEN);

	ck_assert_int_eq(pthread_create(thread, NULL, push_one, NULL), 0);
	while (row(SPANS_TAKEN) == before)
		g_usleep(1000);
	g_usleep(50000);
}

static void store_oldest(void)
{
	struct entry *list = backlog_take(queue, 1);

	ck_assert_ptr_nonnull(list);
	ck_assert_ptr_null(list->next);
	account_move(account, SPANS_QUEUED, SPANS_SPOOLED, list->batch->count);
	backlog_stored(queue, list);
}

/* What makes room for a push that waits: the disk, the collector; or the disk's failure ends the wait. */
enum { STORED, SENT, DISK_FAILS, NOTHING, WAYS };

START_TEST(a_wait_ends)
{
	pthread_t thread;

	make_spooled(3, false);
	if (_i == NOTHING)
		set_patience(DISK_MS);
	begin_push(&thread);
	if (_i == STORED)
		store_oldest();
	else if (_i == SENT)
		send_next(queue);
	else if (_i == DISK_FAILS)
		backlog_set_storing(queue, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), _i == DISK_FAILS || _i == NOTHING ? 3 : 0);
	ck_assert_int_eq(row(SPANS_QUEUED), 3 * 3);
	assert_balance(account);
}
END_TEST

/* Where nothing may be dropped, a push waits longer than for any disk. */
START_TEST(waits_as_long_as_it_takes)
{
	pthread_t thread;

	make_spooled(2, true);
	set_patience(DISK_MS);
	begin_push(&thread);
	g_usleep((DISK_MS + 100) * 1000);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	send_next(queue);
	pthread_join(thread, NULL);
	ck_assert_int_ge(waited_ms, DISK_MS);
	ck_assert_int_eq(row(SPANS_SENT), 3);
	ck_assert_int_eq(row(SPANS_QUEUED), 2 * 3);
	assert_balance(account);
}
END_TEST

/* The end */

START_TEST(end_counts_all)
{
	struct entry *taken;

	make_queue(10, 64 * 1024, 1 << 20, false);
	for (int i = 0; i < 3; i++)
		push_to(queue, i, 3, 100);
	taken = queue_take(queue);
	queue_mark(queue);
	wakes = 0;
	queue_end(queue_ref(queue));
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 2 * 3);
	ck_assert_int_eq(row(SPANS_QUEUED), 3);
	ck_assert(!queue_mark_settled(queue));
	push_to(queue, 3, 5, 100);
	add(4, 30);
	flush(0, true);
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 2 * 3);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 5 + 1);
	ck_assert_int_eq(row(SPANS_QUEUED), 3);
	ck_assert_int_eq(wakes, 0);
	account_move(account, SPANS_QUEUED, SPANS_SENT, taken->batch->count);
	queue_release(queue, taken);
	ck_assert(queue_mark_settled(queue));
	ck_assert_ptr_null(queue_take(queue));
	ck_assert_uint_eq(queue_bytes(queue), 0);
	assert_balance(account);
}
END_TEST

/* An uplink that was left to itself gives back what it had, long after: it is counted, and nothing waits. */
START_TEST(given_back_after_the_end)
{
	struct entry *whole, *half;
	struct batch *rest;

	make_queue(10, 64 * 1024, 1 << 20, false);
	push_to(queue, 0, 3, 100);
	push_to(queue, 3, 4, 100);
	push_to(queue, 7, 5, 100);
	whole = queue_take(queue);
	half = queue_take(queue);
	queue_mark(queue);
	queue_end(queue_ref(queue));
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 5);
	queue_give_back(queue, whole);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 3);
	ck_assert_int_eq(row(SPANS_QUEUED), 4);
	ck_assert(!queue_mark_settled(queue));
	rest = batch_without(half->batch, (const uint8_t[]){1, 0, 1, 0});
	account_move(account, SPANS_QUEUED, SPANS_SENT, 2);
	queue_give_back_rest(queue, half, rest);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 3 + 2);
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 5);
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	ck_assert_ptr_null(queue_take(queue));
	ck_assert(queue_mark_settled(queue));
	ck_assert_uint_eq(queue_bytes(queue), 0);
	assert_balance(account);
}
END_TEST

/* The same at the agent's end: nothing is dropped, and nobody is woken who is gone by then. */
START_TEST(given_back_at_the_agents_end)
{
	struct entry *taken;

	make_queue(10, 64 * 1024, 1 << 20, false);
	push_to(queue, 0, 3, 100);
	push_to(queue, 3, 4, 100);
	taken = queue_take(queue);
	wakes = 0;
	queue_leave(queue_ref(queue));
	queue_give_back(queue, taken);
	queue_rouse(queue);
	ck_assert_int_eq(wakes, 0);
	ck_assert_int_eq(row(SPANS_QUEUED), 3 + 4);
	assert_balance(account);
}
END_TEST

/* A push that waits when the output goes is over then, and counted; whatever the output had taken. */
START_TEST(end_while_a_push_waits)
{
	struct entry *taken[2] = {NULL};
	pthread_t thread;

	make_spooled(2, _i == 1);
	taken[0] = queue_take(queue);
	ck_assert_ptr_nonnull(taken[0]);
	begin_push(&thread);
	queue_end(queue_ref(queue));
	pthread_join(thread, NULL);
	ck_assert_int_eq(row(SPANS_DROPPED_SHUTDOWN), 3);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 3);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	account_move(account, SPANS_QUEUED, SPANS_SENT, taken[0]->batch->count);
	queue_release(queue, taken[0]);
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	assert_balance(account);
}
END_TEST

/* Large enough for the queue alone, so what is taken leaves no room. */
START_TEST(end_while_all_is_taken)
{
	struct entry *taken;
	pthread_t thread;

	make_spooled(1, true);
	taken = queue_take(queue);
	begin_push(&thread);
	queue_end(queue_ref(queue));
	pthread_join(thread, NULL);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 3);
	account_move(account, SPANS_QUEUED, SPANS_SENT, taken->batch->count);
	queue_release(queue, taken);
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	assert_balance(account);
}
END_TEST

/* The rest */

/* The rest of a batch that is not settled, in a batch of just this size. */
static struct batch *rest_of(const struct batch *batch, const uint8_t *settled)
{
	struct batch *rest = batch_create(batch->format, 0, 0);
	const uint8_t *span = batch->spans.data;

	for (uint32_t i = 0; i < batch->count; span += batch_sizes(batch)[i++])
		if (!settled[i])
			batch_add(rest, span, batch_sizes(batch)[i], batch_events(batch)[i]);
	ck_assert_uint_lt(batch_bytes(rest), batch_bytes(batch));
	return rest;
}

static void assert_waiting(size_t fresh, size_t replayed)
{
	struct backlog backlog;

	backlog_look(queue, &backlog);
	ck_assert_uint_eq(backlog.waiting_bytes, fresh);
	ck_assert_uint_eq(backlog.replay_bytes, replayed);
	ck_assert_uint_eq(queue_bytes(queue), fresh);
}

/* A batch without some is the others, in order. */
START_TEST(batch_without_some)
{
	static const uint8_t left_out[] = {1, 0, 0, 1, 0};
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, 5, 20), *rest;

	make_queue(10, 64 * 1024, 1 << 20, false);
	for (int i = 0; i < 5; i++)
		batch_add(batch, (const uint8_t *)"01234" + i, (size_t)(5 - i), 100 + i);
	batch->born = 42;
	rest = batch_without(batch, left_out);
	ck_assert_uint_eq(batch->count, 5);
	ck_assert_uint_eq(rest->count, 3);
	ck_assert_uint_eq(rest->spans.size, 4 + 3 + 1);
	ck_assert_mem_eq(rest->spans.data, "12342344", 8);
	ck_assert_uint_eq(batch_sizes(rest)[1], 3);
	ck_assert_int_eq(batch_events(rest)[2], 104);
	ck_assert_int_eq(rest->born, 42);
	ck_assert_uint_eq(rest->format, BATCH_SPAN_RECORDS);
	batch_unref(batch_ref(rest));
	batch_unref(rest);
	batch_unref(batch);
}
END_TEST

/* Some of it is settled: the rest goes back, and what it takes is what it counts for. */
START_TEST(the_rest_goes_back)
{
	static const uint8_t settled[] = {0, 1, 1, 0, 1};
	struct entry *entry;

	make_queue(10, 64 * 1024, 1 << 20, false);
	push_to(queue, 0, 5, 1000);
	queue_mark(queue);
	entry = queue_take(queue);
	queue_give_back_rest(queue, entry, rest_of(entry->batch, settled));
	ck_assert_uint_eq(entry->batch->count, 2);
	ck_assert_uint_eq(entry->batch->spans.size, 2000);
	assert_waiting(entry_bytes(entry), 0);
	ck_assert(!queue_mark_settled(queue));
	entry = queue_take(queue);
	ck_assert_int_eq(batch_events(entry->batch)[0], 0);
	ck_assert_int_eq(batch_events(entry->batch)[1], 3);
	queue_release(queue, entry);
	ck_assert(queue_mark_settled(queue));
	assert_waiting(0, 0);
}
END_TEST

START_TEST(the_rest_of_what_is_replayed)
{
	static const uint8_t settled[] = {1, 0, 1};
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, 3, 3000);
	uint8_t span[1000] = {0};
	struct backlog backlog;
	struct entry *entry;

	make_queue(10, 64 * 1024, 1 << 20, false);
	for (int i = 0; i < 3; i++)
		batch_add(batch, span, sizeof(span), i);
	entry = entry_create(batch);
	entry->spool_id = 77;
	backlog_replay(queue, entry);
	assert_waiting(0, entry_bytes(entry));
	ck_assert_ptr_eq(queue_take(queue), entry);
	queue_give_back_rest(queue, entry, rest_of(entry->batch, settled));
	assert_waiting(0, entry_bytes(entry));
	ck_assert_ptr_eq(queue_take(queue), entry);
	ck_assert_uint_eq(entry->batch->count, 1);
	ck_assert_int_eq(batch_events(entry->batch)[0], 1);
	queue_release(queue, entry);
	assert_waiting(0, 0);
	backlog_look(queue, &backlog);
	ck_assert_uint_eq(backlog.replayed, 1);
}
END_TEST

/* However often rests go back: half of the queue can still be taken, and no more. */
START_TEST(rests_leave_room_to_take)
{
	static const uint8_t settled[] = {0, 1, 0};

	make_spooled(4, false);
	for (int i = 0; i < 100; i++) {
		struct entry *first = queue_take(queue), *second = queue_take(queue);

		ck_assert_ptr_nonnull(first);
		ck_assert_ptr_nonnull(second);
		ck_assert_ptr_null(queue_take(queue));
		queue_give_back_rest(queue, second, rest_of(second->batch, settled));
		account_move(account, SPANS_QUEUED, SPANS_SENT, 1);
		ck_assert_ptr_eq(queue_take(queue), second);
		account_move(account, SPANS_QUEUED, SPANS_SENT, 3 + 2);
		queue_release(queue, first);
		queue_release(queue, second);
		push_to(queue, 0, 3, 1000);
		push_to(queue, 0, 3, 1000);
		ck_assert_uint_eq(queue_bytes(queue), queue_limit(queue));
	}
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_eq(row(SPANS_QUEUED), 4 * 3);
	assert_balance(account);
}
END_TEST

/* What counts is the least of each few seconds: a queue that is emptied in bursts does not get longer. */
START_TEST(a_queue_that_gets_longer)
{
	struct trough trough = {0};
	int64_t now = 1;

	for (int i = 0; i < 100; i++, now += NS_PER_SECOND) {
		trough_note(&trough, i % 4 ? 100000 + (size_t)i * 1000 : 10, now);
		ck_assert(!trough_grows(&trough));
	}
	for (int i = 0; i < 16; i++, now += NS_PER_SECOND)
		trough_note(&trough, (size_t)(i + 1) * 1000, now);
	ck_assert(trough_grows(&trough));
	trough_note(&trough, 5000, now);
	ck_assert(!trough_grows(&trough));
}
END_TEST

TCase *queue_limits(void)
{
	TCase *tests = tcase_create("limits");

	tcase_add_checked_fixture(tests, NULL, end_queue);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, a_slow_disk_is_waited_for_once);
	tcase_add_test(tests, without_a_disk_nobody_waits);
	tcase_add_loop_test(tests, a_wait_ends, 0, WAYS);
	tcase_add_test(tests, a_queue_that_gets_longer);
	tcase_add_test(tests, waits_as_long_as_it_takes);
	tcase_add_test(tests, end_counts_all);
	tcase_add_test(tests, given_back_after_the_end);
	tcase_add_test(tests, given_back_at_the_agents_end);
	tcase_add_loop_test(tests, end_while_a_push_waits, 0, 2);
	tcase_add_test(tests, end_while_all_is_taken);
	tcase_add_test(tests, batch_without_some);
	tcase_add_test(tests, the_rest_goes_back);
	tcase_add_test(tests, the_rest_of_what_is_replayed);
	tcase_add_test(tests, rests_leave_room_to_take);
	return tests;
}
