/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole traces: what waits for a span that has its trace kept, and what the ledger has of it. */
#include <inttypes.h>

#include "fanout_rig.h"
#include "queue/backlog.h"
#include "queue/keep.h"
#include "queue/tracehash.h"

#define WAIT 1000

/* A span, as these tests hand it over. */
struct made {
	uint32_t number; /* its id */
	uint64_t trace;
	bool error;
};

/* One trace in a million is kept, and none of the ids of these tests is one of them; and errors. */
static struct outlet whole_traces(struct side *side, size_t bytes)
{
	struct outlet outlet = outlet_of(side, 100, 100000);

	outlet.limits.keep =
		(struct keep){.one_in = 1000000, .errors = true, .traces_ns = WAIT, .traces_bytes = bytes};
	return outlet;
}

static struct fanout *fanout_with(size_t bytes)
{
	return fanout_create_second(outlets_of(whole_traces(&one, bytes), outlet_of(&other, 100, 100000)));
}

static void hand(
	struct fanout *to, struct receipt *receipt, const struct made *made, uint32_t count, int64_t now)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, count, 0);
	g_autofree struct trait *traits = g_new0(struct trait, count);
	struct ledger change = {.row = {[SPANS_MADE] = count}};
	/* some tell, of others it is found */
	struct items all = {.batch = items, .traits = count % 2 ? traits : NULL};
	static const struct tag error = {.key = {"error", 5}, .value = {"", 0}};
	struct buffer record = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct span span = {.trace_id = made[i].trace,
			.id = made[i].number,
			.tags = &error,
			.tag_count = made[i].error};

		record.size = 0;
		ck_assert_int_eq(record_put(&record, &span), 0);
		batch_add(items, record.data, record.size, now);
		traits[i] = trait_of(&span);
	}
	if (receipt)
		ck_assert(fanout_hand_for(to, receipt, &change, &all, now));
	else
		fanout_hand(to, &change, &all, now, true);
	batch_unref(items);
	buffer_free(&record);
}

/* The number of the next record, at @at. */
static uint32_t next_number(const uint8_t **at, uint32_t size)
{
	struct trait trait;

	ck_assert(record_trait(&trait, *at, size));
	*at += size;
	return (uint32_t)trait.id;
}

/* Delivers what one of the outputs got, and sets the bit of each span's number. */
static uint64_t deliver(struct side *side)
{
	uint64_t numbers = 0;
	struct entry *entry;

	while ((entry = queue_take(side->queue))) {
		const uint8_t *at = entry->batch->spans.data;

		for (uint32_t i = 0; i < entry->batch->count; i++) {
			uint32_t number = next_number(&at, batch_sizes(entry->batch)[i]);

			ck_assert(number < 64 && !(numbers >> number & 1));
			numbers |= UINT64_C(1) << number;
		}
		account_move(side->account, entry_row(entry), SPANS_SENT, entry->batch->count);
		queue_release(side->queue, entry);
	}
	return numbers;
}

static void assert_decided(int64_t taken, int64_t undecided, int64_t sampled_out)
{
	ck_assert_int_eq(row_of(one.account, SPANS_TAKEN), taken);
	ck_assert_int_eq(row_of(one.account, SPANS_UNDECIDED), undecided);
	ck_assert_int_eq(row_of(one.account, SPANS_SAMPLED_OUT), sampled_out);
	ck_assert_int_eq(row_of(one.account, SPANS_QUEUED) + row_of(one.account, SPANS_SENT) +
				 row_of(one.account, SPANS_HELD) + row_of(one.account, SPANS_ENTRUSTED) +
				 undecided + sampled_out,
		taken);
}

/* What came before the error, with it, and after it; for so long. */
START_TEST(before_and_after)
{
	struct fanout *to = fanout_with(1 << 20);

	hand(to, NULL, (struct made[]){{0, 1, false}, {1, 2, false}, {2, 1, false}}, 3, 100);
	ck_assert_uint_eq(deliver(&one), 0);
	ck_assert_uint_eq(deliver(&other), 7);
	ck_assert(fanout_is_undecided(to) && !fanout_waits(to));
	assert_decided(3, 3, 0);
	hand(to, NULL, (struct made[]){{3, 1, false}, {4, 1, true}, {5, 3, false}, {6, 1, true}}, 4, 300);
	ck_assert_uint_eq(deliver(&one), 1 | 4 | 8 | 16 | 64);
	assert_decided(7, 2, 0);
	hand(to, NULL, (struct made[]){{7, 1, false}}, 1, 1200);
	ck_assert_uint_eq(deliver(&one), 128);
	assert_decided(8, 1, 1);
	flush_of(to, 1300, false);
	ck_assert(!fanout_is_undecided(to));
	assert_decided(8, 0, 2);
	hand(to, NULL, (struct made[]){{8, 1, false}}, 1, 1400);
	assert_decided(9, 1, 2);
	fanout_end(to);
	assert_decided(9, 0, 3);
	ck_assert_int_eq(row_of(one.account, SPANS_LEFT_EARLY), 0);
	ck_assert_uint_eq(deliver(&one), 0);
	deliver(&other);
	fanout_destroy(to);
}
END_TEST

