/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces that are wanted whole: who is told of which, what there is room for, and what the outputs keep.
 */
#include "queue/wanted.h"

#include "base/clock.h"
#include "fanout_rig.h"
#include "queue/keep.h"

#define SECOND NS_PER_SECOND
#define START (1000 * SECOND)

static struct wanted *wanted;

static void setup(void)
{
	open_sides();
	wanted = wanted_create();
}

static void teardown(void)
{
	wanted_unref(wanted);
	close_sides();
}

static struct wanted_reader reader_of(enum wanted_by by, uint64_t number)
{
	return (struct wanted_reader){.place = {by, number}};
}

static bool add_as(uint64_t id, enum wanted_by by, uint64_t number, uint64_t sharer, int64_t now)
{
	return wanted_add(
		wanted, &(struct trace_id){.low = id}, &(struct wanted_place){by, number}, sharer, now);
}

/* What the reader is told now: the sum of the ids, which tells them apart if they are powers of two. */
static uint64_t told(struct wanted_reader *reader, int64_t now)
{
	struct trace_id ids[8];
	uint64_t sum = 0;
	uint32_t count;

	do {
		count = wanted_read(wanted, reader, ids, NULL, 8, now);
		for (uint32_t i = 0; i < count; i++)
			sum += ids[i].low;
	} while (count == 8);
	return sum;
}

static int64_t not_told(void)
{
	struct ledger rows;

	ledger_read(&rows);
	return rows.row[TRACES_NOT_TOLD];
}

/* An output's own go to its server and to senders; its server's to senders; a sender's to all others. */
START_TEST(who_is_told)
{
	const uint64_t output = wanted_number(wanted), another = wanted_number(wanted),
		       sender = wanted_number(wanted), second = wanted_number(wanted);
	struct wanted_reader choice = reader_of(WANTED_HERE, output),
			     server = reader_of(WANTED_ABOVE, output), its = reader_of(WANTED_BELOW, sender),
			     other_sender = reader_of(WANTED_BELOW, second),
			     other_choice = reader_of(WANTED_HERE, another),
			     other_server = reader_of(WANTED_ABOVE, another);

	ck_assert_uint_eq(told(&its, START), 0);
	ck_assert(!wanted_has_more(wanted, &its));
	ck_assert(add_as(1, WANTED_HERE, output, output, START));
	ck_assert(add_as(2, WANTED_ABOVE, output, output, START));
	ck_assert(add_as(4, WANTED_BELOW, sender, 77, START));
	ck_assert(wanted_has_more(wanted, &its));
	ck_assert_uint_eq(told(&choice, START), 1 | 2 | 4);
	ck_assert_uint_eq(told(&server, START), 1 | 4);
	ck_assert_uint_eq(told(&its, START), 1 | 2);
	ck_assert_uint_eq(told(&other_sender, START), 1 | 2 | 4);
	ck_assert_uint_eq(told(&other_choice, START), 4);
	ck_assert_uint_eq(told(&other_server, START), 4);
	ck_assert_uint_eq(told(&choice, START), 0);
	ck_assert(!wanted_has_more(wanted, &its));
}
END_TEST

