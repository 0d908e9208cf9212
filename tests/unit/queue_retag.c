/* SPDX-License-Identifier: BSD-2-Clause */
/* An output's rules for tags: before its queue, and once more for what was made under others. */
#include <string.h>

#include "fanout_rig.h"
#include "queue/encoding.h"
#include "queue/format.h"
#include "queue/identity.h"
#include "texts.h"

#define ITEMS 10

static const enum batch_format formats[] = {BATCH_SPAN_RECORDS, BATCH_ZIPKIN_SPANS};

/* Spans with a tag `user`, each odd one with none: this node's, or as they came from another agent. */
static struct batch *make_items(enum batch_format format)
{
	struct batch *items = batch_create(format, ITEMS, 0);
	struct tag tag = {{"user", 4}, {"me", 2}, TAG_TEXT};
	struct buffer item = {0};

	for (uint64_t i = 1; i <= ITEMS; i++) {
		item.size = 0;
		ck_assert_int_eq(format_encode(format, &item,
					 &(struct span){.trace_id = i,
						 .id = i,
						 .timestamp = 1000,
						 .last_event = (int64_t)i,
						 .tags = &tag,
						 .tag_count = i % 2 == 0}),
			0);
		batch_add(items, item.data, item.size, (int64_t)i);
	}
	buffer_free(&item);
	return items;
}

static void hand_items(struct fanout *to, enum batch_format format)
{
	struct batch *items = make_items(format);

	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items}, 0, true);
	batch_unref(items);
}

static bool tells(const struct batch *batch, const char *word)
{
	return bytes_have(batch->spans.data, batch->spans.size, word, strlen(word));
}

static void assert_counts(struct side *side, int64_t dropped, int64_t renamed, int64_t redacted)
{
	ck_assert_int_eq(row_of(side->account, OUTPUT_TAGS_DROPPED), dropped);
	ck_assert_int_eq(row_of(side->account, OUTPUT_TAGS_RENAMED), renamed);
	ck_assert_int_eq(row_of(side->account, OUTPUT_TAGS_REDACTED), redacted);
}

static void assert_same_identities(const struct batch *one_of, const struct batch *other_of)
{
	struct buffer a = {0}, b = {0};

	identity_of_all(one_of, &a);
	identity_of_all(other_of, &b);
	ck_assert_uint_eq(a.size, b.size);
	ck_assert_mem_eq(a.data, b.data, a.size);
	buffer_free(&a);
	buffer_free(&b);
}

/* One output has rules: the other's bytes are what they were. Spans are known by the same identities. */
START_TEST(one_with_rules)
{
	struct outlet its = outlet_of(&other, 100, 10000);
	struct batch *items = make_items(formats[_i]);
	struct entry *plain, *ruled;
	struct fanout *to;

	its.limits.rules = tagrules_intern("", "", "user", "");
	to = fanout_create(outlets_of(outlet_of(&one, 100, 10000), its));
	hand_items(to, formats[_i]);
	plain = queue_take(one.queue);
	ruled = queue_take(other.queue);
	ck_assert_uint_eq(plain->batch->spans.size, items->spans.size);
	ck_assert_mem_eq(plain->batch->spans.data, items->spans.data, items->spans.size);
	ck_assert(!tells(ruled->batch, "me") && tells(ruled->batch, "[redacted]"));
	ck_assert_uint_eq(ruled->batch->count, ITEMS);
	assert_same_identities(plain->batch, ruled->batch);
	assert_counts(&one, 0, 0, 0);
	assert_counts(&other, 0, 0, ITEMS / 2);
	assert_rows(&other, ITEMS, ITEMS, 0);
	queue_release(one.queue, plain);
	queue_release(other.queue, ruled);
	fanout_destroy(to);
	batch_unref(items);
}
END_TEST

/* Rules of which none matches change no byte; outputs with the same ones share the batch. */
START_TEST(none_matches)
{
	struct outlet mine = outlet_of(&one, 100, 10000), its = outlet_of(&other, 100, 10000);
	struct batch *items = make_items(formats[_i]);
	struct entry *first, *second;
	struct fanout *to;

	mine.limits.rules = its.limits.rules = tagrules_intern("nosuch", "a:b", "", "");
	to = fanout_create(outlets_of(mine, its));
	hand_items(to, formats[_i]);
	first = queue_take(one.queue);
	second = queue_take(other.queue);
	ck_assert_ptr_eq(first->batch, second->batch);
	ck_assert_uint_eq(first->batch->spans.size, items->spans.size);
	ck_assert_mem_eq(first->batch->spans.data, items->spans.data, items->spans.size);
	assert_counts(&one, 0, 0, 0);
	queue_release(one.queue, first);
	queue_release(other.queue, second);
	fanout_destroy(to);
	batch_unref(items);
}
END_TEST

static void set_rules(struct side *side, const struct tagrules *rules)
{
	queue_configure(side->queue, &(struct queue_limits){.bytes = 1 << 20, .treatment = {.rules = rules}});
}

