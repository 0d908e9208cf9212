/* SPDX-License-Identifier: BSD-2-Clause */
/* Tags that are left out, renamed and redacted in spans: those in hand, and items of each format. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "core/record.h"
#include "net/tbinary.h"
#include "queue/format.h"
#include "queue/item.h"
#include "queue/retag.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"

static struct buffer item, other;
static struct retag_memory memory;
static struct span_memory seen;
static struct retag_counts counts;

static void teardown(void)
{
	buffer_free(&item);
	buffer_free(&other);
	retag_memory_free(&memory);
	span_memory_free(&seen);
	item = other = (struct buffer){0};
	memory = (struct retag_memory){0};
	seen = (struct span_memory){0};
	counts = (struct retag_counts){0};
}

/* This node's, what came from another agent's, and what an older version has stored. */
static const enum batch_format formats[] = {
	BATCH_SPAN_RECORDS, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS};

#define FORMATS ((int)G_N_ELEMENTS(formats))

static void encode_as(int format, struct buffer *to, const struct span *span)
{
	to->size = 0;
	ck_assert_int_ge(format_encode((uint8_t)format, to, span), 0);
}

static void assert_counts(int64_t dropped, int64_t renamed, int64_t redacted)
{
	ck_assert_int_eq(counts.dropped, dropped);
	ck_assert_int_eq(counts.renamed, renamed);
	ck_assert_int_eq(counts.redacted, redacted);
}

/* One item, in memory of just its size. */
static struct batch *batch_of(int format, const struct buffer *bytes)
{
	struct batch *batch = batch_create((enum batch_format)format, 0, 0);

	buffer_free(&batch->spans);
	batch->spans = (struct buffer){
		.data = g_memdup2(bytes->data, bytes->size), .size = bytes->size, .room = bytes->size};
	batch_added(batch, bytes->size, 42);
	return batch;
}

/* One item as the rules have it, which it stays; NULL: it was so. */
static struct batch *retag_one(
	int format, const struct buffer *bytes, const struct tagrules *rules, bool names)
{
	struct batch *items = batch_of(format, bytes), *changed = retag(items, rules, names, &counts);
	struct retag_counts no_more = {0};

	batch_unref(items);
	if (!changed)
		return NULL;
	ck_assert_uint_eq(changed->format, format);
	ck_assert_uint_eq(changed->count, 1);
	ck_assert_ptr_eq(changed->rules, rules);
	ck_assert_int_eq(batch_events(changed)[0], 42);
	ck_assert_uint_eq(changed->spans.size, batch_sizes(changed)[0]);
	if (changed->spans.size) {
		ck_assert_ptr_null(retag(changed, rules, names, &no_more));
		ck_assert_int_eq(no_more.dropped + no_more.renamed + no_more.redacted, 0);
	}
	return changed;
}

/* @span becomes @expected, and nothing else changes; what was changed is not changed again. */
static void assert_becomes(int format, const struct tagrules *rules, bool names, const struct span *span,
	const struct span *expected)
{
	struct batch *changed;

	encode_as(format, &item, span);
	encode_as(format, &other, expected);
	changed = retag_one(format, &item, rules, names);
	ck_assert_ptr_nonnull(changed);
	ck_assert_uint_eq(changed->spans.size, other.size);
	ck_assert_mem_eq(changed->spans.data, other.data, other.size);
	batch_unref(changed);
}

/* Where the remote endpoint is attributes. */
static bool is_otlp(int format)
{
	return format == BATCH_OTLP_SPANS;
}

/* In Thrift, annotations that are called as the core annotations are would become these. */
static bool has_cores(int format, int round)
{
	return format != BATCH_ZIPKIN_SPANS && round % 2;
}

#define TAGS 9

