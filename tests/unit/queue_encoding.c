/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output encodes when it takes it out of its queue, and what of that is sent. */
#include <string.h>

#include "encode/eventjson.h"
#include "encode/eventotlp.h"
#include "encode/messagelog.h"
#include "encode/zipkin.h"
#include "fanout_rig.h"
#include "net/message.h"
#include "net/tbinary.h"
#include "net/trail.h"
#include "output/uplink/delivery.h"
#include "queue/backlog.h"
#include "queue/encoding.h"
#include "queue/format.h"
#include "queue/item.h"
#include "randomspan.h"
#include "texts.h"

static const enum batch_format wires[] = {BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS};

#define WIRES ((int)G_N_ELEMENTS(wires))
#define TAGS "cluster=eu1, rack=r7"

static const struct tag added[] = {
	{{"cluster", 7}, {"eu1", 3}, TAG_TEXT}, {{"rack", 4}, {"r7", 2}, TAG_TEXT}};

static struct buffer item;

static void setup(void)
{
	open_sides();
}

static void teardown(void)
{
	close_sides();
	buffer_free(&item);
}

static void add_encoded(
	struct batch *to, enum batch_format format, const struct span *span, int64_t event_time)
{
	item.size = 0;
	ck_assert_int_ge(format_encode((uint8_t)format, &item, span), 0);
	batch_add(to, item.data, item.size, event_time);
}

static void assert_batch(const struct batch *batch, const struct batch *expected)
{
	ck_assert_uint_eq(batch->format, expected->format);
	ck_assert_uint_eq(batch->count, expected->count);
	ck_assert_uint_eq(batch->sizes.size, expected->sizes.size);
	ck_assert_mem_eq(batch->sizes.data, expected->sizes.data, expected->sizes.size);
	ck_assert_mem_eq(batch->events.data, expected->events.data, expected->events.size);
	ck_assert_uint_eq(batch->spans.size, expected->spans.size);
	ck_assert_mem_eq(batch->spans.data, expected->spans.data, expected->spans.size);
}

/* What a record becomes is what its span would have become. */
START_TEST(as_encoded_at_once)
{
	struct random_spans *spans = random_spans_create((uint32_t)_i + 31);
	const enum batch_format wire = wires[_i % WIRES];
	struct batch *records = batch_create(BATCH_SPAN_RECORDS, 0, 0), *expected = batch_create(wire, 0, 0),
		     *encoded;
	const bool tags = _i >= WIRES;

	for (int i = 0; i < 300; i++) {
		struct span span = *random_span(spans, true);

		span.last_event = span.timestamp + span.duration;
		add_encoded(records, BATCH_SPAN_RECORDS, &span, 1000 + i);
		span.added = added;
		span.added_count = tags ? G_N_ELEMENTS(added) : 0;
		add_encoded(expected, wire, &span, 1000 + i);
	}
	encoded = encode_batch(records, wire, tags ? TAGS : NULL);
	assert_batch(encoded, expected);
	batch_unref(records);
	batch_unref(expected);
	batch_unref(encoded);
	random_spans_free(spans);
}
END_TEST

/* The record of an event with a number. */
static void put_event(struct buffer *out, uint64_t number)
{
	const struct event_head head = {.moment = {.kind = MOMENT_TIME, .time = 1000 + (int64_t)number},
		.observed = 5000,
		.host = literal("here"),
		.domain = literal("ust"),
		.name = literal("app:made"),
		.level = {literal("INFO"), 9}};
	size_t scope;

	event_record_begin(out, &head, 1u << SCOPE_PAYLOAD);
	scope = event_scope_open(out);
	event_put_count(out, 1);
	event_put_text(out, "number", 6);
	event_put_number(out, FIELD_UNSIGNED, number);
	event_scope_close(out, scope);
}

