/* SPDX-License-Identifier: BSD-2-Clause */
/* Which spans an output keeps, and what the ledger has of the others. */
#include <string.h>

#include "fanout_rig.h"
#include "queue/keep.h"

static bool takes(uint64_t one_in, uint64_t trace_id)
{
	return keep_takes(&(struct keep){.one_in = one_in}, &(struct trait){.trace_id = trace_id});
}

/* It is documented, with this example: other programs may use it. It must never change. */
START_TEST(the_hash_is_fixed)
{
	static const uint64_t kept_in_ten[] = {7, 10, 15, 20, 30, 60};
	size_t found = 0;

	for (uint64_t id = 1; id <= 60; id++)
		if (takes(10, id))
			ck_assert_uint_eq(kept_in_ten[found++], id);
	ck_assert_uint_eq(found, sizeof(kept_in_ten) / sizeof(*kept_in_ten));
}
END_TEST

/* Ids in a row, or with the same low bits, are kept as often as others; fewer are a part of more. */
START_TEST(poor_ids)
{
	int kept[3] = {0};

	for (uint64_t i = 0; i < 100000; i++) {
		kept[0] += takes(10, i);
		kept[1] += takes(10, i << 40);
		kept[2] += takes(10, UINT64_MAX - i * 16);
		ck_assert(!takes(20, i) || takes(10, i));
		ck_assert(takes(1, i) && takes(0, i));
	}
	for (int i = 0; i < 3; i++)
		ck_assert(kept[i] > 9500 && kept[i] < 10500);
}
END_TEST

static struct trait trait_of(const struct span *span)
{
	struct buffer out = {0};
	struct trait trait;

	trait_put(&out, span);
	ck_assert_uint_eq(out.size, sizeof(trait));
	memcpy(&trait, out.data, sizeof(trait));
	buffer_free(&out);
	return trait;
}

START_TEST(what_travels)
{
	struct tag tags[] = {{.key = {"errors", 6}}, {.key = {"error", 5}}};
	struct span span = {
		.trace_id_high = 7, .trace_id = 8, .duration = 5000, .tags = tags, .tag_count = 2};

	ck_assert_uint_eq(trait_of(&span).trace_id, 8);
	ck_assert_uint_eq(trait_of(&span).duration, 5000);
	ck_assert(trait_of(&span).error);
	span.tag_count = 1;
	ck_assert(!trait_of(&span).error);
	span.duration = INT64_MAX;
	ck_assert_uint_ge(trait_of(&span).duration, INT64_MAX / 1000 * 1000);
	span.duration = -1;
	ck_assert_uint_eq(trait_of(&span).duration, 0);
}
END_TEST

START_TEST(of_the_rest)
{
	struct keep keep = {.one_in = 1000000};
	struct trait trait = {.trace_id = 1, .error = true, .duration = 1000};

	ck_assert(!keep_takes(&keep, &trait));
	keep.errors = true;
	ck_assert(keep_takes(&keep, &trait));
	trait.error = false;
	ck_assert(!keep_takes(&keep, &trait));
	keep.slower = 1000;
	ck_assert(keep_takes(&keep, &trait));
	trait.duration = 999;
	ck_assert(!keep_takes(&keep, &trait));
}
END_TEST

#define ITEMS 60

/* Items of which each is of a trace of its own: 1, 2, ... */
static void hand_items(struct fanout *to)
{
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, ITEMS, 0);
	struct buffer traits = {0};

	for (uint8_t i = 1; i <= ITEMS; i++) {
		batch_add(items, &i, 1, i);
		trait_put(&traits, &(struct span){.trace_id = i});
	}
	fanout_hand(to, &(struct ledger){0},
		&(struct batches){.count = ITEMS, .of = {items}, .traits = traits.data}, 0, true);
	batch_unref(items);
	buffer_free(&traits);
}

/* One keeps all, the other its share: each its own batch, and each item in one row. */
START_TEST(two_outputs)
{
	struct outlet its = outlet_of(&other, 100, 1000);
	struct fanout *to;
	struct entry *entry;
	uint32_t seen = 0;

	its.limits.keep.one_in = 10;
	to = fanout_create(outlets_of(outlet_of(&one, 100, 1000), its));
	hand_items(to);
	assert_rows(&one, ITEMS, ITEMS, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_SAMPLED_OUT), 0);
	entry = queue_take(other.queue);
	for (uint64_t id = 1; id <= ITEMS; id++)
		if (takes(10, id))
			ck_assert_uint_eq(entry->batch->spans.data[seen++], id);
	ck_assert_uint_eq(entry->batch->count, seen);
	assert_rows(&other, ITEMS, seen, 0);
	ck_assert_int_eq(row_of(other.account, SPANS_SAMPLED_OUT), ITEMS - seen);
	queue_release(other.queue, entry);
	fanout_destroy(to);
}
END_TEST

/* Outputs that keep the same share the batch; a reload to all takes effect with the next items. */
START_TEST(shared_and_changed)
{
	struct outlet mine = outlet_of(&one, 100, 1000), its = outlet_of(&other, 100, 1000);
	struct entry *first, *second;
	struct fanout *to;
	int64_t kept;

	mine.limits.keep.one_in = its.limits.keep.one_in = 10;
	to = fanout_create(outlets_of(mine, its));
	hand_items(to);
	first = queue_take(one.queue);
	second = queue_take(other.queue);
	ck_assert_ptr_eq(first->batch, second->batch);
	queue_release(one.queue, first);
	queue_release(other.queue, second);
	kept = row_of(one.account, SPANS_QUEUED);
	its.limits.keep.one_in = 1;
	fanout_configure(to, outlets_of(mine, its));
	hand_items(to);
	assert_rows(&one, 2 * ITEMS, 2 * kept, 0);
	assert_rows(&other, 2 * ITEMS, kept + ITEMS, 0);
	ck_assert_int_eq(row_of(other.account, SPANS_SAMPLED_OUT), ITEMS - kept);
	fanout_destroy(to);
}
END_TEST

TCase *queue_keep(void)
{
	TCase *tests = tcase_create("keep");

	tcase_add_checked_fixture(tests, open_sides, close_sides);
	tcase_add_test(tests, the_hash_is_fixed);
	tcase_add_test(tests, poor_ids);
	tcase_add_test(tests, what_travels);
	tcase_add_test(tests, of_the_rest);
	tcase_add_test(tests, two_outputs);
	tcase_add_test(tests, shared_and_changed);
	return tests;
}