START_TEST(each_rule_in_each_format)
{
	const struct tagrules *rules = tagrules_intern(
		"secret.*, *gone, cluster", "old:new, taken:rack", "user*, hidden, error", "cluster=eu1");
	struct tag tags[] = {{literal("secret.a"), literal("x"), TAG_TEXT},
		{literal("user.id"), literal("42"), TAG_INT}, {literal("cluster"), literal("eu1"), TAG_TEXT},
		{literal("old"), literal("2.5"), TAG_DOUBLE}, {literal("rack"), literal("r7"), TAG_TEXT},
		{literal("taken"), literal("r8"), TAG_TEXT},
		{literal("hidden"), literal("say \"hi\"\n\u00e9"), TAG_TEXT},
		{literal("longgone"), literal("true"), TAG_BOOL},
		{literal("error"), literal("no such pool"), TAG_TEXT}};
	struct tag left[] = {{literal("user.id"), literal("[redacted]"), TAG_TEXT}, tags[2],
		{literal("new"), literal("2.5"), TAG_DOUBLE}, tags[4],
		{literal("hidden"), literal("[redacted]"), TAG_TEXT},
		{literal("error"), literal("[redacted]"), TAG_TEXT}};
	const int format = formats[_i % FORMATS];
	struct random_spans *spans = random_spans_create(21);

	for (int round = 0; round < 500; round++) {
		struct span span = *random_span(spans, has_cores(format, round)), expected;

		span.tags = tags;
		span.tag_count = TAGS;
		if (_i >= FORMATS) /* where an empty one is none */
			span.has_remote = span.has_remote && span.remote.service.size + span.remote.port;
		expected = span;
		expected.tags = left;
		expected.tag_count = 6;
		counts = (struct retag_counts){0};
		assert_becomes(format, rules, _i >= FORMATS, &span, &expected);
		assert_counts(3, 1, 3);
	}
	random_spans_free(spans);
}
END_TEST

/* With all tags gone, the span is still where it was, and it failed no longer. */
START_TEST(all_tags_gone)
{
	const struct tagrules *rules = tagrules_intern("*", "", "", "");
	struct tag tags[] = {
		{literal("a"), literal("1"), TAG_INT}, {literal("error"), literal("lost"), TAG_TEXT}};
	const int format = formats[_i % FORMATS];
	struct random_spans *spans = random_spans_create(22);
	bool names = _i >= FORMATS;

	for (int round = 0; round < 500; round++) {
		struct span span = *random_span(spans, has_cores(format, round)), expected;
		struct trait trait;

		span.tags = tags;
		span.tag_count = 1 + (size_t)round % 2;
		expected = span;
		expected.tag_count = 0;
		if (names || is_otlp(format)) /* where the remote endpoint is attributes */
			expected.has_remote = span.has_remote = false;
		assert_becomes(format, rules, names, &span, &expected);
		encode_as(BATCH_SPAN_RECORDS, &item, &expected);
		ck_assert(record_trait(&trait, item.data, item.size));
		ck_assert(!trait.error);
	}
	random_spans_free(spans);
}
END_TEST

/* Nothing that matches: nothing is made, and nothing counted. */
START_TEST(nothing_matches)
{
	const struct tagrules *rules =
		tagrules_intern("no*such, nosuch", "no.such:other", "other*one", "cluster=eu1");
	const int format = formats[_i % FORMATS];
	struct random_spans *spans = random_spans_create(23);

	for (int round = 0; round < 1000; round++) {
		encode_as(format, &item, random_span(spans, round % 2));
		ck_assert_ptr_null(retag_one(format, &item, rules, _i >= FORMATS));
	}
	assert_counts(0, 0, 0);
	random_spans_free(spans);
}
END_TEST