START_TEST(events_as_encoded_at_once)
{
	struct batch *records = batch_create(BATCH_EVENT_RECORDS, 0, 0),
		     *json = batch_create(BATCH_EVENT_JSON, 0, 0),
		     *otlp = batch_create(BATCH_EVENT_OTLP, 0, 0), *encoded;
	struct eventotlp of_otlp = {.host = g_get_host_name()};
	struct eventjson of_json = {0};
	struct buffer out = {0};

	for (uint64_t i = 0; i < 50; i++) {
		item.size = out.size = 0;
		put_event(&item, i);
		batch_add(records, item.data, item.size, (int64_t)i);
		ck_assert(eventjson_put(&of_json, &out, item.data, item.size));
		batch_add(json, out.data, out.size, (int64_t)i);
		out.size = 0;
		ck_assert(eventotlp_put(&of_otlp, &out, item.data, item.size));
		batch_add(otlp, out.data, out.size, (int64_t)i);
	}
	encoded = encode_batch(records, BATCH_EVENT_JSON, NULL);
	assert_batch(encoded, json);
	batch_unref(encoded);
	encoded = encode_batch(records, BATCH_EVENT_OTLP, NULL);
	assert_batch(encoded, otlp);
	batch_unref(encoded);
	batch_unref(records);
	batch_unref(json);
	batch_unref(otlp);
	buffer_free(&out);
	eventjson_free(&of_json);
	eventotlp_free(&of_otlp);
}
END_TEST

/* Entries */

static void treat(struct side *side, struct queue_treatment treatment)
{
	queue_configure(side->queue, &(struct queue_limits){.bytes = 1 << 20, .treatment = treatment});
}

static void enter(struct side *side, enum account_row in, int64_t count)
{
	account_add(side->account, SPANS_TAKEN, count);
	account_add(side->account, in, count);
}

/* Takes over the batch, and takes it out again. */
static struct entry *through(struct side *side, struct batch *batch)
{
	struct entry *entry;

	enter(side, SPANS_QUEUED, batch->count);
	queue_push(side->queue, batch);
	entry = queue_take(side->queue);
	ck_assert_ptr_eq(entry->batch, batch);
	return entry;
}

static void sent(struct side *side, struct entry *entry)
{
	account_move(side->account, entry_row(entry), SPANS_SENT, entry->batch->count);
	queue_release(side->queue, entry);
	ck_assert_uint_eq(queue_bytes(side->queue), 0);
}

static struct span plain_span(uint64_t id)
{
	return (struct span){
		.trace_id = 7, .id = id, .timestamp = 3000000, .duration = 2000, .name = literal("get")};
}

static struct batch *make_items(enum batch_format format, uint32_t count)
{
	struct batch *items = batch_create(format, 0, 0);

	for (uint32_t i = 0; i < count; i++) {
		struct span span = plain_span(i + 1);

		add_encoded(items, format, &span, 100 + i);
	}
	return items;
}

static void assert_ids(const struct batch *batch, const uint64_t *ids, uint32_t count)
{
	const uint8_t *at = batch->spans.data;
	struct span_memory memory = {0};

	ck_assert_uint_eq(batch->count, count);
	for (uint32_t i = 0; i < count; at += batch_sizes(batch)[i++]) {
		struct span span;

		ck_assert(item_read(&span, batch->format, at, batch_sizes(batch)[i], &memory));
		ck_assert_uint_eq(span.id, ids[i]);
		ck_assert_int_eq(batch_events(batch)[i], 99 + (int64_t)ids[i]);
	}
	span_memory_free(&memory);
}

static void assert_refused(struct side *side, const char *bytes, const char *words)
{
	struct refused_span *refused = backlog_take_refused(side->queue);

	ck_assert_ptr_nonnull(refused);
	ck_assert_ptr_null(refused->next);
	ck_assert_uint_eq(refused->size, strlen(bytes));
	ck_assert_mem_eq(refused->span, bytes, strlen(bytes));
	ck_assert_str_eq(refused->words, words);
	g_free(refused);
}

static const char unreadable[] = "cannot be read, to be sent in the format of this output",
		  strange[] = "stored in a format that this output does not send";