/* Without room the oldest go, and that is told. */
START_TEST(too_little_memory)
{
	struct fanout *to = fanout_with(4096);

	for (uint32_t i = 0; i < 40; i++)
		hand(to, NULL, (struct made[]){{i, i / 2 + 1, false}}, 1, i);
	ck_assert_int_gt(row_of(one.account, SPANS_LEFT_EARLY), 10);
	ck_assert_int_eq(row_of(one.account, SPANS_LEFT_EARLY), row_of(one.account, SPANS_SAMPLED_OUT));
	ck_assert_int_gt(row_of(one.account, SPANS_UNDECIDED), 2);
	hand(to, NULL, (struct made[]){{62, 1, true}, {63, 20, true}}, 2, 50);
	ck_assert_uint_eq(deliver(&one), UINT64_C(0xc000000000000000) | UINT64_C(3) << 38);
	fanout_end(to);
	assert_decided(42, 0, 38);
	deliver(&other);
	fanout_destroy(to);
}
END_TEST

/* Senders who had their OK for what waits are not asked for it again. */
START_TEST(from_outside)
{
	struct fanout *to = fanout_with(1 << 20);
	struct receipt *first = receipt_create(NULL, NULL), *second = receipt_create(NULL, NULL);
	bool good;

	receipt_silence(first);
	receipt_silence(second);
	hand(to, first, (struct made[]){{0, 1, false}}, 1, 100);
	receipt_close(first);
	ck_assert_uint_eq(deliver(&other), 1);
	ck_assert(receipt_is_settled(first, &good) && good);
	hand(to, second, (struct made[]){{1, 1, true}}, 1, 200);
	receipt_close(second);
	ck_assert_int_eq(row_of(one.account, SPANS_ENTRUSTED), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_HELD), 1);
	deliver(&other);
	queue_drop_waiting(one.queue, false);
	ck_assert(receipt_is_settled(second, &good) && !good);
	ck_assert_int_eq(row_of(one.account, SPANS_GIVEN_BACK), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_SHUTDOWN), 1);
	receipt_unref(first);
	receipt_unref(second);
	fanout_destroy(to);
}
END_TEST

/* Of this node's own, what waited is not read again, as what it waited for is: an end drops it. */
START_TEST(not_read_again)
{
	struct fanout *to = fanout_with(1 << 20);

	hand(to, NULL, (struct made[]){{0, 1, false}, {1, 2, false}}, 2, 100);
	hand(to, NULL, (struct made[]){{2, 1, true}, {3, 1, false}}, 2, 200);
	assert_decided(4, 1, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_ENTRUSTED), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_QUEUED), 2);
	ck_assert_int_eq(queue_drop_waiting(one.queue, true), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_SHUTDOWN), 1);
	ck_assert_uint_eq(deliver(&one), 4 | 8);
	deliver(&other);
	fanout_destroy(to);
}
END_TEST

/* Other outputs: what waits is left out; and nothing is left behind by who goes without asking. */
START_TEST(other_outlets)
{
	struct fanout *to = fanout_with(1 << 20);

	hand(to, NULL, (struct made[]){{0, 1, false}, {1, 2, true}, {2, 2, false}}, 3, 100);
	fanout_configure(to, outlets_of(whole_traces(&one, 1 << 20), outlet_of(&other, 100, 100000)));
	flush_of(to, 110, false);
	assert_decided(3, 0, 1);
	hand(to, NULL, (struct made[]){{3, 1, true}, {4, 5, false}}, 2, 120);
	ck_assert_uint_eq(deliver(&one), 2 | 4 | 8);
	deliver(&other);
	/* also at the end, without those that are no more */
	fanout_configure(to, outlets_create((struct outlet[]){whole_traces(&one, 1 << 20)}, 1));
	fanout_end(to);
	assert_decided(5, 0, 2);
	hand(to, NULL, (struct made[]){{5, 1, true}}, 1, 130);
	ck_assert_uint_eq(deliver(&one), 32);
	ck_assert_uint_eq(deliver(&other), 0);
	fanout_destroy(to);
}
END_TEST

