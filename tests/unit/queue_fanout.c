/* SPDX-License-Identifier: BSD-2-Clause */
/* The fanout: who gets which batch, and what the ledger has of it. */
#include <pthread.h>
#include <string.h>

#include "fanout_rig.h"

static struct fanout *fanout_of(struct outlet first, struct outlet second)
{
	return fanout_create(outlets_of(first, second));
}

/* Outputs with the same limits have the same batch: it is there until the last is done with it. */
START_TEST(equal_limits_share)
{
	struct fanout *to = fanout_of(outlet_of(&one, 3, 1000), outlet_of(&other, 3, 1000));
	struct entry *mine, *its;
	const struct batch *batch;

	for (int i = 0; i < 3; i++)
		add_to(to, i, 30);
	mine = queue_take(one.queue);
	its = queue_take(other.queue);
	ck_assert_ptr_nonnull(mine);
	ck_assert_ptr_eq(mine->batch, its->batch);
	batch = its->batch;
	assert_rows(&one, 3, 3, 0);
	assert_rows(&other, 3, 3, 0);
	queue_release(one.queue, mine);
	fanout_destroy(to);
	ck_assert_uint_eq(batch->owners, 1);
	ck_assert_uint_eq(batch->count, 3);
	ck_assert_int_eq(batch_events(batch)[2], 2);
	queue_release(other.queue, its);
}
END_TEST

/* Any limit that differs makes a batch of one's own. */
START_TEST(other_limits_do_not)
{
	struct outlet mine = outlet_of(&one, 4, 1000), its = outlet_of(&other, 4, 1000);
	struct entry *first, *second;
	struct fanout *to;

	if (_i == 0)
		its.limits.spans = 5;
	else if (_i == 1)
		its.limits.bytes = 1001;
	else if (_i == 2)
		its.limits.delay_ns = 101;
	else
		its.limits.otlp_names = true;
	to = fanout_of(mine, its);
	for (int i = 0; i < 3; i++)
		add_to(to, i, 30);
	flush_of(to, 0, true);
	first = queue_take(one.queue);
	second = queue_take(other.queue);
	ck_assert_ptr_ne(first->batch, second->batch);
	ck_assert_uint_eq(first->batch->count, 3);
	ck_assert_uint_eq(second->batch->count, 3);
	ck_assert_mem_eq(first->batch->spans.data, second->batch->spans.data, 90);
	assert_rows(&one, 3, 3, 0);
	assert_rows(&other, 3, 3, 0);
	queue_release(one.queue, first);
	queue_release(other.queue, second);
	fanout_destroy(to);
}
END_TEST

/* Each batch is pushed when it is full or old, whatever another is. */
START_TEST(each_in_its_own_time)
{
	struct outlet its = outlet_of(&other, 5, 1000);
	struct fanout *to;

	its.limits.delay_ns = 500;
	to = fanout_of(outlet_of(&one, 2, 1000), its);
	for (int i = 0; i < 5; i++)
		add_to(to, i, 30);
	assert_next_of(one.queue, 0, 2);
	assert_next_of(one.queue, 2, 2);
	ck_assert_ptr_null(queue_take(one.queue));
	assert_next_of(other.queue, 0, 5);
	add_to(to, 5, 30);
	assert_next_of(one.queue, 4, 2);
	add_to(to, 6, 30);
	flush_of(to, 499, false);
	assert_next_of(one.queue, 6, 1);
	ck_assert_ptr_null(queue_take(other.queue));
	flush_of(to, 500, false);
	assert_next_of(other.queue, 5, 2);
	assert_rows(&one, 7, 7, 0);
	assert_rows(&other, 7, 7, 0);
	fanout_destroy(to);
}
END_TEST

/* An item that is too large for one output is dropped there, and nowhere else; an empty one everywhere. */
START_TEST(too_large_for_one)
{
	struct fanout *to = fanout_of(outlet_of(&one, 10, 100), outlet_of(&other, 10, 1000));

	add_to(to, 1, 30);
	add_to(to, 2, 101);
	add_to(to, 3, 0);
	flush_of(to, 0, true);
	assert_rows(&one, 3, 1, 2);
	assert_rows(&other, 3, 2, 1);
	assert_next_of(one.queue, 1, 1);
	assert_next_of(other.queue, 1, 2);
	add_to(to, 4, 2000); /* for both, and alone in no batch */
	flush_of(to, 0, true);
	assert_rows(&one, 4, 1, 3);
	assert_rows(&other, 4, 2, 2);
	ck_assert_ptr_null(queue_take(one.queue));
	ck_assert_ptr_null(queue_take(other.queue));
	fanout_destroy(to);
}
END_TEST