/* Only what changes is another; the rest, what is too large and so empty, and all times are as they were. */
START_TEST(some_of_many)
{
	const struct tagrules *rules = tagrules_intern("user", "", "", "");
	struct tag tag = {literal("user"), literal("me"), TAG_TEXT};
	const int format = formats[_i];
	struct batch *items = batch_create((enum batch_format)format, 0, 0), *expected, *changed;

	expected = batch_create((enum batch_format)format, 0, 0);
	items->born = 77;
	for (uint64_t i = 0; i < 20; i++) {
		struct span span = {.trace_id = i + 1, .id = 1, .timestamp = 1000, .tags = &tag};

		if (i % 5 == 4) {
			batch_add(items, NULL, 0, (int64_t)i);
			batch_add(expected, NULL, 0, (int64_t)i);
			continue;
		}
		encode_as(format, &other, &span);
		batch_add(expected, other.data, other.size, (int64_t)i);
		span.tag_count = i % 5 == 2;
		encode_as(format, &item, &span);
		batch_add(items, item.data, item.size, (int64_t)i);
	}
	changed = retag(items, rules, false, &counts);
	ck_assert_ptr_nonnull(changed);
	ck_assert_uint_eq(changed->count, 20);
	ck_assert_int_eq(changed->born, 77);
	ck_assert_mem_eq(changed->sizes.data, expected->sizes.data, expected->sizes.size);
	ck_assert_mem_eq(changed->events.data, expected->events.data, expected->events.size);
	ck_assert_uint_eq(changed->spans.size, expected->spans.size);
	ck_assert_mem_eq(changed->spans.data, expected->spans.data, expected->spans.size);
	assert_counts(4, 0, 0);
	batch_unref(items);
	batch_unref(expected);
	batch_unref(changed);
}
END_TEST

/* What OTLP makes of the remote endpoint are attributes as others, where that is what the output sends. */
START_TEST(remote_of_otlp)
{
	const struct tagrules *rules = tagrules_intern("server.*", "", "peer.service", "");
	struct tag service = {literal("peer.service"), literal("[redacted]"), TAG_TEXT};
	const int format = formats[_i];
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .timestamp = 3000,
			    .kind = SPAN_CLIENT,
			    .has_remote = true},
		    expected;

	span.remote = (struct endpoint){literal("db"), {10, 0, 0, 1}, 4, 5432};
	expected = span;
	expected.has_remote = false;
	expected.remote = (struct endpoint){{"", 0}, {0}, 0, 0};
	expected.tags = &service;
	expected.tag_count = 1;
	assert_becomes(format, rules, true, &span, &expected);
	assert_counts(2, 0, 1);
	if (!is_otlp(format)) { /* of whose items these always are */
		encode_as(format, &item, &span);
		ck_assert_ptr_null(retag_one(format, &item, rules, false));
	}
	assert_counts(2, 0, 1);
}
END_TEST

/* They have the names of the other side: a server's client is one; a tag of the program's takes its place. */
START_TEST(remote_of_a_server)
{
	struct tag own = {literal("client.port"), literal("mine"), TAG_TEXT},
		   renamed[] = {own, {literal("from"), literal("10.0.0.1"), TAG_TEXT}};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .timestamp = 3000,
			    .kind = SPAN_SERVER,
			    .has_remote = true,
			    .tags = &own,
			    .tag_count = 1},
		    expected;

	span.remote = (struct endpoint){literal("web"), {10, 0, 0, 1}, 4, 80};
	encode_as(BATCH_SPAN_RECORDS, &item, &span);
	ck_assert_ptr_null(
		retag_one(BATCH_SPAN_RECORDS, &item, tagrules_intern("server.*", "", "", ""), true));
	expected = span;
	expected.remote.address_size = 0;
	expected.tags = renamed;
	expected.tag_count = 2;
	assert_becomes(BATCH_SPAN_RECORDS, tagrules_intern("", "client.address:from", "", ""), true, &span,
		&expected);
	assert_counts(0, 1, 0);
	expected = span;
	expected.tag_count = 0; /* and the port stays, as nobody has named it */
	assert_becomes(
		BATCH_SPAN_RECORDS, tagrules_intern("client.port", "", "", ""), false, &span, &expected);
	assert_counts(1, 1, 0);
}
END_TEST

