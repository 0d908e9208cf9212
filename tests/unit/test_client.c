/* SPDX-License-Identifier: BSD-2-Clause */
/* The span API: what is handed to the provider, and what is not while nobody records. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_provider.h"

static const struct blkin_endpoint here = {"10.0.0.1", (int16_t)50000, "svc"};

START_TEST(test_root_span)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_CLIENT, "read", &here, NULL);
	blkin_span_finish(&span);
	blkin_span_finish(&span);
	ck_assert_int_eq(fake_spans, 1);
	ck_assert_uint_ne(fake_record.span_id, 0);
	ck_assert_uint_eq(fake_record.trace_id, fake_record.span_id);
	ck_assert_uint_eq(fake_record.parent_id, 0);
	ck_assert_uint_eq(fake_record.trace_id_high, 0);
	ck_assert_uint_eq(fake_record.flags, BLKIN_CLIENT);
	ck_assert_uint_eq(fake_record.port, 50000);
	ck_assert_str_eq(fake_record.name, "read");
	ck_assert_str_eq(fake_record.service, "svc");
	ck_assert_str_eq(fake_record.ip, "10.0.0.1");
	ck_assert_str_eq(fake_data, "");
	ck_assert_uint_eq(fake_record.finish, 0);
	ck_assert_uint_le(fake_record.start, blkin_now());
}
END_TEST

START_TEST(test_lines)
{
	const struct blkin_tag tags[] = {BLKIN_TAG("a", "b=c"), BLKIN_TAG_INT("n", -1),
		BLKIN_TAG_DOUBLE("d", 0.1), BLKIN_TAG_BOOL("t", 1)};
	const struct blkin_endpoint remote = {"2001:db8::1", (int16_t)65535, "my db"};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_annotate_at(&span, span.record.start + 1234567890123, "late");
	blkin_span_annotate_at(&span, span.record.start - 7, "early");
	blkin_span_tags(&span, tags, 4);
	blkin_span_tag_int(&span, "min", INT64_MIN);
	blkin_span_tag_int(&span, "max", INT64_MAX);
	blkin_span_tag_uint(&span, "umax", UINT64_MAX);
	blkin_span_tag_int(&span, "zero", 0);
	blkin_span_error(&span, NULL);
	blkin_span_remote(&span, &remote);
	blkin_span_finish_at(&span, span.record.start + 5);
	ck_assert_str_eq(fake_data,
		"+1234567890123 late\n-7 early\na=b=c\nn=-1\nd=0.1\nt=true\nmin=-9223372036854775808\n"
		"max=9223372036854775807\numax=18446744073709551615\nzero=0\nerror=true\n"
		"@65535 2001:db8::1 my db\n");
	ck_assert_uint_eq(fake_record.finish, fake_record.start + 5);
	ck_assert_uint_eq(fake_record.pieces, 0);
}
END_TEST

START_TEST(test_doubles)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "-0"}, {1.0 / 3, "0.3333333333333333"}, {1e300, "1e+300"},
		{5e-324, "4.94065645841247e-324"}, {123456789.125, "123456789.125"}};
	struct blkin_span span;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char expected[64];

		blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
		blkin_span_tag_double(&span, "d", cases[i].value);
		blkin_span_finish(&span);
		snprintf(expected, sizeof(expected), "d=%s\n", cases[i].text);
		ck_assert_str_eq(fake_data, expected);
		ck_assert(strtod(fake_data + 2, NULL) == cases[i].value);
	}
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag_double(&span, "nan", (double)NAN);
	blkin_span_finish(&span);
	ck_assert(strcmp(fake_data, "nan=nan\n") == 0 || strcmp(fake_data, "nan=-nan\n") == 0);
}
END_TEST

/* What a line cannot hold, or there is no room for, goes ahead as a piece, whole. */
START_TEST(test_pieces)
{
	static const char *const keys[] = {"+k", "-k", "@k", "a=b", "a\nb"};
	char expected[100000], *large = malloc(65537);
	struct blkin_span span;

	memset(large, 'x', 65536);
	large[65536] = '\0';
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	for (int i = 0; i < 5; i++)
		blkin_span_tag(&span, keys[i], "v");
	blkin_span_tag(&span, "k", "two\nlines");
	blkin_span_annotate_at(&span, span.record.start + 3, "two\nlines");
	blkin_span_tag(&span, "large", large);
	blkin_span_tag(&span, "", "empty key");
	blkin_span_annotate_at(&span, span.record.start, "");
	blkin_span_finish(&span);
	snprintf(expected, sizeof(expected),
		"[+k=v][-k=v][@k=v][a=b=v][a\nb=v][k=two\nlines][+3 two\nlines][large=%s]", large);
	ck_assert_str_eq(fake_pieces, expected);
	ck_assert_str_eq(fake_data, "=empty key\n+0 \n");
	ck_assert_uint_eq(fake_record.pieces, 8);
	free(large);
}
END_TEST

