/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-packed spans against the generated Thrift code, byte for byte; and text that is not UTF-8. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "oracle.h"
#include "randomspan.h"
#include "reader/assemble/endpoint.h"
#include "run.h"
#include "texts.h"

static void assert_same(const struct span *span)
{
	struct buffer ours = {0};
	GByteArray *reference = oracle_encode(span);

	ck_assert_int_eq(zipkin_encode(&ours, span), 0);
	ck_assert_uint_eq(ours.size, reference->len);
	ck_assert_mem_eq(ours.data, reference->data, ours.size);
	buffer_free(&ours);
	g_byte_array_unref(reference);
}

static struct span example(void)
{
	struct span span = {
		.trace_id = 0x1122334455667788,
		.id = 0x99aabbccddeeff00,
		.timestamp = 1700000000000001999,
		.duration = 1234002,
		.name = literal("read"),
		.local = {.service = literal("osd.0"), .port = 6800},
	};

	endpoint_set_address(&span.local, literal("10.0.0.1"));
	return span;
}

START_TEST(test_every_kind)
{
	struct span span = example();

	for (int kind = SPAN_LOCAL; kind <= SPAN_CONSUMER; kind++) {
		span.kind = (enum span_kind)kind;
		span.has_remote = false;
		assert_same(&span);
		span.has_remote = true;
		span.remote = (struct endpoint){.service = literal("mon"), .port = 50000};
		endpoint_set_address(&span.remote, literal("2001:db8::1"));
		assert_same(&span);
		span.shared = true;
		assert_same(&span);
		span.shared = false;
		span.duration = 0;
		assert_same(&span);
		span.duration = 1;
	}
}
END_TEST

/* An error's text is there for OpenTelemetry's translator, too; and read back, it is the one tag. */
START_TEST(test_errors)
{
	static const char *const reasons[] = {"", "true", "truth", "no such object"};
	struct tag tags[] = {{literal("error"), literal(""), TAG_TEXT},
		{literal("k"), literal("v"), TAG_TEXT},
		{literal("otel.status_description"), literal("mine"), TAG_TEXT}};
	struct span_memory memory = {0};
	struct span span = example(), seen;

	span.tags = tags;
	for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
		struct buffer out = {0};

		tags[0].value = literal(reasons[i]);
		for (span.tag_count = 1; span.tag_count <= 3; span.tag_count++)
			assert_same(&span);
		span.tag_count = 2;
		ck_assert_int_eq(zipkin_encode(&out, &span), 0);
		ck_assert(spanread_thrift(&seen, out.data, out.size, &memory));
		ck_assert_uint_eq(seen.tag_count, 2);
		buffer_free(&out);
	}
	span_memory_free(&memory);
}
END_TEST

START_TEST(test_random_spans)
{
	struct random_spans *spans = random_spans_create(20261121);

	for (int round = 0; round < 1000; round++)
		assert_same(random_span(spans, true));
	random_spans_free(spans);
}
END_TEST

/* Broken text is repaired: the result is what the repaired text encodes to, and it is counted. */
START_TEST(test_broken_text)
{
	struct span broken = example(), repaired = example();
	struct tag bad = {literal("k\xff"), literal("a\xc0\xaf b")},
		   good = {literal("k\uFFFD"), literal("a\uFFFD\uFFFD b")};
	struct buffer a = {0}, b = {0};

	broken.tags = &bad;
	repaired.tags = &good;
	broken.tag_count = repaired.tag_count = 1;
	broken.local.service = literal("\xed\xa0\x80");
	repaired.local.service = literal("\uFFFD\uFFFD\uFFFD");
	ck_assert_int_eq(zipkin_encode(&a, &broken), 3);
	ck_assert_int_eq(zipkin_encode(&b, &repaired), 0);
	ck_assert_uint_eq(a.size, b.size);
	ck_assert_mem_eq(a.data, b.data, a.size);
	buffer_free(&a);
	buffer_free(&b);
}
END_TEST

/* A long service name is in every core annotation: a span that would become too large is refused. */
START_TEST(test_too_large)
{
	struct annotation annotations[600];
	struct span span = example();
	struct buffer out = {0};
	char *name = g_malloc(64 * 1024);

	memset(name, 'x', 64 * 1024);
	span.local.service = (struct text){name, 64 * 1024};
	for (int i = 0; i < 600; i++)
		annotations[i] = (struct annotation){1, literal("cs")};
	span.annotations = annotations;
	span.annotation_count = 600;
	ck_assert_int_eq(zipkin_encode(&out, &span), -1);
	ck_assert_uint_eq(out.size, 0);
	ck_assert_uint_lt(out.room, 2 * 1024 * 1024);
	span.annotation_count = 6;
	assert_same(&span);
	buffer_free(&out);
	g_free(name);
}
END_TEST

/* Texts of every length, and a bit in every place; the sanitizer sees what is read or written beyond. */
START_TEST(test_copies)
{
	for (size_t size = 0; size <= 100; size++) {
		g_autofree char *from = g_malloc(size), *to = g_malloc(size);

		for (size_t i = 0; i < size; i++)
			from[i] = (char)(1 + i);
		ck_assert(utf8_copy_ascii(to, from, size));
		ck_assert(size == 0 || memcmp(to, from, size) == 0);
		for (size_t i = 0; i < size; i++) {
			from[i] = (char)(from[i] | 0x80);
			ck_assert(!utf8_copy_ascii(to, from, size));
			ck_assert_mem_eq(to, from, size);
			from[i] = (char)(from[i] & 0x7f);
		}
	}
}
END_TEST

START_TEST(test_utf8_agrees_with_glib)
{
	GRand *random = g_rand_new_with_seed(7);
	char text[12], out[UTF8_REPAIRED_MAX(sizeof(text))];

	for (int round = 0; round < 300000; round++) {
		static const unsigned char leads[] = {0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed,
			0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x9f, 0xa0, 0x8f, 0x90};
		size_t size = (size_t)g_rand_int_range(random, 0, sizeof(text));

		for (size_t i = 0; i < size; i++)
			text[i] = (char)leads[g_rand_int_range(random, 0, sizeof(leads))];
		ck_assert_int_eq(utf8_valid(text, size), g_utf8_validate(text, (gssize)size, NULL));
		size = utf8_repair(out, text, size);
		ck_assert(g_utf8_validate(out, (gssize)size, NULL));
	}
	g_rand_free(random);
}
END_TEST

START_TEST(test_addresses)
{
	static const struct {
		const char *text;
		int size;
	} cases[] = {{"1.2.3.4", 4}, {"255.255.255.255", 4}, {"256.1.1.1", 0}, {"1.2.3", 0}, {"1.2.3.4.5", 0},
		{"1.2.3.4 ", 0}, {"0001.2.3.4", 0}, {"::1", 16}, {"::ffff:10.0.0.1", 4}, {"fe80::1%eth0", 0},
		{"localhost", 0}, {"NaN", 0}, {"", 0}, {"1", 0}, {"....", 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct endpoint endpoint = {0};

		endpoint_set_address(&endpoint, literal(cases[i].text));
		ck_assert_msg(endpoint.address_size == cases[i].size, "%s: %d", cases[i].text,
			endpoint.address_size);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("encode");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, test_every_kind);
	tcase_add_test(tests, test_errors);
	tcase_add_test(tests, test_random_spans);
	tcase_add_test(tests, test_broken_text);
	tcase_add_test(tests, test_too_large);
	tcase_add_test(tests, test_copies);
	tcase_add_test(tests, test_utf8_agrees_with_glib);
	tcase_add_test(tests, test_addresses);
	return run_cases("zipkin", tests);
}