/* With the program's tag gone, OTLP's own of that name would come in its stead: both go at once. */
START_TEST(own_and_remote_of_one_name)
{
	struct tag own = {literal("client.port"), literal("mine"), TAG_TEXT};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .timestamp = 3000,
			    .kind = SPAN_SERVER,
			    .has_remote = true,
			    .tags = &own,
			    .tag_count = 1},
		    expected;

	span.remote = (struct endpoint){literal("web"), {10, 0, 0, 1}, 4, 80};
	expected = span;
	expected.remote.port = 0;
	expected.tag_count = 0;
	assert_becomes(
		BATCH_SPAN_RECORDS, tagrules_intern("client.port", "", "", ""), true, &span, &expected);
}
END_TEST

/* Two tags that would have one key: that which always had it stays, whichever is first. */
START_TEST(taken_names)
{
	const struct tagrules *rules = tagrules_intern("", "a:c, b:c", "", "");
	struct tag tags[] = {{literal("a"), literal("1"), TAG_TEXT}, {literal("c"), literal("3"), TAG_TEXT},
		{literal("b"), literal("2"), TAG_TEXT}};
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3000, .tags = tags, .tag_count = 3},
		    expected;

	expected = span;
	expected.tags = &tags[1];
	expected.tag_count = 1;
	assert_becomes(formats[_i], rules, false, &span, &expected);
	assert_counts(2, 0, 0);
}
END_TEST

/* What OpenTelemetry's SDKs say */

#define LINKS 2
#define NOTES 2

struct rich {
	struct tag tags[2], of_note[2], of_link[2], of_scope[1], of_resource[2];
	struct annotation notes[NOTES];
	struct attributes of_notes[NOTES];
	struct span_link links[LINKS];
	struct span_more more;
	struct span span;
};

static void make_rich(struct rich *rich)
{
	*rich = (struct rich){
		.tags = {{literal("user"), literal("me"), TAG_TEXT},
			{literal("pool"), literal("rbd"), TAG_TEXT}},
		.of_note = {{literal("old"), literal("1"), TAG_INT},
			{literal("user"), literal("7"), TAG_INT}},
		.of_link = {{literal("secret"), literal("s"), TAG_TEXT},
			{literal("kept"), literal("k"), TAG_TEXT}},
		.of_scope = {{literal("old"), literal("true"), TAG_BOOL}},
		.of_resource = {{literal("host"), literal("h"), TAG_TEXT},
			{literal("secret"), literal("t"), TAG_TEXT}},
		.notes = {{1000, literal("one")}, {2000, literal("two")}},
	};
	rich->of_notes[1] = (struct attributes){rich->of_note, 2, 3};
	rich->links[0] =
		(struct span_link){1, 2, 3, literal("a=b"), 1, (struct attributes){rich->of_link, 2, 5}};
	rich->links[1] = (struct span_link){.trace_id = 4, .id = 5};
	rich->more = (struct span_more){.flags = 1,
		.trace_state = literal("x=y"),
		.status = SPAN_STATUS_ERROR,
		.status_message = literal("no such pool"),
		.dropped_tags = 7,
		.of_annotations = rich->of_notes,
		.links = rich->links,
		.link_count = LINKS,
		.scope_name = literal("lib"),
		.scope = {rich->of_scope, 1, 0},
		.resource = {rich->of_resource, 2, 9}};
	rich->span = (struct span){.trace_id = 1,
		.id = 2,
		.timestamp = 3000,
		.kind = SPAN_CLIENT,
		.has_remote = true,
		.remote = {literal("db"), {10, 0, 0, 1}, 4, 5432},
		.annotations = rich->notes,
		.annotation_count = NOTES,
		.tags = rich->tags,
		.tag_count = 2,
		.more = &rich->more};
}