/* What cannot be read is refused alone; the rest goes, one for one. */
START_TEST(bad_ones_are_refused)
{
	const enum batch_format from = _i % 2 ? BATCH_ZIPKIN_SPANS : BATCH_SPAN_RECORDS, wire = wires[_i / 2];
	struct batch *items = make_items(from, 3);
	struct span span = plain_span(5);
	struct entry *entry;

	backlog_attach(one.queue, 100);
	treat(&one, (struct queue_treatment){.tags = TAGS});
	batch_add(items, (const uint8_t *)"broken", 6, 103);
	add_encoded(items, from, &span, 104);
	entry = through(&one, items);
	ck_assert(encode_entry(one.queue, entry, wire));
	ck_assert_uint_eq(entry_wire(entry)->format, wire);
	assert_ids(entry_wire(entry), (const uint64_t[]){1, 2, 3, 5}, 4);
	assert_ids(entry->batch, (const uint64_t[]){1, 2, 3, 5}, 4);
	ck_assert_uint_eq(entry->batch->format, from);
	assert_rows(&one, 5, 4, 0);
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_REFUSED), 1);
	assert_refused(&one, "broken", unreadable);
	sent(&one, entry);
}
END_TEST

/* If none is left, the entry is over: a fresh one, and one of the spool. */
START_TEST(all_bad)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 0, 0);
	struct backlog backlog;
	struct entry *entry;

	backlog_attach(one.queue, 100);
	batch_add(items, (const uint8_t *)"broken", 6, 1);
	if (_i) {
		enter(&one, SPANS_SPOOLED, 1);
		entry = entry_create(items);
		entry->spool_id = 77;
		backlog_replay(one.queue, entry);
		ck_assert_ptr_eq(queue_take(one.queue), entry);
	} else {
		entry = through(&one, items);
	}
	ck_assert(!encode_entry(one.queue, entry, BATCH_ZIPKIN_JSON));
	ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_REFUSED), 1);
	ck_assert_int_eq(row_of(one.account, SPANS_QUEUED) + row_of(one.account, SPANS_SPOOLED), 0);
	ck_assert_uint_eq(queue_bytes(one.queue), 0);
	backlog_look(one.queue, &backlog);
	ck_assert_uint_eq(backlog.replayed, _i ? 1 : 0);
	ck_assert_uint_eq(backlog.replay_bytes, 0);
	assert_refused(&one, "broken", unreadable);
}
END_TEST

/* A span whose record is small, and whose JSON is not. */
static struct span swollen_span(uint64_t id)
{
	static char quotes[600];
	struct span span = plain_span(id);

	memset(quotes, '"', sizeof(quotes));
	span.name = (struct text){quotes, sizeof(quotes)};
	return span;
}

/* Larger than all that is sent at once: dropped as that, and nobody keeps it. */
START_TEST(oversize_as_it_is_sent)
{
	struct batch *items = make_items(BATCH_SPAN_RECORDS, 2);
	struct span span = swollen_span(3);
	struct entry *entry;

	backlog_attach(one.queue, 100);
	treat(&one, (struct queue_treatment){.batch_bytes = 1000});
	treat(&other, (struct queue_treatment){.batch_bytes = 2000});
	add_encoded(items, BATCH_SPAN_RECORDS, &span, 102);
	ck_assert_uint_lt(batch_sizes(items)[2], 1000);
	span = plain_span(4);
	add_encoded(items, BATCH_SPAN_RECORDS, &span, 103);
	if (_i) { /* of the spool, in its row */
		enter(&one, SPANS_SPOOLED, 4);
		entry = entry_create(batch_ref(items));
		entry->spool_id = 77;
		backlog_replay(one.queue, entry);
		ck_assert_ptr_eq(queue_take(one.queue), entry);
	} else {
		entry = through(&one, batch_ref(items));
	}
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_JSON));
	assert_ids(entry_wire(entry), (const uint64_t[]){1, 2, 4}, 3);
	assert_ids(entry->batch, (const uint64_t[]){1, 2, 4}, 3);
	assert_rows(&one, 4, _i ? 0 : 3, 1);
	ck_assert_int_eq(row_of(one.account, SPANS_SPOOLED), _i ? 3 : 0);
	ck_assert_ptr_null(backlog_take_refused(one.queue));
	sent(&one, entry);
	/* the other shares the batch, and has room */
	entry = through(&other, items);
	ck_assert(encode_entry(other.queue, entry, BATCH_ZIPKIN_JSON));
	assert_ids(entry_wire(entry), (const uint64_t[]){1, 2, 3, 4}, 4);
	assert_rows(&other, 4, 4, 0);
	sent(&other, entry);
}
END_TEST

