/* SPDX-License-Identifier: BSD-2-Clause */
/* Which spans an output keeps, and what the ledger has of the others. */
#include "encode/zipkin.h"
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

/* A span's trait, which is the same of its record. */
static struct trait its_trait(const struct span *span)
{
	struct trait trait = trait_of(span), seen;
	struct buffer record = {0};

	ck_assert_int_eq(record_put(&record, span), 0);
	ck_assert(record_trait(&seen, record.data, record.size));
	ck_assert_uint_eq(seen.trace_id_high, trait.trace_id_high);
	ck_assert_uint_eq(seen.trace_id, trait.trace_id);
	ck_assert_uint_eq(seen.id, trait.id);
	ck_assert_int_eq(seen.last_event, trait.last_event);
	ck_assert_uint_eq(seen.error, trait.error);
	ck_assert_uint_eq(seen.duration, trait.duration);
	buffer_free(&record);
	return trait;
}

START_TEST(what_travels)
{
	struct tag tags[] = {{.key = {"errors", 6}}, {.key = {"error", 5}}};
	struct span_more more = {0};
	struct span span = {.trace_id_high = 7,
		.trace_id = 8,
		.id = 9,
		.duration = 5000,
		.last_event = 11,
		.tags = tags,
		.tag_count = 2};
	struct trait trait = its_trait(&span);

	ck_assert_uint_eq(trait.trace_id_high, 7);
	ck_assert_uint_eq(trait.trace_id, 8);
	ck_assert_uint_eq(trait.id, 9);
	ck_assert_uint_eq(trait.duration, 5000);
	ck_assert_int_eq(trait.last_event, 11);
	ck_assert(trait.error);
	span.tag_count = 1;
	ck_assert(!its_trait(&span).error);
	span.duration = INT64_MAX;
	ck_assert_uint_eq(its_trait(&span).duration, INT64_MAX);
	span.duration = -1;
	ck_assert_uint_eq(its_trait(&span).duration, 0);
	/* what OpenTelemetry's have */
	span.more = &more;
	ck_assert(!its_trait(&span).error);
	more.status = SPAN_STATUS_OK;
	ck_assert(!its_trait(&span).error);
	more.status = SPAN_STATUS_ERROR;
	ck_assert(its_trait(&span).error);
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

/* Records of which each is of a trace of its own: 1, 2, ... Its traits are told, or found. */
static void hand_items(struct fanout *to, bool told)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, ITEMS, 0);
	struct trait traits[ITEMS];
	struct buffer record = {0};

	for (uint64_t i = 1; i <= ITEMS; i++) {
		const struct span span = {.trace_id = i};

		record.size = 0;
		ck_assert_int_eq(record_put(&record, &span), 0);
		batch_add(items, record.data, record.size, (int64_t)i);
		traits[i - 1] = trait_of(&span);
	}
	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items, .traits = told ? traits : NULL},
		0, true);
	batch_unref(items);
	buffer_free(&record);
}

/* The trace of the next record, at @at. */
static uint64_t next_trace(const uint8_t **at, uint32_t size)
{
	struct trait trait;

	ck_assert(record_trait(&trait, *at, size));
	*at += size;
	return trait.trace_id;
}

/* One keeps all, the other its share: each its own batch, and each item in one row. */
START_TEST(two_outputs)
{
	struct outlet its = outlet_of(&other, 100, 10000);
	struct fanout *to;
	struct entry *entry;
	const uint8_t *at;
	uint32_t seen = 0;

	its.limits.keep.one_in = 10;
	to = fanout_create(outlets_of(outlet_of(&one, 100, 10000), its));
	hand_items(to, _i == 0);
	assert_rows(&one, ITEMS, ITEMS, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_SAMPLED_OUT), 0);
	entry = queue_take(other.queue);
	at = entry->batch->spans.data;
	for (uint64_t id = 1; id <= ITEMS; id++)
		if (takes(10, id))
			ck_assert_uint_eq(next_trace(&at, batch_sizes(entry->batch)[seen++]), id);
	ck_assert_uint_eq(entry->batch->count, seen);
	assert_rows(&other, ITEMS, seen, 0);
	ck_assert_int_eq(row_of(other.account, SPANS_SAMPLED_OUT), ITEMS - seen);
	queue_release(other.queue, entry);
	fanout_destroy(to);
}
END_TEST

/* What is no record is of no trace, so nobody knows that it is kept; what came in Thrift is looked into. */
START_TEST(of_other_formats)
{
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct outlet mine = outlet_of(&one, 100, 10000);
	struct buffer item = {0};
	struct entry *entry;
	struct fanout *to;

	mine.limits.keep = (struct keep){.one_in = 10, .errors = true};
	to = fanout_create(outlets_create(&mine, 1));
	for (uint64_t i = 1; i <= ITEMS; i++) {
		item.size = 0;
		zipkin_encode(&item, &(struct span){.trace_id = i, .id = 1, .timestamp = 1000});
		batch_add(items, item.data, item.size, (int64_t)i);
	}
	batch_add(items, (const uint8_t *)"none", 4, 99);
	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items}, 0, true);
	entry = queue_take(one.queue);
	for (uint32_t i = 0; i < entry->batch->count; i++)
		ck_assert(takes(10, (uint64_t)batch_events(entry->batch)[i] % 99));
	assert_rows(&one, ITEMS + 1, entry->batch->count, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_SAMPLED_OUT), ITEMS + 1 - entry->batch->count);
	ck_assert_uint_ge(entry->batch->count, 6);
	queue_release(one.queue, entry);
	batch_unref(items);
	buffer_free(&item);
	fanout_destroy(to);
}
END_TEST

/* Outputs that keep the same share the batch; a reload to all takes effect with the next items. */
START_TEST(shared_and_changed)
{
	struct outlet mine = outlet_of(&one, 100, 10000), its = outlet_of(&other, 100, 10000);
	struct entry *first, *second;
	struct fanout *to;
	int64_t kept;

	mine.limits.keep.one_in = its.limits.keep.one_in = 10;
	to = fanout_create(outlets_of(mine, its));
	hand_items(to, true);
	first = queue_take(one.queue);
	second = queue_take(other.queue);
	ck_assert_ptr_eq(first->batch, second->batch);
	queue_release(one.queue, first);
	queue_release(other.queue, second);
	kept = row_of(one.account, SPANS_QUEUED);
	its.limits.keep.one_in = 1;
	fanout_configure(to, outlets_of(mine, its));
	hand_items(to, true);
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
	tcase_add_loop_test(tests, two_outputs, 0, 2);
	tcase_add_test(tests, of_other_formats);
	tcase_add_test(tests, shared_and_changed);
	return tests;
}