/* Rules hold wherever a span has attributes, and for the text of its status, which is no tag there. */
START_TEST(rules_hold_everywhere)
{
	struct rich given, expected;

	make_rich(&given);
	make_rich(&expected);
	expected.tags[0] = (struct tag){literal("user"), literal("[redacted]"), TAG_TEXT};
	expected.of_note[0].key = literal("new");
	expected.of_note[1] = expected.tags[0];
	expected.of_link[0] = expected.of_link[1];
	expected.links[0].attributes.count = 1;
	expected.of_scope[0].key = literal("new");
	expected.more.resource.count = 1;
	expected.more.status_message = literal("[redacted]");
	assert_becomes(BATCH_SPAN_RECORDS, tagrules_intern("secret", "old:new", "user, error", ""), _i == 1,
		&given.span, &expected.span);
	assert_counts(2, 2, 3);
}
END_TEST

/* One place at a time changes it. */
START_TEST(rules_hold_in_one_place)
{
	static const char *const drops[] = {"pool", "kept", "host", "error"}, *const renames[] = {"old:new"};
	struct rich given, expected;

	for (size_t i = 0; i < G_N_ELEMENTS(drops); i++) {
		make_rich(&given);
		make_rich(&expected);
		if (i == 0)
			expected.span.tag_count = 1;
		else if (i == 1)
			expected.links[0].attributes.count = 1;
		else if (i == 2)
			expected.more.resource = (struct attributes){&expected.of_resource[1], 1, 9};
		else
			expected.more.status_message = literal("");
		counts = (struct retag_counts){0};
		assert_becomes(BATCH_SPAN_RECORDS, tagrules_intern(drops[i], "", "", ""), false, &given.span,
			&expected.span);
		assert_counts(1, 0, 0);
	}
	for (int scope = 0; scope < 2; scope++) {
		make_rich(&given);
		make_rich(&expected);
		if (scope)
			given.of_notes[1].count = expected.of_notes[1].count = 0;
		else
			given.more.scope.count = expected.more.scope.count = 0;
		expected.of_note[0].key = expected.of_scope[0].key = literal("new");
		counts = (struct retag_counts){0};
		assert_becomes(BATCH_SPAN_RECORDS, tagrules_intern("", renames[0], "", ""), false,
			&given.span, &expected.span);
		assert_counts(0, 1, 0);
	}
}
END_TEST

/* All gone: what the span is stays. Where there are no attributes of annotations, there are none. */
START_TEST(all_attributes_gone)
{
	struct rich given, expected;

	make_rich(&given);
	make_rich(&expected);
	if (_i)
		given.more.of_annotations = expected.more.of_annotations = NULL;
	expected.span.tag_count = expected.of_notes[1].count = expected.links[0].attributes.count = 0;
	expected.more.scope.count = expected.more.resource.count = 0;
	expected.more.status_message = literal("");
	assert_becomes(
		BATCH_SPAN_RECORDS, tagrules_intern("*", "", "", ""), false, &given.span, &expected.span);
	assert_counts(_i ? 8 : 10, 0, 0);
}
END_TEST

START_TEST(nothing_matches_anywhere)
{
	const struct tagrules *rules = tagrules_intern("nosuch", "no:such", "server.*, peer.service", "");
	struct rich given;
	struct span span;

	make_rich(&given);
	encode_as(BATCH_SPAN_RECORDS, &item, &given.span);
	/* its attributes are those that it has: OTLP makes none of its remote endpoint */
	ck_assert_ptr_null(retag_one(BATCH_SPAN_RECORDS, &item, rules, true));
	span = given.span;
	ck_assert(!retag_span(&span, rules, true, &memory, &counts));
	encode_as(BATCH_SPAN_RECORDS, &other, &span);
	ck_assert_uint_eq(item.size, other.size);
	ck_assert_mem_eq(item.data, other.data, item.size);
	assert_counts(0, 0, 0);
}
END_TEST