/* The item in a batch that waits, which is freed. */
static void assert_item(struct queue *of, enum batch_format format, const char *item)
{
	struct entry *entry = queue_take(of);

	ck_assert_ptr_nonnull(entry);
	ck_assert_uint_eq(entry->batch->format, format);
	ck_assert_uint_eq(entry->batch->count, 1);
	ck_assert_uint_eq(entry->batch->spans.size, strlen(item));
	ck_assert_mem_eq(entry->batch->spans.data, item, strlen(item));
	queue_release(of, entry);
}

static void hand_item(struct fanout *to, enum batch_format format, const char *item)
{
	struct batch *items = batch_create(format, 0, 0);

	batch_add(items, (const uint8_t *)item, strlen(item), 7);
	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items}, 0, false);
	batch_unref(items);
}

/* All outputs that take spans get them as they came, and share the batch; it has items of one format. */
START_TEST(formats_keep_apart)
{
	struct fanout *to = fanout_of(outlet_of(&one, 10, 1000), outlet_of(&other, 10, 1000));
	struct entry *mine, *its;

	ck_assert(fanout_takes(to, KIND_SPANS));
	ck_assert(!fanout_takes(to, KIND_EVENTS) && !fanout_takes(to, KIND_MESSAGES));
	hand_item(to, BATCH_SPAN_RECORDS, "record");
	ck_assert_ptr_null(queue_take(one.queue));
	hand_item(to, BATCH_ZIPKIN_SPANS, "thrift");
	assert_item(one.queue, BATCH_SPAN_RECORDS, "record");
	ck_assert_ptr_null(queue_take(one.queue));
	hand_item(to, BATCH_ZIPKIN_SPANS, "next");
	hand_item(to, BATCH_SPAN_RECORDS, "last");
	flush_of(to, 0, true);
	assert_item(other.queue, BATCH_SPAN_RECORDS, "record");
	mine = queue_take(one.queue);
	its = queue_take(other.queue);
	ck_assert_ptr_nonnull(mine);
	ck_assert_ptr_eq(mine->batch, its->batch);
	ck_assert_uint_eq(mine->batch->format, BATCH_ZIPKIN_SPANS);
	ck_assert_uint_eq(mine->batch->count, 2);
	ck_assert_mem_eq(mine->batch->spans.data, "thriftnext", 10);
	queue_release(one.queue, mine);
	queue_release(other.queue, its);
	assert_item(one.queue, BATCH_SPAN_RECORDS, "last");
	assert_item(other.queue, BATCH_SPAN_RECORDS, "last");
	assert_rows(&one, 4, 4, 0);
	assert_rows(&other, 4, 4, 0);
	fanout_destroy(to);
}
END_TEST

/* What is handed goes to those who take its kind, in its order, and to nobody else. */
START_TEST(kinds_keep_apart)
{
	struct batch *items = batch_create(BATCH_MESSAGES, 0, 0);
	struct outlet its = outlet_of(&other, 10, 40);
	struct ledger change = {.row = {[MESSAGES_TAKEN] = 3}}, rows;
	uint8_t bytes[41] = {0};
	struct fanout *to;
	struct entry *entry;

	its.limits.kind = KIND_MESSAGES;
	to = fanout_of(outlet_of(&one, 10, 1000), its);
	ck_assert(fanout_takes(to, KIND_SPANS) && fanout_takes(to, KIND_MESSAGES));
	ck_assert(!fanout_takes(to, KIND_EVENTS));
	ck_assert_uint_eq(fanout_largest(to, KIND_MESSAGES), 40);
	ck_assert_uint_eq(fanout_largest(to, KIND_SPANS), 1000);
	ck_assert_uint_eq(fanout_largest(to, KIND_EVENTS), SIZE_MAX);
	for (size_t size = 39; size <= sizeof(bytes); size++)
		batch_add(items, bytes, size, 5);
	fanout_hand(to, &change, &(struct items){.batch = items}, 0, true);
	assert_rows(&one, 0, 0, 0);
	assert_rows(&other, 3, 2, 1);
	ck_assert_ptr_null(queue_take(one.queue));
	entry = queue_take(other.queue);
	ck_assert_uint_eq(entry->batch->count, 2);
	ck_assert_uint_eq(entry->batch->format, BATCH_MESSAGES);
	queue_release(other.queue, entry);
	ledger_read(&rows);
	ck_assert_int_eq(rows.row[MESSAGES_TAKEN], 3);
	/* of a kind that nobody takes there is nothing to deliver */
	items->format = BATCH_EVENT_RECORDS;
	change.row[EVENTS_READ] = 3;
	fanout_hand(to, &change, &(struct items){.batch = items}, 0, true);
	ledger_read(&rows);
	ck_assert_int_eq(rows.row[EVENTS_READ], 3);
	add_to(to, 1, 30);
	flush_of(to, 0, true);
	assert_rows(&one, 1, 1, 0);
	assert_rows(&other, 3, 2, 1);
	assert_next_of(one.queue, 1, 1);
	/* one that is full holds up its own kind alone */
	for (int i = 0; i < 30; i++)
		push_to(other.queue, 0, 1, 20000);
	ck_assert(fanout_admits(to, KIND_SPANS, 1000, false));
	ck_assert(!fanout_admits(to, KIND_MESSAGES, 1000, false));
	ck_assert(!fanout_admits(to, KIND_EVENTS, 1, false));
	batch_unref(items);
	fanout_destroy(to);
}
END_TEST