/* A rule that comes while spans wait holds for these too, once; the batch that others share stays. */
START_TEST(waiting_spans)
{
	struct fanout *to =
		fanout_create(outlets_of(outlet_of(&one, 100, 10000), outlet_of(&other, 100, 10000)));
	struct entry *plain, *ruled;
	const struct batch *changed;

	hand_items(to, formats[_i]);
	set_rules(&other, tagrules_intern("user", "", "", ""));
	plain = queue_take(one.queue);
	ruled = queue_take(other.queue);
	ck_assert_ptr_eq(plain->batch, ruled->batch);
	ck_assert(encode_entry(one.queue, plain, BATCH_ZIPKIN_SPANS));
	ck_assert(encode_entry(other.queue, ruled, BATCH_ZIPKIN_SPANS));
	ck_assert(tells(plain->batch, "user") && !tells(ruled->batch, "user"));
	ck_assert(tells(entry_wire(plain), "user") && !tells(entry_wire(ruled), "user"));
	assert_same_identities(plain->batch, ruled->batch);
	assert_counts(&other, ITEMS / 2, 0, 0);
	changed = ruled->batch;
	queue_give_back(other.queue, ruled);
	ruled = queue_take(other.queue);
	ck_assert(encode_entry(other.queue, ruled, BATCH_ZIPKIN_SPANS));
	ck_assert_ptr_eq(ruled->batch, changed);
	assert_counts(&other, ITEMS / 2, 0, 0);
	queue_release(one.queue, plain);
	queue_release(other.queue, ruled);
	fanout_destroy(to);
}
END_TEST

/* Its rules stay, and it sends OTLP from now on: what waits has a remote endpoint, of which OTLP makes tags.
 */
START_TEST(otlp_after_another_format)
{
	const struct tagrules *rules = tagrules_intern("", "", "peer.service", "");
	struct outlet its = outlet_of(&one, 100, 10000);
	struct span span = {.trace_id = 1,
		.id = 1,
		.timestamp = 1000,
		.has_remote = true,
		.remote = {.service = {"somebody", 8}}};
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 1, 0);
	struct buffer record = {0};
	struct entry *entry;
	struct fanout *to;

	its.limits.rules = rules;
	to = fanout_create(outlets_of(its, outlet_of(&other, 100, 10000)));
	ck_assert_int_eq(record_put(&record, &span), 0);
	batch_add(items, record.data, record.size, 1);
	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items}, 0, true);
	queue_configure(one.queue,
		&(struct queue_limits){.bytes = 1 << 20, .treatment = {.rules = rules, .otlp_names = true}});
	entry = queue_take(one.queue);
	ck_assert(encode_entry(one.queue, entry, BATCH_OTLP_SPANS));
	ck_assert(!tells(entry_wire(entry), "somebody") && tells(entry_wire(entry), "[redacted]"));
	queue_release(one.queue, entry);
	queue_release(other.queue, queue_take(other.queue));
	fanout_destroy(to);
	batch_unref(items);
	buffer_free(&record);
}
END_TEST

/* Two from disk, one of which was looked at: together they were not. */
START_TEST(merged_ones_are_looked_at)
{
	struct entry *first = entry_create(make_items(BATCH_SPAN_RECORDS)),
		     *next = entry_create(make_items(BATCH_SPAN_RECORDS));

	first->spool_id = 1;
	next->spool_id = 2;
	first->batch->rules = tagrules_intern("user", "", "", "");
	first = entry_merge(first, next);
	ck_assert_ptr_null(first->batch->rules);
	entry_destroy(first);
}
END_TEST

/* What cannot be read cannot be known to have no such tag: it is refused alone, and not sent. */
START_TEST(unreadable)
{
	struct batch *items = make_items(formats[_i]);
	struct entry *entry;

	batch_add(items, (const uint8_t *)"broken", 6, 99);
	account_add(one.account, SPANS_TAKEN, ITEMS + 1);
	account_add(one.account, SPANS_QUEUED, ITEMS + 1);
	queue_push(one.queue, items);
	set_rules(&one, tagrules_intern("nosuch", "", "", ""));
	entry = queue_take(one.queue);
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_SPANS));
	ck_assert_uint_eq(entry->batch->count, ITEMS);
	ck_assert_uint_eq(entry_wire(entry)->count, ITEMS);
	ck_assert(!tells(entry->batch, "broken") && !tells(entry_wire(entry), "broken"));
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_REFUSED), 1);
	queue_release(one.queue, entry);
	account_move(one.account, SPANS_QUEUED, SPANS_SENT, ITEMS);
}
END_TEST

TCase *queue_retag(void)
{
	TCase *tests = tcase_create("retag");

	tcase_add_checked_fixture(tests, open_sides, close_sides);
	tcase_add_loop_test(tests, one_with_rules, 0, G_N_ELEMENTS(formats));
	tcase_add_loop_test(tests, none_matches, 0, G_N_ELEMENTS(formats));
	tcase_add_loop_test(tests, waiting_spans, 0, G_N_ELEMENTS(formats));
	tcase_add_test(tests, otlp_after_another_format);
	tcase_add_test(tests, merged_ones_are_looked_at);
	tcase_add_loop_test(tests, unreadable, 0, G_N_ELEMENTS(formats));
	return tests;
}