/* The memory is used again, by spans with less and more. */
START_TEST(one_span_after_another)
{
	const struct tagrules *rules = tagrules_intern("secret", "old:new", "user*", "");
	struct random_spans *spans = random_spans_create(27);
	struct rich rich;

	for (int round = 0; round < 300; round++) {
		struct span span = *random_span(spans, true), again;
		struct retag_memory fresh = {0};
		struct retag_counts no_more = {0};

		make_rich(&rich);
		if (round % 2)
			span = rich.span;
		again = span;
		ck_assert_int_eq(retag_span(&span, rules, true, &memory, &counts), round % 2);
		retag_span(&again, rules, true, &fresh, &no_more);
		encode_as(BATCH_SPAN_RECORDS, &item, &span);
		encode_as(BATCH_SPAN_RECORDS, &other, &again);
		ck_assert_uint_eq(item.size, other.size);
		ck_assert_mem_eq(item.data, other.data, item.size);
		retag_memory_free(&fresh);
	}
	random_spans_free(spans);
}
END_TEST

/* So many tags of one key that each may not be held against all others. All get the new key, or are left out
 * where that is taken; so does each key by itself. */
START_TEST(many_of_one_key)
{
	enum { MANY = 60000 };
	const struct tagrules *rules = tagrules_intern("", "rgw.op:operation, old:new", "", "");
	g_autofree struct tag *tags = g_new(struct tag, MANY + 2);
	struct span span = {.trace_id = 1, .id = 1, .tags = tags, .tag_count = MANY + 2};

	for (int i = 0; i < MANY; i++)
		tags[i] = (struct tag){literal("rgw.op"), literal("get"), TAG_TEXT};
	tags[MANY] = (struct tag){literal("old"), literal("x"), TAG_TEXT};
	tags[MANY + 1] = (struct tag){_i ? literal("operation") : literal("new"), literal("y"), TAG_TEXT};
	ck_assert(retag_span(&span, rules, false, &memory, &counts));
	ck_assert_uint_eq(span.tag_count, _i ? 2 : MANY + 1);
	for (size_t i = 0; !_i && i < MANY; i++)
		ck_assert(text_is(span.tags[i].key, "operation"));
	ck_assert(text_is(span.tags[span.tag_count - 1].key, _i ? "operation" : "new"));
	ck_assert(text_is(span.tags[span.tag_count - 1].value, "y"));
	if (_i)
		assert_counts(MANY, 1, 0);
	else
		assert_counts(1, MANY, 0);
}
END_TEST

/* From other agents */

static uint8_t *put_binary(uint8_t *to, const char *key, const void *value, size_t size, uint32_t type)
{
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), key, strlen(key));
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), value, size);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), type);
	to = tbinary_put_i16(tbinary_put_field(tbinary_put_field(to, TBINARY_STRUCT, 4), TBINARY_I16, 2), 99);
	return tbinary_put_stop(tbinary_put_stop(to));
}

/* A sender's own span: a number under @key, an address, and a field that nobody knows; in @lists lists. */
static void make_foreign(const char *key, uint32_t lists)
{
	uint8_t *to;

	item.size = 0;
	to = buffer_reserve(&item, 1000);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 7);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 4), 8);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 10), 9);
	while (lists--) {
		to = tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 8), TBINARY_STRUCT, 3);
		to = put_binary(to, "sa", "\1", 1, 0);
		to = put_binary(to, key, "\0\0\0\0\0\0\0\x2a", 8, 4);
		to = put_binary(to, "text", "words", 5, 6);
	}
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 77), 5);
	item.size = (size_t)(tbinary_put_stop(to) - item.data);
}

static bool contains(const struct batch *batch, const char *what, size_t size)
{
	return bytes_have(batch->spans.data, batch->spans.size, what, size);
}

static struct span read_one(const struct batch *batch)
{
	struct span span;