/* All of an id counts; and it is there once, unless more have to be told, or it is said again much later. */
START_TEST(said_twice)
{
	struct wanted_reader choice = reader_of(WANTED_HERE, 1), sender = reader_of(WANTED_BELOW, 9);
	const struct wanted_place below = {WANTED_BELOW, 3};
	struct trace_id ids[2];

	ck_assert(add_as(1, WANTED_HERE, 1, 1, START));
	ck_assert(!add_as(1, WANTED_HERE, 1, 1, START + SECOND));
	ck_assert(!add_as(1, WANTED_ABOVE, 1, 1, START + SECOND));
	/* other outputs may have part of it, too */
	ck_assert(add_as(1, WANTED_BELOW, 3, 3, START + SECOND));
	ck_assert(!add_as(1, WANTED_BELOW, 4, 4, START + SECOND));
	ck_assert(!add_as(1, WANTED_HERE, 1, 1, START + SECOND));
	ck_assert_uint_eq(told(&choice, START + SECOND), 2);
	ck_assert(add_as(1, WANTED_BELOW, 4, 4, START + 7 * SECOND));
	ck_assert_uint_eq(told(&choice, START + 7 * SECOND), 1);
	ck_assert(wanted_add(wanted, &(struct trace_id){5, 1}, &below, 3, START + 7 * SECOND));
	ck_assert_uint_eq(wanted_read(wanted, &choice, ids, NULL, 2, START + 7 * SECOND), 1);
	ck_assert(ids[0].high == 5 && ids[0].low == 1);
	ck_assert_int_eq(not_told(), 0);
	/* who comes late hears of the last minute */
	ck_assert_uint_eq(told(&sender, START + 64 * SECOND), 2);
	sender.next = 0;
	ck_assert_uint_eq(told(&sender, START + 68 * SECOND), 0);
}
END_TEST

/* Who says a million is taken for as many as there is room for, and takes nothing from the others' part. */
START_TEST(a_liar)
{
	struct wanted_reader reader = reader_of(WANTED_BELOW, 9);
	uint64_t taken = 0;

	for (uint64_t i = 1; i <= 1000000; i++)
		taken += add_as(i << 20, WANTED_BELOW, 1, 1, START);
	ck_assert_uint_eq(taken, WANTED_SECOND_MAX);
	ck_assert_int_eq(not_told(), 1000000 - WANTED_SECOND_MAX);
	for (uint64_t i = 1; i <= WANTED_SECOND_MAX / 2; i++)
		ck_assert(add_as(i, WANTED_BELOW, 2, 2, START));
	ck_assert(!add_as(12345, WANTED_BELOW, 2, 2, START));
	/* in the next second both have half of it */
	taken = 0;
	for (uint64_t i = 1; i <= 1000000; i++)
		taken += add_as(i << 21, WANTED_BELOW, 1, 1, START + 6 * SECOND);
	ck_assert_uint_eq(taken, WANTED_SECOND_MAX); /* he was alone for a while */
	taken = 0;
	for (uint64_t i = 1; i <= 1000; i++)
		taken += add_as(i << 40, WANTED_BELOW, 2, 2, START + 6 * SECOND);
	ck_assert_uint_eq(taken, WANTED_SECOND_MAX / 2);
	taken = 0;
	for (uint64_t i = 1; i <= 1000000; i++)
		taken += add_as(i << 23 | 1, WANTED_BELOW, 1, 1, START + 7 * SECOND);
	ck_assert_uint_eq(taken, WANTED_SECOND_MAX / 2);
	ck_assert_uint_gt(told(&reader, START + 7 * SECOND), 0);
}
END_TEST

/* The oldest make room; who is too slow for them misses some, which is counted. */
START_TEST(too_slow)
{
	struct wanted_reader reader = reader_of(WANTED_BELOW, 9);
	uint64_t id = 1;

	ck_assert(add_as(id++, WANTED_BELOW, 1, 1, START));
	ck_assert_uint_eq(told(&reader, START), 1);
	for (int64_t second = 1; second <= 20; second++)
		for (int i = 0; i < WANTED_SECOND_MAX; i++)
			ck_assert(add_as(id++, WANTED_BELOW, 1, 1, START + second * SECOND));
	ck_assert_uint_gt(told(&reader, START + 20 * SECOND), 0);
	ck_assert_int_eq(not_told(), 20 * WANTED_SECOND_MAX - WANTED_MAX);
	/* but not who only comes then */
	reader.next = 0;
	ck_assert_uint_gt(told(&reader, START + 20 * SECOND), 0);
	ck_assert_int_eq(not_told(), 20 * WANTED_SECOND_MAX - WANTED_MAX);
}
END_TEST