/* The producer's changes and what it made are posted together, once, however many batches they fill. */
START_TEST(posted_together)
{
	struct outlet none = outlet_of(&one, 10, 1000);
	struct fanout *to = fanout_of(none, outlet_of(&other, 2, 100));
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 5, 0);
	static const size_t sizes[] = {30, 30, 101, 0, 30};
	struct ledger change = {.row = {[SPANS_MADE] = 5, [EVENTS_READ] = 7}}, rows;
	uint8_t bytes[101] = {0};

	for (int i = 0; i < 5; i++)
		batch_add(items, bytes, sizes[i], i);
	fanout_hand(to, &change, &(struct items){.batch = items}, 0, false);
	ck_assert_int_eq(change.row[SPANS_MADE] + change.row[EVENTS_READ], 0);
	assert_rows(&one, 5, 4, 1);
	assert_rows(&other, 5, 3, 2);
	ck_assert_ptr_null(queue_take(one.queue));
	assert_next_of(other.queue, 0, 2);
	ck_assert_ptr_null(queue_take(other.queue));
	ck_assert(fanout_waits(to));
	ck_assert_uint_eq(items->count, 5);
	fanout_hand(to, &change, NULL, 0, true);
	ck_assert(!fanout_waits(to));
	assert_rows(&one, 5, 4, 1);
	ledger_read(&rows);
	ck_assert_int_eq(rows.row[SPANS_MADE], 5);
	ck_assert_int_eq(rows.row[EVENTS_READ], 7);
	assert_next_of(other.queue, 4, 1);
	batch_unref(items);
	fanout_destroy(to);
	/* without any output */
	to = fanout_create(outlets_create(NULL, 0));
	ck_assert(!fanout_takes(to, KIND_SPANS));
	change.row[SPANS_MADE] = 1;
	add_to(to, 3, 30);
	fanout_hand(to, &change, NULL, 0, true);
	ledger_read(&rows);
	ck_assert_int_eq(rows.row[SPANS_MADE], 6);
	ck_assert(fanout_settled(to));
	fanout_destroy(to);
}
END_TEST

static int64_t known;

static void look(void *data)
{
	known = row_of(data, SPANS_QUEUED);
}

/* Whoever is woken by a batch finds it in the ledger. */
START_TEST(known_before_it_is_pushed)
{
	struct queue_limits limits = {.bytes = 1 << 20};
	struct side side = {.account = account_open("looks")};
	struct fanout *to;

	side.queue = queue_create(&limits, side.account, look, side.account);
	to = fanout_of(outlet_of(&one, 3, 1000), outlet_of(&side, 3, 1000));
	for (int i = 0; i < 3; i++)
		add_to(to, i, 30);
	ck_assert_int_eq(known, 3);
	fanout_destroy(to);
	close_side(&side);
}
END_TEST