/* The tags count, too; and with nothing left the entry is over. */
START_TEST(oversize_with_its_tags)
{
	const size_t size = 1000;
	g_autofree char *long_tags = g_strdup_printf("k=%0200d", 1);
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 0, 0);
	struct span span = plain_span(1);
	g_autofree char *name = g_strnfill(850, 'x');
	struct entry *entry;

	span.name = literal(name);
	add_encoded(items, BATCH_SPAN_RECORDS, &span, 100);
	treat(&one, (struct queue_treatment){.batch_bytes = size});
	entry = through(&one, batch_ref(items));
	ck_assert(encode_entry(one.queue, entry, wires[_i]));
	ck_assert_uint_le(entry_wire(entry)->spans.size, size);
	sent(&one, entry);
	treat(&one, (struct queue_treatment){.batch_bytes = size, .tags = long_tags});
	entry = through(&one, items);
	ck_assert(!encode_entry(one.queue, entry, wires[_i]));
	assert_rows(&one, 2, 0, 1);
	ck_assert_uint_eq(queue_bytes(one.queue), 0);
}
END_TEST

/* What was pushed as one batch, and is more than that as it is sent, is sent in several calls. */
START_TEST(grown_batches_go_in_pieces)
{
	const size_t most = 4000;
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 0, 0);
	struct delivery delivery;
	struct piece *piece;
	uint32_t next = 0, pieces = 0;

	for (uint32_t i = 0; i < 40; i++) {
		struct span span = i % 3 ? plain_span(i + 1) : swollen_span(i + 1);

		add_encoded(items, BATCH_SPAN_RECORDS, &span, 100 + i);
	}
	treat(&one, (struct queue_treatment){.batch_bytes = most});
	enter(&one, SPANS_QUEUED, 40);
	queue_push(one.queue, items);
	delivery_init(&delivery, one.queue, BATCH_ZIPKIN_JSON);
	while ((piece = delivery_take(&delivery, DELIVERY_ANY, 0))) {
		const uint32_t *sizes = batch_sizes(entry_wire(piece->parcel->entry)) + piece->first;
		size_t size = 0;
		struct run run;

		piece_run(piece, &run);
		ck_assert_uint_eq(piece->first, next);
		ck_assert_uint_eq(run.count, piece->count);
		for (uint32_t i = 0; i < piece->count; i++) {
			ck_assert_uint_lt(size, most); /* it is not full before that */
			size += sizes[i];
		}
		ck_assert_uint_eq(run.size, size);
		ck_assert_uint_eq(piece->size, size);
		next += piece->count;
		ck_assert(size >= most || next == 40);
		pieces++;
		delivery_sends(&delivery, piece);
		delivery_took(&delivery, piece, 0);
	}
	ck_assert_uint_eq(next, 40);
	ck_assert_uint_ge(pieces, 4);
	ck_assert(delivery_empty(&delivery));
	ck_assert_int_eq(row_of(one.account, SPANS_SENT), 40);
	ck_assert_int_eq(row_of(one.account, SPANS_SENT_AGAIN), 0);
	ck_assert_uint_eq(queue_bytes(one.queue), 0);
}
END_TEST

/* Where no size is configured, it goes in one. */
START_TEST(any_size)
{
	struct delivery delivery;
	struct piece *piece;

	enter(&one, SPANS_QUEUED, 40);
	queue_push(one.queue, make_items(BATCH_SPAN_RECORDS, 40));
	delivery_init(&delivery, one.queue, BATCH_OTLP_SPANS);
	piece = delivery_take(&delivery, DELIVERY_ANY, 0);
	ck_assert_uint_eq(piece->count, 40);
	delivery_took(&delivery, piece, 0);
	ck_assert(delivery_empty(&delivery));
}
END_TEST