/* The same, by a rule that is as simple as can be. */
#define TRACES 200
#define SPANS 3000

static struct model {
	struct made made[SPANS];
	int64_t came[SPANS];
	bool waits[SPANS], kept[SPANS];
	int64_t kept_until[TRACES];
} model;

static void expect(uint32_t first, uint32_t count, int64_t now, uint32_t *expected)
{
	for (uint32_t i = first; i < first + count; i++) {
		uint64_t trace = model.made[i].trace;

		if (!model.made[i].error)
			continue;
		if (model.kept_until[trace] <= now + WAIT / 2)
			model.kept_until[trace] = now + WAIT;
		for (uint32_t k = 0; k < first; k++) {
			if (model.waits[k] && model.made[k].trace == trace) {
				model.waits[k] = false;
				model.kept[k] = true;
			}
		}
	}
	for (uint32_t i = first; i < first + count; i++) {
		model.kept[i] = model.made[i].error || model.kept_until[model.made[i].trace];
		model.waits[i] = !model.kept[i];
		model.came[i] = now;
	}
	*expected = 0;
	for (uint32_t i = 0; i < first + count; i++) {
		model.waits[i] = model.waits[i] && now - model.came[i] < WAIT;
		*expected += model.waits[i];
	}
	for (int i = 0; i < TRACES; i++)
		if (model.kept_until[i] <= now)
			model.kept_until[i] = 0;
}

static void mark_delivered(bool *delivered)
{
	struct entry *entry;

	while ((entry = queue_take(one.queue))) {
		const uint8_t *at = entry->batch->spans.data;

		for (uint32_t i = 0; i < entry->batch->count; i++) {
			uint32_t number = next_number(&at, batch_sizes(entry->batch)[i]);

			ck_assert(!delivered[number]);
			delivered[number] = true;
		}
		account_move(one.account, entry_row(entry), SPANS_SENT, entry->batch->count);
		queue_release(one.queue, entry);
	}
}

START_TEST(as_a_simple_rule_has_it)
{
	g_autofree bool *delivered = g_new0(bool, SPANS);
	struct fanout *to = fanout_with(64 << 20);
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	uint32_t first = 0, count, waiting;
	int64_t now = 1;

	while (first < SPANS) {
		count = (uint32_t)g_rand_int_range(random, 1, 40);
		count = MIN(count, SPANS - first);
		for (uint32_t i = first; i < first + count; i++)
			model.made[i] = (struct made){i, (uint64_t)g_rand_int_range(random, 1, TRACES),
				g_rand_int_range(random, 0, 300) == 0};
		hand(to, NULL, model.made + first, count, now);
		expect(first, count, now, &waiting);
		first += count;
		mark_delivered(delivered);
		ck_assert_uint_eq(row_of(one.account, SPANS_UNDECIDED), waiting);
		for (uint32_t i = 0; i < first; i++)
			ck_assert_msg(delivered[i] == model.kept[i], "span %u at %" PRId64, i, now);
		now += g_rand_int_range(random, 0, 60);
		while (queue_bytes(other.queue))
			send_next(other.queue);
	}
	ck_assert_int_gt(row_of(one.account, SPANS_SAMPLED_OUT), SPANS / 50);
	ck_assert_int_gt(row_of(one.account, SPANS_SENT), SPANS / 50);
	fanout_end(to);
	assert_decided(SPANS, 0, row_of(one.account, SPANS_SAMPLED_OUT));
	fanout_destroy(to);
}
END_TEST

/* Halves that are the same, or differ by the same bits: who makes long ids of short ones does that, and so
 * may who wants a table to be slow. */
START_TEST(ids_are_spread)
{
	enum { IDS = 1000 };
	g_autoptr(GHashTable) hashes = g_hash_table_new(NULL, NULL);

	for (uint64_t i = 1; i <= IDS; i++)
		g_hash_table_add(
			hashes, GUINT_TO_POINTER(tracehash(&(struct trace_id){i ^ (uint64_t)_i, i})));
	ck_assert_uint_gt(g_hash_table_size(hashes), IDS - 10);
}
END_TEST

TCase *queue_undecided(void)
{
	TCase *tcase = tcase_create("undecided");

	tcase_add_checked_fixture(tcase, open_sides, close_sides);
	tcase_add_test(tcase, before_and_after);
	tcase_add_test(tcase, too_little_memory);
	tcase_add_test(tcase, from_outside);
	tcase_add_test(tcase, not_read_again);
	tcase_add_test(tcase, other_outlets);
	tcase_add_test(tcase, as_a_simple_rule_has_it);
	tcase_add_loop_test(tcase, ids_are_spread, 0, 2);
	return tcase;
}
