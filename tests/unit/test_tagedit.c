/* SPDX-License-Identifier: BSD-2-Clause */
/* Tags that are left out, renamed and redacted in spans which are encoded already. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "encode/otlp.h"
#include "encode/tagedit.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "queue/format.h"
#include "queue/transcode.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"
#include "wire/tbinary.h"

static struct buffer item, out, again;
static struct tagedit_memory memory;
static struct span_memory seen;
static struct tagedit_counts counts;

static void teardown(void)
{
	buffer_free(&item);
	buffer_free(&out);
	buffer_free(&again);
	tagedit_free(&memory);
	span_memory_free(&seen);
	item = out = again = (struct buffer){0};
	memory = (struct tagedit_memory){0};
	seen = (struct span_memory){0};
	counts = (struct tagedit_counts){0};
}

static enum tagedit_result edit(
	int format, struct buffer *to, const struct buffer *from, const struct tagrules *rules)
{
	const struct text text = {(const char *)from->data, (uint32_t)from->size};

	to->size = 0;
	if (format == BATCH_ZIPKIN_JSON)
		return tagedit_json(to, text, rules, &memory, &counts);
	return format == BATCH_OTLP_SPANS ? tagedit_otlp(to, text, rules, &memory, &counts)
					  : tagedit_thrift(to, text, rules, &memory, &counts);
}

static void encode_as(int format, struct buffer *to, const struct span *span)
{
	to->size = 0;
	ck_assert_int_ge(format_encode((uint8_t)format, to, span), 0);
}

static void assert_bytes(const struct buffer *one, const struct buffer *other)
{
	ck_assert_uint_eq(one->size, other->size);
	ck_assert(!one->size || !memcmp(one->data, other->data, one->size));
}

/* As another reader has it: of two that say the same in other bytes, the same. */
static void normalize(int format, struct buffer *of)
{
	struct span span;

	ck_assert(transcode_read(&span, (uint8_t)format, of->data, of->size, &seen));
	encode_as(format, &again, &span);
	of->size = 0;
	buffer_put(of, again.data, again.size);
}

/* @span becomes @expected, in each format, and nothing else changes; what was changed is not changed again.
 */
static void assert_becomes(
	int format, const struct tagrules *rules, const struct span *span, const struct span *expected)
{
	struct buffer wanted = {0};

	encode_as(format, &item, span);
	ck_assert_int_eq(edit(format, &out, &item, rules), TAGEDIT_CHANGED);
	ck_assert_int_eq(edit(format, &item, &out, rules), TAGEDIT_SAME);
	ck_assert_uint_eq(item.size, 0);
	encode_as(format, &wanted, expected);
	if (format == BATCH_ZIPKIN_SPANS) { /* whose place may stand elsewhere */
		normalize(format, &out);
		normalize(format, &wanted);
	}
	assert_bytes(&out, &wanted);
	buffer_free(&wanted);
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
	struct random_spans *spans = random_spans_create(21);

	for (int round = 0; round < 500; round++) {
		struct span span = *random_span(spans, round % 2), expected;

		span.tags = tags;
		span.tag_count = TAGS;
		expected = span;
		expected.tags = left;
		expected.tag_count = 6;
		counts = (struct tagedit_counts){0};
		assert_becomes(_i, rules, &span, &expected);
		/* in Thrift `error` is told twice */
		ck_assert_int_eq(counts.redacted, _i == BATCH_ZIPKIN_SPANS ? 4 : 3);
		ck_assert_int_eq(counts.dropped, 3);
		ck_assert_int_eq(counts.renamed, 1);
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
	struct random_spans *spans = random_spans_create(22);

	for (int round = 0; round < 500; round++) {
		struct span span = *random_span(spans, round % 2), expected;

		span.tags = tags;
		span.tag_count = 1 + (size_t)round % 2;
		if (_i == BATCH_OTLP_SPANS) /* where the remote endpoint is attributes */
			span.has_remote = false;
		expected = span;
		expected.tag_count = 0;
		assert_becomes(_i, rules, &span, &expected);
	}
	random_spans_free(spans);
}
END_TEST

/* Nothing that matches: nothing is written, and nothing counted. */
START_TEST(nothing_matches)
{
	const struct tagrules *rules =
		tagrules_intern("no*such, nosuch", "no.such:other", "other*one", "cluster=eu1");
	struct random_spans *spans = random_spans_create(23);

	for (int round = 0; round < 1000; round++) {
		encode_as(_i, &item, random_span(spans, round % 2));
		ck_assert_int_eq(edit(_i, &out, &item, rules), TAGEDIT_SAME);
		ck_assert_uint_eq(out.size, 0);
	}
	ck_assert_int_eq(counts.dropped + counts.renamed + counts.redacted, 0);
	random_spans_free(spans);
}
END_TEST

/* What OTLP makes of the remote endpoint are attributes as others. */
START_TEST(remote_of_otlp)
{
	const struct tagrules *rules = tagrules_intern("server.*", "", "peer.service", "");
	struct tag service = {literal("peer.service"), literal("[redacted]"), TAG_TEXT};
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3, .kind = SPAN_CLIENT, .has_remote = true},
		    expected;

	span.remote = (struct endpoint){literal("db"), {10, 0, 0, 1}, 4, 5432};
	expected = span;
	expected.has_remote = false;
	expected.tags = &service;
	expected.tag_count = 1;
	assert_becomes(BATCH_OTLP_SPANS, rules, &span, &expected);
	encode_as(BATCH_ZIPKIN_JSON, &item, &span);
	ck_assert_int_eq(edit(BATCH_ZIPKIN_JSON, &out, &item, rules), TAGEDIT_SAME);
}
END_TEST

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
		to = put_binary(to, "text", key, strlen(key), 6);
	}
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 77), 5);
	item.size = (size_t)(tbinary_put_stop(to) - item.data);
}