START_TEST(more_sharers_than_room)
{
	for (uint64_t i = 1; i <= 5000; i++)
		ck_assert(add_as(i, WANTED_BELOW, i, i, START) == (i <= 4096));
	ck_assert_int_eq(not_told(), 5000 - 4096);
}
END_TEST

START_TEST(who_waits)
{
	ck_assert(!wanted_is_noted(wanted, WANTED_HERE, START));
	wanted_note(wanted, WANTED_HERE, START);
	ck_assert(wanted_is_noted(wanted, WANTED_HERE, START + 2 * SECOND));
	ck_assert(!wanted_is_noted(wanted, WANTED_BELOW, START));
	ck_assert(!wanted_is_noted(wanted, WANTED_HERE, START + 4 * SECOND));
}
END_TEST

/* What outputs keep */

static struct outlet whole_traces(struct side *side, uint64_t output)
{
	struct outlet outlet = outlet_of(side, 100, 100000);

	outlet.limits.keep = (struct keep){.one_in = 1000000,
		.errors = true,
		.traces_ns = 10 * SECOND,
		.traces_bytes = 1 << 20,
		.wanted = wanted,
		.output = output};
	return outlet;
}

static void hand(struct fanout *to, uint64_t trace, bool error, int64_t now)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 1, 0);
	struct ledger change = {.row = {[SPANS_MADE] = 1}};
	struct items all = {.batch = items};
	const struct tag tag = {.key = {"error", 5}, .value = {"", 0}};
	const struct span span = {.trace_id = trace, .id = 1, .tags = &tag, .tag_count = error};
	struct buffer record = {0};

	ck_assert_int_eq(record_put(&record, &span), 0);
	batch_add(items, record.data, record.size, now);
	fanout_hand(to, &change, &all, now, true);
	batch_unref(items);
	buffer_free(&record);
}

static uint32_t sent(struct side *side)
{
	uint32_t spans = 0;
	struct entry *entry;

	while ((entry = queue_take(side->queue))) {
		spans += entry->batch->count;
		account_move(side->account, SPANS_QUEUED, SPANS_SENT, entry->batch->count);
		queue_release(side->queue, entry);
	}
	return spans;
}

/* Of what waits, and of what comes; also where nothing comes that would ask. */
START_TEST(kept_for_another)
{
	const uint64_t first = wanted_number(wanted), second = wanted_number(wanted);
	struct fanout *to =
		fanout_create(outlets_of(whole_traces(&one, first), whole_traces(&other, second)));

	ck_assert_ptr_eq(fanout_wanted(to), wanted);
	hand(to, 1, false, START);
	hand(to, 1, false, START);
	hand(to, 2, false, START);
	hand(to, 3, false, START);
	ck_assert(wanted_is_noted(wanted, WANTED_HERE, START));
	ck_assert(add_as(1, WANTED_BELOW, 99, 99, START));
	ck_assert(add_as(2, WANTED_ABOVE, first, first, START));
	flush_of(to, START + SECOND, true);
	ck_assert_uint_eq(sent(&one), 3);
	ck_assert_uint_eq(sent(&other), 2);
	hand(to, 1, false, START + 2 * SECOND);
	ck_assert_uint_eq(sent(&one), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_ASKED), 4);
	ck_assert_int_eq(row_of(other.account, SPANS_ASKED), 3);
	ck_assert_int_eq(row_of(one.account, SPANS_UNDECIDED), 1);
	/* for so long; and what waited for so long is gone when the word comes */
	flush_of(to, START + 12 * SECOND, true);
	hand(to, 1, false, START + 12 * SECOND);
	ck_assert(add_as(3, WANTED_BELOW, 99, 99, START + 12 * SECOND));
	flush_of(to, START + 12 * SECOND, true);
	ck_assert_uint_eq(sent(&one), 0);
	ck_assert_int_eq(row_of(one.account, SPANS_SAMPLED_OUT), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_ASKED), 4);
	/* one that failed here, too, is not counted as another's */
	hand(to, 1, true, START + 12 * SECOND);
	ck_assert_uint_eq(sent(&one), 2);
	ck_assert(add_as(1, WANTED_BELOW, 98, 98, START + 18 * SECOND));
	hand(to, 1, false, START + 18 * SECOND);
	ck_assert_int_eq(row_of(one.account, SPANS_ASKED), 4);
	sent(&one);
	sent(&other);
	fanout_end(to);
	fanout_destroy(to);
}
END_TEST