/* Some pieces are delivered, and the rest goes back: as records, once. */
START_TEST(the_rest_goes_back_as_records)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 0, 0);
	struct delivery delivery;
	struct piece *piece;
	struct entry *entry;
	uint32_t first;

	for (uint32_t i = 0; i < 10; i++) {
		struct span span = swollen_span(i + 1);

		add_encoded(items, BATCH_SPAN_RECORDS, &span, 100 + i);
	}
	treat(&one, (struct queue_treatment){.batch_bytes = 2500});
	enter(&one, SPANS_QUEUED, 10);
	queue_push(one.queue, items);
	delivery_init(&delivery, one.queue, BATCH_ZIPKIN_JSON);
	piece = delivery_take(&delivery, DELIVERY_ANY, 0);
	first = piece->count;
	ck_assert_uint_lt(first, 10);
	delivery_took(&delivery, piece, 0);
	piece = delivery_take(&delivery, DELIVERY_ANY, 0);
	delivery_put_back(&delivery, piece);
	delivery_give_back(&delivery);
	entry = backlog_take(one.queue, 1); /* as the spooler does */
	ck_assert_ptr_null(entry->wire);
	ck_assert_uint_eq(entry->batch->format, BATCH_SPAN_RECORDS);
	ck_assert_uint_eq(entry->batch->count, 10 - first);
	ck_assert_int_eq(batch_events(entry->batch)[0], 100 + first);
	account_move(one.account, SPANS_QUEUED, SPANS_SPOOLED, 10 - first);
	backlog_stored(one.queue, entry);
	account_move(one.account, SPANS_SPOOLED, SPANS_SENT, 10 - first);
}
END_TEST

/* From other agents */

/* A span with a field that nobody knows; @trail: and how far it has come. */
static void put_foreign(struct buffer *out, const struct trail *trail, const char *tag_value)
{
	uint8_t *to = trail_put(buffer_reserve(out, 1000), trail);

	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 7);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 4), 1);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 3), "get", 3);
	to = tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 8), TBINARY_STRUCT, 1);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), "user", 4);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), tag_value, strlen(tag_value));
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), 6);
	to = tbinary_put_stop(to);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 10), 3000);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 77), 5);
	out->size = (size_t)(tbinary_put_stop(to) - out->data);
}

static struct batch *foreign_items(const struct trail *trail)
{
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);

	item.size = 0;
	put_foreign(&item, trail, "me");
	batch_add(items, item.data, item.size, 100);
	return items;
}

static const struct trail trails[] = {{0, 0}, {0, 3}, {UINT64_C(0x1122334455667788), 5}};

#define TRAILS ((int)G_N_ELEMENTS(trails))

static void assert_trail(const struct batch *batch, const struct trail *trail, bool has_rest)
{
	static const uint8_t unknown[] = {TBINARY_I64, 0, 77};
	struct trail seen;

	ck_assert_uint_eq(batch->format, BATCH_ZIPKIN_SPANS);
	trail_read(batch->spans.data, batch->spans.size, &seen);
	ck_assert_uint_eq(seen.hops, trail->hops);
	ck_assert_uint_eq(seen.stamp, trail->stamp);
	ck_assert_int_eq(
		bytes_have(batch->spans.data, batch->spans.size, unknown, sizeof(unknown)), has_rest);
	assert_ids(batch, (const uint64_t[]){1}, 1);
}

static struct span first_of(const struct batch *batch, struct span_memory *memory)
{
	struct span span;

	ck_assert(item_read(&span, batch->format, batch->spans.data, batch_sizes(batch)[0], memory));
	return span;
}

/* Neither tags nor rules: it goes on as it came. */
START_TEST(foreign_ones_go_on)
{
	struct batch *items = foreign_items(&trails[_i]);
	struct entry *entry;

	treat(&one, (struct queue_treatment){.rules = tagrules_intern("nosuch", "", "", "")});
	entry = through(&one, items);
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_SPANS));
	ck_assert_ptr_null(entry->wire);
	ck_assert_ptr_eq(entry_wire(entry), items);
	ck_assert_uint_eq(items->spans.size, item.size);
	ck_assert_mem_eq(items->spans.data, item.data, item.size);
	assert_trail(entry_wire(entry), &trails[_i], true);
	sent(&one, entry);
}
END_TEST