/* Every byte that goes in comes out, in the span or ahead of it, and none is written beyond its end. */
START_TEST(test_nothing_is_cut_off)
{
	for (int size = 0; size < 600; size += 7) {
		struct blkin_span *span =
			malloc(sizeof(*span)); /* on the heap: the sanitizer watches its end */
		const struct blkin_endpoint remote = {"255.255.255.255", -1,
			"012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
			"4567890123456789"
			"012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
			"4567890123456789"
			"012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
			"4567890123456789"};
		char value[601];
		size_t total = 0;

		fake_install();
		memset(value, 'y', sizeof(value));
		value[size] = '\0';
		blkin_span_start(span, BLKIN_LOCAL, "x", &here, NULL);
		for (int i = 0; i < 20; i++) {
			blkin_span_tag(span, "k", value);
			blkin_span_annotate(span, value);
		}
		blkin_span_remote(span, &remote);
		blkin_span_finish(span);
		for (const char *at = fake_data; *at; at++)
			total += *at == 'y';
		for (const char *at = fake_pieces; *at; at++)
			total += *at == 'y';
		ck_assert_uint_eq(total, 40u * (unsigned)size);
		ck_assert_ptr_nonnull(strstr(fake_data, "@65535 255.255.255.255 0123456789"));
		free(span);
	}
}
END_TEST

START_TEST(test_children_follow_their_root)
{
	struct blkin_span root, child, joined;

	blkin_span_start(&root, BLKIN_CLIENT, "root", &here, NULL);
	root.context.trace_id_high = 0xabc;
	root.context.debug = 1;
	blkin_span_start(&child, BLKIN_LOCAL, "child", &here, blkin_span_context(&root));
	blkin_span_finish(&child);
	ck_assert_uint_eq(fake_record.trace_id, root.context.trace_id);
	ck_assert_uint_eq(fake_record.trace_id_high, 0xabc);
	ck_assert_uint_eq(fake_record.parent_id, root.context.span_id);
	ck_assert_uint_ne(fake_record.span_id, root.context.span_id);
	ck_assert_uint_eq(fake_record.flags, BLKIN_FLAG_DEBUG);
	blkin_span_join(&joined, "server", &here, blkin_span_context(&root));
	blkin_span_finish(&joined);
	ck_assert_uint_eq(fake_record.span_id, root.context.span_id);
	ck_assert_uint_eq(fake_record.flags, BLKIN_SERVER | BLKIN_FLAG_SHARED | BLKIN_FLAG_DEBUG);
}
END_TEST

START_TEST(test_unsampled)
{
	struct blkin_span root, child, joined;

	fake_sampled = 0;
	blkin_span_start(&root, BLKIN_CLIENT, "root", &here, NULL);
	ck_assert_uint_eq(blkin_span_context(&root)->trace_id, 0);
	fake_sampled = 1;
	blkin_span_start(&child, BLKIN_LOCAL, "child", &here, blkin_span_context(&root));
	blkin_span_join(&joined, "server", &here, blkin_span_context(&root));
	blkin_span_tag(&child, "k", "v");
	blkin_span_finish(&joined);
	blkin_span_finish(&child);
	blkin_span_finish(&root);
	ck_assert_int_eq(fake_spans, 0);
	ck_assert_str_eq(fake_pieces, "");
}
END_TEST