/* An error tells others; a trace that all keep anyway, or another one's word, does not. */
START_TEST(others_are_told)
{
	const uint64_t first = wanted_number(wanted), second = wanted_number(wanted);
	struct fanout *to = fanout_create(
			      outlets_of(whole_traces(&one, first), outlet_of(&other, 100, 100000))),
		      *input = fanout_create_second(
			      outlets_of(whole_traces(&one, first), outlet_of(&other, 100, 100000)));
	struct wanted_reader server = reader_of(WANTED_ABOVE, first), sender = reader_of(WANTED_BELOW, 99),
			     its = reader_of(WANTED_ABOVE, second);
	uint64_t everywhere = 1;

	while (!keep_takes_trace(&(struct keep){.one_in = 1000000}, &(struct trait){.trace_id = everywhere}))
		everywhere++;
	hand(to, 1, false, START);
	hand(to, everywhere, true, START);
	ck_assert_uint_eq(told(&sender, START), 0);
	hand(to, 1, true, START);
	hand(to, 1, true, START);
	ck_assert_uint_eq(told(&sender, START), 1);
	ck_assert_uint_eq(told(&server, START), 1);
	ck_assert_uint_eq(told(&its, START), 0);
	/* what came by another way into this agent is the same trace */
	hand(input, 1, false, START);
	ck_assert_int_eq(row_of(one.account, SPANS_ASKED), 0);
	ck_assert_uint_eq(sent(&one), 5);
	/* it is said again, as others have forgotten it by then */
	hand(to, 1, true, START + 6 * SECOND);
	ck_assert_uint_eq(told(&server, START + 6 * SECOND), 1);
	sent(&one);
	sent(&other);
	fanout_end(to);
	fanout_end(input);
	fanout_destroy(to);
	fanout_destroy(input);
}
END_TEST

/* A server that lies does not push out what fails here. */
START_TEST(lies_do_not_push_out)
{
	const uint64_t first = wanted_number(wanted);
	struct fanout *to =
		fanout_create(outlets_of(whole_traces(&one, first), outlet_of(&other, 100, 100000)));

	hand(to, 1, true, START);
	for (int64_t ms = 0; ms < 9000; ms += 1000) {
		for (uint64_t i = 1; i <= 100000; i++)
			add_as(((uint64_t)ms + 1) << 32 | i, WANTED_ABOVE, first, first,
				START + ms * NS_PER_MS);
		flush_of(to, START + ms * NS_PER_MS, false);
	}
	hand(to, 1, false, START + 9 * SECOND);
	ck_assert_uint_eq(sent(&one), 2);
	sent(&other);
	fanout_end(to);
	fanout_destroy(to);
}
END_TEST

TCase *queue_wanted(void)
{
	TCase *tests = tcase_create("wanted");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, who_is_told);
	tcase_add_test(tests, said_twice);
	tcase_add_test(tests, a_liar);
	tcase_add_test(tests, too_slow);
	tcase_add_test(tests, more_sharers_than_room);
	tcase_add_test(tests, who_waits);
	tcase_add_test(tests, kept_for_another);
	tcase_add_test(tests, others_are_told);
	tcase_add_test(tests, lies_do_not_push_out);
	tcase_set_timeout(tests, 30);
	return tests;
}