/* With tags of the output's it has these, and its trail. */
START_TEST(foreign_ones_get_tags)
{
	struct span_memory memory = {0};
	struct entry *entry;
	struct span span;

	treat(&one, (struct queue_treatment){.tags = "cluster=eu1,user=mine"});
	entry = through(&one, foreign_items(&trails[_i]));
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_SPANS));
	assert_trail(entry->batch, &trails[_i], true);
	assert_trail(entry_wire(entry), &trails[_i], false);
	span = first_of(entry_wire(entry), &memory);
	ck_assert_uint_eq(span.tag_count, 2);
	assert_text(span.tags[0].key, literal("cluster"));
	assert_text(span.tags[0].value, literal("eu1"));
	assert_text(span.tags[1].key, literal("user"));
	assert_text(span.tags[1].value, literal("me")); /* its own counts */
	span_memory_free(&memory);
	sent(&one, entry);
}
END_TEST

/* The same with rules, which hold for the batch, too. */
START_TEST(foreign_ones_are_retagged)
{
	struct span_memory memory = {0};
	struct entry *entry;
	struct span span;

	treat(&one, (struct queue_treatment){.rules = tagrules_intern("", "", "user", "")});
	entry = through(&one, foreign_items(&trails[_i]));
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_SPANS));
	assert_trail(entry->batch, &trails[_i], false);
	assert_trail(entry_wire(entry), &trails[_i], false);
	span = first_of(entry_wire(entry), &memory);
	ck_assert_uint_eq(span.tag_count, 1);
	assert_text(span.tags[0].value, literal("[redacted]"));
	ck_assert_int_eq(row_of(one.account, OUTPUT_TAGS_REDACTED), 1);
	span_memory_free(&memory);
	sent(&one, entry);
}
END_TEST

/* In other formats there is no trail. */
START_TEST(foreign_ones_in_other_formats)
{
	const enum batch_format wire = wires[1 + _i];
	struct span_memory memory = {0};
	struct entry *entry = through(&one, foreign_items(&trails[2]));
	struct span span;

	ck_assert(encode_entry(one.queue, entry, wire));
	assert_trail(entry->batch, &trails[2], true);
	span = first_of(entry->batch, &memory);
	item.size = 0;
	ck_assert_int_eq(format_encode((uint8_t)wire, &item, &span), 0);
	ck_assert_uint_eq(entry_wire(entry)->spans.size, item.size);
	ck_assert_mem_eq(entry_wire(entry)->spans.data, item.data, item.size);
	span_memory_free(&memory);
	sent(&one, entry);
}
END_TEST

/* In Thrift, a span without times is like one that shares its id; it is shared only if it is a server's. */
START_TEST(only_servers_share)
{
	static const char *const begins[] = {NULL, "cs", "sr", "ms"};
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0), *encoded;
	struct span_memory memory = {0};
	struct span span;
	uint8_t *to;

	item.size = 0;
	to = buffer_reserve(&item, 1000);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 7);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 4), 1);
	to = tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 6), TBINARY_STRUCT, 1);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 3000);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), begins[_i] ? begins[_i] : "note",
		begins[_i] ? 2 : 4);
	to = tbinary_put_stop(tbinary_put_field(to, TBINARY_STRUCT, 3));
	item.size = (size_t)(tbinary_put_stop(tbinary_put_stop(to)) - item.data);
	batch_add(items, item.data, item.size, 1);
	encoded = encode_batch(items, BATCH_ZIPKIN_JSON, NULL);
	span = first_of(encoded, &memory);
	ck_assert_int_eq(span.shared, span.kind == SPAN_SERVER);
	span_memory_free(&memory);
	batch_unref(items);
	batch_unref(encoded);
}
END_TEST

/* From an older version's spool */

static struct entry *replayed(struct side *side, struct batch *batch)
{
	struct entry *entry = entry_create(batch);

	enter(side, SPANS_SPOOLED, batch->count);
	entry->spool_id = 77;
	backlog_replay(side->queue, entry);
	ck_assert_ptr_eq(queue_take(side->queue), entry);
	return entry;
}