/* What the sender left to us is decided once, and goes on decided. */
START_TEST(test_deferred)
{
	const struct blkin_context received = {0, 7, 8, 9, 0, 1, 0}, decision = {0, 7, 0, 0, 0, 0, 0};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_SERVER, "x", &here, &received);
	ck_assert_int_eq(blkin_context_decision(blkin_span_context(&span)), BLKIN_DECISION_ACCEPT);
	ck_assert_uint_eq(span.context.trace_id, 7);
	ck_assert_uint_eq(span.context.parent_id, 8);
	fake_sampled = 0;
	blkin_span_start(&span, BLKIN_SERVER, "x", &here, &received);
	ck_assert_int_eq(blkin_context_decision(blkin_span_context(&span)), BLKIN_DECISION_DENY);
	ck_assert_uint_eq(span.context.unsampled_id, 7);
	blkin_span_join(&span, "x", &here, &received);
	ck_assert_int_eq(blkin_context_decision(blkin_span_context(&span)), BLKIN_DECISION_DENY);
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	ck_assert_int_eq(blkin_context_decision(blkin_span_context(&span)), BLKIN_DECISION_DENY);
	fake_on = 0;
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	ck_assert_int_eq(blkin_context_decision(blkin_span_context(&span)), BLKIN_DECISION_DEFER);
	/* a decision without a span: ours is the root, and has no other half */
	fake_on = 1;
	blkin_span_join(&span, "x", &here, &decision);
	blkin_span_finish(&span);
	ck_assert_uint_eq(fake_record.trace_id, 7);
	ck_assert_uint_ne(fake_record.span_id, 0);
	ck_assert_uint_eq(fake_record.parent_id, 0);
	ck_assert_uint_eq(fake_record.flags, BLKIN_SERVER);
}
END_TEST

/* While nobody records here, somebody downstream may: the context is handed on as it came. */
START_TEST(test_off)
{
	const struct blkin_context received = {1, 2, 3, 4, 1, 0, 0};
	struct blkin_span span;

	fake_on = 0;
	blkin_span_start(&span, BLKIN_SERVER, "x", &here, &received);
	blkin_span_annotate(&span, "v");
	blkin_span_tag_double(&span, "d", 1);
	blkin_span_finish(&span);
	ck_assert_int_eq(fake_spans, 0);
	ck_assert_mem_eq(blkin_span_context(&span), &received, sizeof(received));
}
END_TEST

START_TEST(test_levels)
{
	for (int level = BLKIN_EMERG; level <= BLKIN_DEBUG; level++) {
		struct blkin_span span;

		blkin_span_start_level(&span, (enum blkin_level)level, BLKIN_LOCAL, "x", &here, NULL);
		blkin_span_finish(&span);
		ck_assert_int_eq(fake_level, level);
		ck_assert_int_eq(
			(fake_record.flags & BLKIN_FLAG_LEVEL) >> BLKIN_FLAG_LEVEL_SHIFT, level ^ BLKIN_INFO);
	}
}
END_TEST

START_TEST(test_missing_pieces_of_information)
{
	const struct blkin_endpoint nowhere = {NULL, 0, NULL};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, NULL, NULL, NULL);
	blkin_span_tag(&span, NULL, "v");
	blkin_span_tag(&span, "k", NULL);
	blkin_span_annotate(&span, NULL);
	blkin_span_remote(&span, &nowhere);
	blkin_span_finish(&span);
	ck_assert_str_eq(fake_record.name, "");
	ck_assert_str_eq(fake_record.service, "");
	ck_assert_str_eq(fake_record.ip, "");
	ck_assert_str_eq(fake_data, "@0 - \n");
}
END_TEST

START_TEST(test_scope)
{
	{
		BLKIN_SPAN(span, BLKIN_LOCAL, "scoped", &here, NULL);
		blkin_span_tag(&span, "k", "v");
		ck_assert_int_eq(fake_spans, 0);
	}
	ck_assert_int_eq(fake_spans, 1);
	ck_assert_str_eq(fake_data, "k=v\n");
}
END_TEST

static void *finish(void *span)
{
	blkin_span_finish(span);
	return NULL;
}

START_TEST(test_handed_to_another_thread)
{
	struct blkin_span span;
	pthread_t thread;

	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag(&span, "k", "v");
	ck_assert_int_eq(pthread_create(&thread, NULL, finish, &span), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(fake_spans, 1);
	ck_assert_str_eq(fake_data, "k=v\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("client");
	TCase *tests = tcase_create("span");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, fake_install, NULL);
	tcase_add_test(tests, test_root_span);
	tcase_add_test(tests, test_lines);
	tcase_add_test(tests, test_doubles);
	tcase_add_test(tests, test_pieces);
	tcase_add_test(tests, test_nothing_is_cut_off);
	tcase_add_test(tests, test_children_follow_their_root);
	tcase_add_test(tests, test_unsampled);
	tcase_add_test(tests, test_deferred);
	tcase_add_test(tests, test_off);
	tcase_add_test(tests, test_levels);
	tcase_add_test(tests, test_missing_pieces_of_information);
	tcase_add_test(tests, test_scope);
	tcase_add_test(tests, test_handed_to_another_thread);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