	ck_assert(item_read(&span, batch->format, batch->spans.data, batch->spans.size, &seen));
	return span;
}

static struct batch *retag_foreign(const char *drop, const char *rename, const char *redact)
{
	struct batch *changed =
		retag_one(BATCH_ZIPKIN_SPANS, &item, tagrules_intern(drop, rename, redact, ""), false);

	ck_assert_ptr_nonnull(changed);
	return changed;
}

/* Tags that are no text, which no reader of ours takes: what is to be dropped or redacted is not sent. */
START_TEST(numbers_of_others)
{
	struct batch *changed;
	struct span span;

	make_foreign("user.n", 1);
	changed = retag_foreign("user.*", "", "");
	ck_assert(!contains(changed, "\0\0\0\x2a", 4) && !contains(changed, "user.n", 6));
	ck_assert(contains(changed, "words", 5));
	span = read_one(changed);
	ck_assert(span.has_remote && span.local.port == 99 && span.tag_count == 1);
	batch_unref(changed);
	changed = retag_foreign("", "", "user.*");
	ck_assert(!contains(changed, "\0\0\0\x2a", 4));
	span = read_one(changed);
	ck_assert(span.has_remote && span.local.port == 99);
	batch_unref(changed);
	changed = retag_foreign("", "user.n:n", "");
	ck_assert(!contains(changed, "user.n", 6));
	batch_unref(changed);
}
END_TEST

/* The last tag that says where the span was has gone: an empty one says it. */
START_TEST(place_stays)
{
	struct batch *changed;
	struct span span;

	make_foreign("user.n", 1);
	changed = retag_foreign("*", "", "");
	span = read_one(changed);
	ck_assert(span.has_remote && span.local.port == 99 && span.tag_count == 0);
	ck_assert(!contains(changed, "words", 5));
	batch_unref(changed);
}
END_TEST

/* Two lists of tags, which readers take for one. */
START_TEST(two_lists)
{
	struct batch *changed;
	struct span span;

	make_foreign("user.n", 2);
	changed = retag_foreign("user.*", "", "text");
	ck_assert(!contains(changed, "user", 4) && !contains(changed, "words", 5));
	span = read_one(changed);
	ck_assert_uint_eq(span.tag_count, 2);
	assert_text(span.tags[0].value, literal("[redacted]"));
	assert_text(span.tags[1].value, literal("[redacted]"));
	batch_unref(changed);
}
END_TEST

/* In Thrift, `error` is told twice: both go. */
START_TEST(reasons_of_others)
{
	struct tag tag = {literal("error"), literal("no such pool"), TAG_TEXT};
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3000, .tags = &tag, .tag_count = 1};
	struct batch *changed;

	encode_as(BATCH_ZIPKIN_SPANS, &item, &span);
	ck_assert(bytes_have(item.data, item.size, "otel.status_description", 23));
	changed = retag_foreign("", "", "error");
	ck_assert(!contains(changed, "no such pool", 12));
	assert_counts(0, 0, 1);
	batch_unref(changed);
	changed = retag_foreign("error", "", "");
	ck_assert(!contains(changed, "no such pool", 12));
	batch_unref(changed);
}
END_TEST

/* A program that says it twice by itself: what repeats `error` is as secret. */
START_TEST(reasons_of_programs)
{
	struct tag tags[] = {{literal("error"), literal("no such pool"), TAG_TEXT},
		{literal("otel.status_description"), literal("no such pool"), TAG_TEXT}};
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3000, .tags = tags, .tag_count = 2};
	struct batch *changed;

	encode_as(BATCH_SPAN_RECORDS, &item, &span);
	changed = retag_one(BATCH_SPAN_RECORDS, &item, tagrules_intern("", "", "error", ""), false);
	ck_assert_ptr_nonnull(changed);
	ck_assert(!contains(changed, "no such pool", 12));
	batch_unref(changed);
}
END_TEST