/* In the format that the output sends it goes as it is, with the tags that it has. */
START_TEST(stored_as_it_is_sent)
{
	static const enum batch_format stored[] = {
		BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS, BATCH_EVENT_JSON, BATCH_EVENT_OTLP, BATCH_MESSAGES};
	const enum batch_format format = stored[_i];
	struct batch *items;
	struct entry *entry;

	treat(&one, (struct queue_treatment){.tags = batch_kind((uint8_t)format) ? NULL : TAGS});
	if (batch_kind((uint8_t)format)) {
		items = batch_create(format, 0, 0);
		batch_add(items, (const uint8_t *)"anything", 8, 1);
	} else {
		items = make_items(format, 3);
	}
	entry = replayed(&one, items);
	ck_assert(encode_entry(one.queue, entry, format));
	ck_assert_ptr_null(entry->wire);
	ck_assert_ptr_eq(entry_wire(entry), items);
	sent(&one, entry);
}
END_TEST

/* In any other it is what it would be from this node. */
START_TEST(stored_in_another_format)
{
	const enum batch_format from = wires[_i % WIRES], wire = wires[_i / WIRES];
	struct batch *expected;
	struct entry *entry;

	if (from == wire)
		return;
	treat(&one, (struct queue_treatment){.rules = tagrules_intern("*", "", "", "")});
	entry = replayed(&one, make_items(from, 20));
	ck_assert(encode_entry(one.queue, entry, wire));
	expected = make_items(wire, 20);
	assert_batch(entry_wire(entry), expected);
	batch_unref(expected);
	sent(&one, entry);
}
END_TEST

/* A stored event's JSON is a record's body; there is no way back. */
START_TEST(stored_events)
{
	struct batch *items = batch_create(BATCH_EVENT_JSON, 0, 0);
	const struct message message = {.time = 5,
		.category = (const uint8_t *)"LTTng",
		.category_size = 5,
		.payload = (const uint8_t *)"{\"a\":1}",
		.payload_size = 7};
	struct entry *entry;

	backlog_attach(one.queue, 100);
	batch_add(items, message.payload, message.payload_size, message.time);
	entry = replayed(&one, items);
	ck_assert(encode_entry(one.queue, entry, BATCH_EVENT_OTLP));
	item.size = 0;
	messagelog_put(&item, &message);
	ck_assert_uint_eq(entry_wire(entry)->format, BATCH_EVENT_OTLP);
	ck_assert_uint_eq(entry_wire(entry)->spans.size, item.size);
	ck_assert_mem_eq(entry_wire(entry)->spans.data, item.data, item.size);
	sent(&one, entry);
	items = batch_create(BATCH_EVENT_OTLP, 0, 0);
	batch_add(items, (const uint8_t *)"record", 6, 5);
	ck_assert(!encode_entry(one.queue, replayed(&one, items), BATCH_EVENT_JSON));
	assert_refused(&one, "record", unreadable);
	ck_assert_int_eq(row_of(one.account, SPANS_SPOOLED), 0);
}
END_TEST

/* Of another kind, or of a newer version. */
START_TEST(stored_as_something_else)
{
	static const struct {
		uint8_t stored;
		enum batch_format wire;
	} cases[] = {{BATCH_EVENT_JSON, BATCH_ZIPKIN_SPANS}, {BATCH_EVENT_RECORDS, BATCH_ZIPKIN_JSON},
		{BATCH_MESSAGES, BATCH_OTLP_SPANS}, {BATCH_SPAN_RECORDS, BATCH_EVENT_JSON},
		{BATCH_EVENT_RECORDS, BATCH_MESSAGES}, {BATCH_FORMATS, BATCH_ZIPKIN_JSON},
		{0xfe, BATCH_ZIPKIN_SPANS}};

	backlog_attach(one.queue, 100);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct batch *items = batch_create((enum batch_format)cases[i].stored, 0, 0);

		batch_add(items, (const uint8_t *)"thing", 5, 1);
		ck_assert(!encode_entry(one.queue, replayed(&one, items), cases[i].wire));
		assert_refused(&one, "thing", strange);
		ck_assert_int_eq(row_of(one.account, SPANS_DROPPED_REFUSED), (int64_t)i + 1);
	}
	ck_assert_int_eq(row_of(one.account, SPANS_SPOOLED), 0);
}
END_TEST