/* What is over half of each queue is the excess. */
START_TEST(excess_over_all)
{
	struct fanout *to = fanout_of(outlet_of(&one, 1, 64 << 10), outlet_of(&other, 1, 64 << 10));
	struct queue_limits tight = {.bytes = 20 << 10};

	queue_configure(other.queue, &tight);
	ck_assert_uint_eq(fanout_excess(to), 0);
	add_to(to, 1, 8 << 10);
	ck_assert_uint_eq(fanout_excess(to), 0);
	add_to(to, 2, 8 << 10);
	ck_assert_uint_eq(fanout_excess(to), queue_bytes(other.queue) - (10 << 10));
	queue_configure(one.queue, &tight);
	ck_assert_uint_eq(fanout_excess(to), 2 * (queue_bytes(other.queue) - (10 << 10)));
	fanout_destroy(to);
}
END_TEST

/* Several producers */

#define PRODUCERS 4
#define ITEMS 5000

static void *produce(void *data)
{
	int64_t base = *(const int64_t *)data * ITEMS;
	struct fanout *to = fanout_of(outlet_of(&one, 10, 4000), outlet_of(&other, 7, 4000));

	for (int64_t i = 0; i < ITEMS; i++)
		add_to(to, base + i, 100);
	flush_of(to, 0, true);
	fanout_destroy(to);
	return NULL;
}

static int running;

static void *close_when_done(void *data)
{
	pthread_t threads[PRODUCERS];
	int64_t number[PRODUCERS];

	(void)data;
	for (int i = 0; i < PRODUCERS; i++) {
		number[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, produce, &number[i]), 0);
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	g_atomic_int_set(&running, 0);
	return NULL;
}

/* Sends one batch if there is any: each producer's come in order, none twice. */
static bool deliver(struct side *side, int64_t *next)
{
	struct entry *entry = queue_take(side->queue);

	if (!entry)
		return false;
	for (uint32_t i = 0; i < entry->batch->count; i++) {
		int64_t number = batch_events(entry->batch)[i], producer = number / ITEMS;

		ck_assert_int_ge(number, next[producer]);
		next[producer] = number + 1;
	}
	account_move(side->account, SPANS_QUEUED, SPANS_SENT, entry->batch->count);
	queue_release(side->queue, entry);
	return true;
}

/* One queue makes them wait, the other drops: in both each span is counted once. */
START_TEST(several_producers)
{
	struct queue_limits waits = {.bytes = 40 << 10, .wait_when_full = true}, drops = {.bytes = 8 << 10};
	int64_t next[2][PRODUCERS] = {{0}}, all = PRODUCERS * ITEMS;
	pthread_t closer;
	bool more = true;

	for (int i = 0; i < PRODUCERS; i++)
		next[0][i] = next[1][i] = i * ITEMS;
	queue_configure(one.queue, &waits);
	queue_configure(other.queue, &drops);
	running = 1;
	ck_assert_int_eq(pthread_create(&closer, NULL, close_when_done, NULL), 0);
	for (int i = 0; more || g_atomic_int_get(&running); i++) {
		more = deliver(&one, next[0]);
		if (i % 20 == 0 || !g_atomic_int_get(&running))
			more |= deliver(&other, next[1]);
		ck_assert_uint_le(queue_bytes(one.queue), waits.bytes);
	}
	pthread_join(closer, NULL);
	while (deliver(&one, next[0]) || deliver(&other, next[1]))
		;
	assert_rows(&one, all, 0, 0);
	assert_rows(&other, all, 0, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_SENT), all);
	ck_assert_int_gt(row_of(other.account, SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_eq(
		row_of(other.account, SPANS_SENT) + row_of(other.account, SPANS_DROPPED_QUEUE_FULL), all);
	for (int i = 0; i < PRODUCERS; i++)
		ck_assert_int_eq(next[0][i], (i + 1) * ITEMS);
}
END_TEST

TCase *queue_fanout(void)
{
	TCase *tests = tcase_create("fanout");

	tcase_set_timeout(tests, 30);
	tcase_add_checked_fixture(tests, open_sides, close_sides);
	tcase_add_test(tests, equal_limits_share);
	tcase_add_loop_test(tests, other_limits_do_not, 0, 4);
	tcase_add_test(tests, each_in_its_own_time);
	tcase_add_test(tests, too_large_for_one);
	tcase_add_test(tests, formats_keep_apart);
	tcase_add_test(tests, kinds_keep_apart);
	tcase_add_test(tests, posted_together);
	tcase_add_test(tests, known_before_it_is_pushed);
	tcase_add_test(tests, excess_over_all);
	tcase_add_test(tests, several_producers);
	return tests;
}