static bool contains(const struct buffer *bytes, const char *what, size_t size)
{
	return bytes_have(bytes->data, bytes->size, what, size);
}

/* Tags that are no text, which no reader of ours takes: they are dropped, renamed and redacted all the same.
 */
START_TEST(numbers_of_others)
{
	struct span span;

	make_foreign("user.n", 1);
	ck_assert_int_eq(edit(BATCH_ZIPKIN_SPANS, &out, &item, tagrules_intern("user.*", "", "", "")),
		TAGEDIT_CHANGED);
	ck_assert(!contains(&out, "\0\0\0\x2a", 4) && contains(&out, "text", 4));
	ck_assert(contains(&out, "\x0a\0\x4d\0\0\0\0\0\0\0\5", 11));
	ck_assert(transcode_read(&span, BATCH_ZIPKIN_SPANS, out.data, out.size, &seen));
	ck_assert(span.has_remote && span.local.port == 99 && span.tag_count == 1);
	ck_assert_int_eq(edit(BATCH_ZIPKIN_SPANS, &out, &item, tagrules_intern("", "", "user.*", "")),
		TAGEDIT_CHANGED);
	ck_assert(transcode_read(&span, BATCH_ZIPKIN_SPANS, out.data, out.size, &seen));
	ck_assert_uint_eq(span.tag_count, 2);
	assert_text(span.tags[0].value, literal("[redacted]"));
	ck_assert_int_eq(edit(BATCH_ZIPKIN_SPANS, &out, &item, tagrules_intern("", "user.n:n", "", "")),
		TAGEDIT_CHANGED);
	ck_assert(contains(&out, "\0\1n\x0b\0\2\0\0\0\x08\0\0\0\0\0\0\0\x2a\x08\0\3\0\0\0\4", 25));
	ck_assert_uint_eq(out.size, item.size - strlen("user.n") + 1);
}
END_TEST

/* The last tag that says where the span was has gone: an empty one says it. */
START_TEST(place_stays)
{
	struct span span;

	make_foreign("user.n", 1);
	ck_assert_int_eq(
		edit(BATCH_ZIPKIN_SPANS, &out, &item, tagrules_intern("*", "", "", "")), TAGEDIT_CHANGED);
	ck_assert(transcode_read(&span, BATCH_ZIPKIN_SPANS, out.data, out.size, &seen));
	ck_assert(span.has_remote && span.local.port == 99 && span.tag_count == 0);
}
END_TEST

/* Two lists of tags, which readers take for one. */
START_TEST(two_lists)
{
	const struct tagrules *rules = tagrules_intern("user.*", "", "text", "");
	struct span span;

	make_foreign("user.n", 2);
	ck_assert_int_eq(edit(BATCH_ZIPKIN_SPANS, &out, &item, rules), TAGEDIT_CHANGED);
	ck_assert(!contains(&out, "user", 4));
	ck_assert(transcode_read(&span, BATCH_ZIPKIN_SPANS, out.data, out.size, &seen));
	ck_assert_uint_eq(span.tag_count, 2);
	ck_assert_int_eq(edit(BATCH_ZIPKIN_SPANS, &item, &out, rules), TAGEDIT_SAME);
}
END_TEST

/* Half a span is none; whatever it is, nothing beyond it is read. */
START_TEST(damaged)
{
	const struct tagrules *rules = tagrules_intern("*a*", "", "*e*", "");
	struct random_spans *spans = random_spans_create(24);
	GRand *random = g_rand_new_with_seed(25);

	for (int round = 0; round < 20; round++) {
		encode_as(_i, &item, random_span(spans, true));
		for (size_t size = 0; size < item.size; size++) {
			g_autofree uint8_t *copy = g_memdup2(item.data, size);
			enum tagedit_result result =
				edit(_i, &out, &(struct buffer){.data = copy, .size = size}, rules);

			ck_assert(_i == BATCH_OTLP_SPANS || result == TAGEDIT_NO_SPAN);
		}
		for (int i = 0; i < 1000; i++) {
			g_autofree uint8_t *copy = g_memdup2(item.data, item.size);

			copy[g_rand_int_range(random, 0, (gint32)item.size)] = (uint8_t)g_rand_int(random);
			edit(_i, &out, &(struct buffer){.data = copy, .size = item.size}, rules);
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
	TCase *tests = tcase_create("tagedit");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, each_rule_in_each_format, BATCH_ZIPKIN_SPANS, BATCH_SPAN_FORMATS);
	tcase_add_loop_test(tests, all_tags_gone, BATCH_ZIPKIN_SPANS, BATCH_SPAN_FORMATS);
	tcase_add_loop_test(tests, nothing_matches, BATCH_ZIPKIN_SPANS, BATCH_SPAN_FORMATS);
	tcase_add_loop_test(tests, damaged, BATCH_ZIPKIN_SPANS, BATCH_SPAN_FORMATS);
	tcase_add_test(tests, remote_of_otlp);
	tcase_add_test(tests, numbers_of_others);
	tcase_add_test(tests, place_stays);
	tcase_add_test(tests, two_lists);
	tcase_add_test(tests, globs);
	return run_cases("tagedit", tests);
}