/* Damage */

static void try_damaged(int format, const struct tagrules *rules, const uint8_t *data, size_t size)
{
	struct batch *changed;
	struct span span;
	bool was;

	item.size = 0;
	buffer_put(&item, data, size);
	was = size && item_read(&span, (uint8_t)format, item.data, size, &seen);
	changed = retag_one(format, &item, rules, false);
	if (!was && size)
		ck_assert(changed && !changed->spans.size); /* nobody knows what is in it */
	if (was && changed) {
		span = read_one(changed);
		for (size_t i = 0; i < span.tag_count; i++)
			ck_assert(!tagrules_find(rules, span.tags[i].key, span.tags[i].value).dropped);
	}
	batch_unref(changed);
}

/* Half a span is none; whatever it is, nothing beyond it is read. */
START_TEST(damaged)
{
	const struct tagrules *rules = tagrules_intern("*a*", "", "*e*", "");
	struct random_spans *spans = random_spans_create(24);
	const int format = formats[_i % FORMATS];
	GRand *random = g_rand_new_with_seed(25);
	struct rich rich;

	make_rich(&rich);
	for (int round = 0; round < 10; round++) {
		encode_as(format, &other,
			format == BATCH_SPAN_RECORDS && round % 2 ? &rich.span : random_span(spans, true));
		for (size_t size = 0; size < other.size; size++)
			try_damaged(format, rules, other.data, size);
		for (int i = 0; i < 1000; i++) {
			size_t at = (size_t)g_rand_int_range(random, 0, (gint32)other.size);
			uint8_t before = other.data[at];

			other.data[at] = (uint8_t)g_rand_int(random);
			try_damaged(format, rules, other.data, other.size);
			other.data[at] = before;
		}
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

static bool drops(const char *glob, const char *key)
{
	return tagrules_find(tagrules_intern(glob, "", "", ""), literal(key), literal("")).dropped;
}

START_TEST(globs)
{
	ck_assert(
		drops("*", "") && drops("*", "a") && drops("a*", "a") && drops("*a", "a") && drops("a", "a"));
	ck_assert(drops("a*b*c", "aXbXbXc") && drops("**b", "ab") && drops("a, b", "b"));
	ck_assert(!drops("a", "ab") && !drops("ab", "a") && !drops("a*b", "a") && !drops("a*b*c", "aXbX"));
	ck_assert(!drops("a", "A") && !drops("a*a", "a"));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("retag");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, each_rule_in_each_format, 0, 2 * FORMATS);
	tcase_add_loop_test(tests, all_tags_gone, 0, 2 * FORMATS);
	tcase_add_loop_test(tests, nothing_matches, 0, 2 * FORMATS);
	tcase_add_loop_test(tests, some_of_many, 0, FORMATS);
	tcase_add_loop_test(tests, remote_of_otlp, 0, FORMATS);
	tcase_add_test(tests, remote_of_a_server);
	tcase_add_test(tests, own_and_remote_of_one_name);
	tcase_add_loop_test(tests, taken_names, 0, FORMATS);
	tcase_add_loop_test(tests, rules_hold_everywhere, 0, 2);
	tcase_add_test(tests, rules_hold_in_one_place);
	tcase_add_loop_test(tests, all_attributes_gone, 0, 2);
	tcase_add_test(tests, nothing_matches_anywhere);
	tcase_add_test(tests, one_span_after_another);
	tcase_add_loop_test(tests, many_of_one_key, 0, 2);
	tcase_add_test(tests, numbers_of_others);
	tcase_add_test(tests, place_stays);
	tcase_add_test(tests, two_lists);
	tcase_add_test(tests, reasons_of_others);
	tcase_add_test(tests, reasons_of_programs);
	tcase_add_loop_test(tests, damaged, 0, FORMATS);
	tcase_add_test(tests, globs);
	return run_cases("retag", tests);
}