/* Going back */

/* What is encoded is there only while it is taken: it counts for nothing, and is not what is stored. */
START_TEST(given_back_as_a_record)
{
	struct batch *records = make_items(BATCH_SPAN_RECORDS, 20), *expected;
	size_t bytes;
	struct entry *entry;

	treat(&one, (struct queue_treatment){.tags = TAGS});
	entry = through(&one, batch_ref(records));
	bytes = queue_bytes(one.queue);
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_JSON));
	ck_assert_ptr_nonnull(entry->wire);
	ck_assert_ptr_eq(entry->batch, records);
	ck_assert_uint_eq(queue_bytes(one.queue), bytes);
	queue_give_back(one.queue, entry);
	ck_assert_ptr_null(entry->wire);
	ck_assert_uint_eq(queue_bytes(one.queue), bytes);
	entry = backlog_take(one.queue, 1 << 20);
	ck_assert_ptr_eq(entry->batch, records);
	ck_assert_ptr_null(entry->wire);
	backlog_put_back(one.queue, entry);
	/* with other tags, if it is sent after these have changed */
	treat(&one, (struct queue_treatment){0});
	entry = queue_take(one.queue);
	ck_assert(encode_entry(one.queue, entry, BATCH_ZIPKIN_JSON));
	expected = make_items(BATCH_ZIPKIN_JSON, 20);
	assert_batch(entry_wire(entry), expected);
	batch_unref(expected);
	batch_unref(records);
	sent(&one, entry);
}
END_TEST

/* The rest of it, and what is dropped while it is taken, leave nothing behind. */
START_TEST(given_back_in_part)
{
	struct entry *entry = through(&one, make_items(BATCH_SPAN_RECORDS, 4));
	struct batch *rest;

	ck_assert(encode_entry(one.queue, entry, BATCH_OTLP_SPANS));
	rest = batch_without(entry->batch, (const uint8_t[]){1, 0, 0, 1});
	account_move(one.account, SPANS_QUEUED, SPANS_SENT, 2);
	queue_give_back_rest(one.queue, entry, rest);
	ck_assert_ptr_null(entry->wire);
	entry = queue_take(one.queue);
	ck_assert(encode_entry(one.queue, entry, BATCH_OTLP_SPANS));
	assert_ids(entry_wire(entry), (const uint64_t[]){2, 3}, 2);
	queue_end(queue_ref(one.queue));
	queue_give_back(one.queue, entry);
	ck_assert_int_eq(row_of_node(SPANS_DROPPED_WITH_OUTPUT), 2);
}
END_TEST

TCase *queue_encoding(void)
{
	TCase *tests = tcase_create("encoding");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, as_encoded_at_once, 0, 2 * WIRES);
	tcase_add_test(tests, events_as_encoded_at_once);
	tcase_add_loop_test(tests, bad_ones_are_refused, 0, 2 * WIRES);
	tcase_add_loop_test(tests, all_bad, 0, 2);
	tcase_add_loop_test(tests, oversize_as_it_is_sent, 0, 2);
	tcase_add_loop_test(tests, oversize_with_its_tags, 0, WIRES);
	tcase_add_test(tests, grown_batches_go_in_pieces);
	tcase_add_test(tests, any_size);
	tcase_add_test(tests, the_rest_goes_back_as_records);
	tcase_add_loop_test(tests, foreign_ones_go_on, 0, TRAILS);
	tcase_add_loop_test(tests, foreign_ones_get_tags, 0, TRAILS);
	tcase_add_loop_test(tests, foreign_ones_are_retagged, 0, TRAILS);
	tcase_add_loop_test(tests, foreign_ones_in_other_formats, 0, WIRES - 1);
	tcase_add_loop_test(tests, only_servers_share, 0, 4);
	tcase_add_loop_test(tests, stored_as_it_is_sent, 0, 5);
	tcase_add_loop_test(tests, stored_in_another_format, 0, WIRES * WIRES);
	tcase_add_test(tests, stored_events);
	tcase_add_test(tests, stored_as_something_else);
	tcase_add_test(tests, given_back_as_a_record);
	tcase_add_test(tests, given_back_in_part);
	return tests;
}
