/* SPDX-License-Identifier: BSD-2-Clause */
/* The span API: what is handed to the provider, and what is not while nobody records. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_provider.h"
#include "run.h"

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
	ck_assert_str_eq(fake_name, "read");
	ck_assert_str_eq(fake_head, "client 50000 10.0.0.1 svc");
	ck_assert_str_eq(fake_data, "");
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
		"+1234567890123 late\n-7 "
		"early\na=b=c\n#in=-1\n#dd=0.1\n#bt=true\n#imin=-9223372036854775808\n"
		"#imax=9223372036854775807\n#iumax=18446744073709551615\n#izero=0\nerror=true\n"
		"@65535 2001:db8::1 my db\n!finish +5\n");
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_finish_at(&span, span.record.start - 7);
	ck_assert_str_eq(fake_data, "!finish -7\n");
}
END_TEST

static uint64_t backwards(uint64_t ticks)
{
	static uint64_t time = 1000000;

	(void)ticks;
	return time -= 100;
}

/* However clocks of threads and processors differ: nothing happens in a span before its start. */
START_TEST(test_clock_that_goes_back)
{
	static const struct blkin_clock clock = {.read = backwards};
	struct blkin_span span;

	blkin_clock_ = &clock;
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_annotate(&span, "now");
	blkin_span_annotate_at(&span, blkin_now(), "then");
	blkin_span_finish(&span);
	ck_assert_uint_eq(fake_record.start, 999900);
	ck_assert_str_eq(fake_data, "+0 now\n-200 then\n");
}
END_TEST

/* A provider from before there was a clock in it, and from before it took whole spans. */
START_TEST(test_older_provider)
{
	static const struct blkin_clock clock = {.read = backwards};
	struct blkin_provider provider = fake_provider;

	provider.clock = &clock;
	provider.size = BLKIN_PROVIDER_LEAST_;
	blkin_whole_ = NULL;
	blkin_use_provider_(&provider);
	ck_assert_ptr_eq(blkin_provider_, &provider);
	ck_assert_ptr_null(blkin_clock_);
	ck_assert_ptr_null(blkin_whole_);
	provider.size = sizeof(provider);
	blkin_use_provider_(&provider);
	ck_assert_ptr_eq(blkin_clock_, &clock);
	ck_assert_ptr_eq(blkin_whole_, provider.whole);
}
END_TEST

/* The same lines, whether the compiler knows the texts or not. */
START_TEST(test_known_texts)
{
	const char *volatile key = "key", *volatile value = "a value";
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag(&span, "key", "a value");
	blkin_span_tag(&span, key, value);
	blkin_span_tag_int(&span, "key", -7);
	blkin_span_tag_int(&span, key, -7);
	blkin_span_tag_int(&span, "#", 7);
	blkin_span_annotate_at(&span, span.record.start, "a value");
	blkin_span_annotate_at(&span, span.record.start, value);
	blkin_span_finish(&span);
	ck_assert_str_eq(
		fake_data, "key=a value\nkey=a value\n#ikey=-7\n#ikey=-7\n#i#=7\n+0 a value\n+0 a value\n");
}
END_TEST

/*
 * A text that another thread makes shorter must not bring a NUL into the span's own: LTTng takes its size as
 * it is, and the events behind it would not be found.
 */
START_TEST(test_changed_meanwhile)
{
	struct blkin_span span;
	char text[20];

	for (size_t size = 1; size < sizeof(text); size++) {
		for (size_t at = 0; at < size; at++) {
			memset(text, 't', sizeof(text));
			text[at] = '\0';
			blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
			blkin_span_put_tag_(&span, "k", 1, text, size, 0);
			blkin_span_put_tag_(&span, text, size, "v", 1, 0);
			blkin_span_put_known_tag_(&span, "k", 1, text, size);
			blkin_span_put_annotation_(&span, span.record.start, text, size, 0);
			blkin_span_finish(&span);
			ck_assert_str_eq(fake_data, "!pieces 4\n");
		}
	}
}
END_TEST

/* A line break is found wherever it is; bytes that differ from it by a bit are none. */
START_TEST(test_line_breaks)
{
	char text[40] = "", expected[200];
	struct blkin_span span;

	for (size_t size = 0; size < sizeof(text) - 1; size++) {
		text[size] = "\x0b\x8a\x09\xff\x01"[size % 5];
		blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
		blkin_span_tag(&span, "key", text);
		blkin_span_finish(&span);
		snprintf(expected, sizeof(expected), "key=%s\n", text);
		ck_assert_str_eq(fake_data, expected);
		for (size_t at = 0; at <= size; at++) {
			char was = text[at];

			text[at] = '\n';
			fake_pieces[0] = '\0';
			blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
			blkin_span_tag(&span, "key", text);
			blkin_span_annotate_at(&span, span.record.start, text);
			blkin_span_finish(&span);
			snprintf(expected, sizeof(expected), "[key=%s][+0 %s]", text, text);
			ck_assert_str_eq(fake_pieces, expected);
			ck_assert_str_eq(fake_data, "!pieces 2\n");
			text[at] = was;
		}
	}
}
END_TEST

/* Every number of digits, and what is around each. */
START_TEST(test_numbers)
{
	struct blkin_span span;
	uint64_t power = 1;

	for (int digits = 1; digits <= 20; digits++, power *= 10) {
		const uint64_t numbers[] = {power - 1, power, power + 1, power * 5 / 4, power | 0x5555};

		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			char expected[32];

			blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
			blkin_span_tag_uint(&span, "n", numbers[i]);
			blkin_span_finish(&span);
			snprintf(expected, sizeof(expected), "#in=%" PRIu64 "\n", numbers[i]);
			ck_assert_str_eq(fake_data, expected);
		}
	}
}
END_TEST

START_TEST(test_kinds)
{
	static const char *const heads[] = {"local 50000 10.0.0.1 svc", "client 50000 10.0.0.1 svc",
		"server 50000 10.0.0.1 svc", "producer 50000 10.0.0.1 svc", "consumer 50000 10.0.0.1 svc",
		"local 50000 10.0.0.1 svc"};
	struct blkin_span span;

	for (int kind = 0; kind < 6; kind++) {
		blkin_span_start(&span, (enum blkin_kind)kind, "x", &here, NULL);
		blkin_span_finish(&span);
		ck_assert_str_eq(fake_head, heads[kind]);
	}
}
END_TEST

/* A name is never cut off; a long one is not copied. */
START_TEST(test_long_names)
{
	char name[65537];
	struct blkin_span span;

	memset(name, 'n', sizeof(name) - 1);
	for (size_t size = 60; size < sizeof(name); size = size < 70 ? size + 1 : size * 31) {
		name[size] = '\0';
		blkin_span_start(&span, BLKIN_LOCAL, name, &here, NULL);
		blkin_span_tag(&span, "k", "v");
		blkin_span_finish(&span);
		ck_assert_str_eq(fake_name, name);
		ck_assert_str_eq(fake_head, "local 50000 10.0.0.1 svc");
		ck_assert_str_eq(fake_data, "k=v\n");
		ck_assert_int_eq(span.name == name, size >= 64);
		name[size] = 'n';
	}
}
END_TEST

/* What would break the head line is replaced; a long service is cut off. */
START_TEST(test_odd_endpoints)
{
	static const struct {
		struct blkin_endpoint endpoint;
		const char *text;
	} cases[] = {{{"1 2\n3", 1, "a\nb c"}, "1 - a b c"}, {{"10.0.0.1\n", 1, "s"}, "1 - s"},
		{{"0123456789abcdef0123456789abcdef0123456789abc", 2, "s"},
			"2 0123456789abcdef0123456789abcdef0123456789abc s"},
		{{"0123456789abcdef0123456789abcdef0123456789abcd", 3, "s"}, "3 - s"},
		{{"", -1, ""}, "65535 - "}};
	char service[300], expected[320];
	struct blkin_endpoint endpoint = {"::1", 0, service};
	struct blkin_span span;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		blkin_span_start(&span, BLKIN_LOCAL, "x", &cases[i].endpoint, NULL);
		blkin_span_remote(&span, &cases[i].endpoint);
		blkin_span_finish(&span);
		snprintf(expected, sizeof(expected), "local %s", cases[i].text);
		ck_assert_str_eq(fake_head, expected);
		snprintf(expected, sizeof(expected), "@%s\n", cases[i].text);
		ck_assert_str_eq(fake_data, expected);
	}
	memset(service, 's', sizeof(service));
	service[sizeof(service) - 1] = '\0';
	blkin_span_start(&span, BLKIN_LOCAL, "x", &endpoint, NULL);
	blkin_span_finish(&span);
	snprintf(expected, sizeof(expected), "local 0 ::1 %.*s", BLKIN_SERVICE_NAME, service);
	ck_assert_str_eq(fake_head, expected);
}
END_TEST

/* All that there can be in the longest form, on the heap: the sanitizer watches the end. */
START_TEST(test_largest_span)
{
	const struct blkin_context parent = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, 0, 0};
	struct blkin_span *span = malloc(sizeof(*span));
	char service[256], name[64], value[BLKIN_SPAN_TEXT];
	struct blkin_endpoint far = {"0123456789abcdef0123456789abcdef0123456789abc", -1, service};

	memset(service, 's', 255);
	memset(name, 'n', 63);
	memset(value, 'v', sizeof(value));
	service[255] = name[63] = value[BLKIN_SPAN_TEXT - 3] = '\0';
	blkin_span_join(span, name, &far, &parent);
	blkin_span_tag(span, "k", value);
	ck_assert_str_eq(fake_pieces, "");
	blkin_span_tag(span, "", "");
	ck_assert_str_eq(fake_pieces, "[=]");
	span->pieces = UINT32_MAX;
	blkin_span_remote(span, &far);
	span->record.start = 0;
	blkin_span_finish_at(span, UINT64_MAX);
	ck_assert_uint_eq(strlen(fake_head), 42 + 6 + 45 + 1 + 255);
	ck_assert_ptr_nonnull(strstr(fake_data, "s\n!finish +18446744073709551615\n!pieces 4294967295\n"));
	free(span);
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
		snprintf(expected, sizeof(expected), "#dd=%s\n", cases[i].text);
		ck_assert_str_eq(fake_data, expected);
		ck_assert(strtod(fake_data + 4, NULL) == cases[i].value);
	}
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag_double(&span, "nan", (double)NAN);
	blkin_span_finish(&span);
	ck_assert(strcmp(fake_data, "#dnan=nan\n") == 0 || strcmp(fake_data, "#dnan=-nan\n") == 0);
}
END_TEST

/* A key that looks as if it had a type is marked as a text's. */
START_TEST(test_marks)
{
	char key[BLKIN_TYPED_KEY_ + 1], expected[2 * sizeof(key) + 100];
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag(&span, "#i", "1");
	blkin_span_tag(&span, "a#", "2");
	blkin_span_tag_int(&span, "+", 3);
	blkin_span_finish(&span);
	ck_assert_str_eq(fake_pieces, "");
	ck_assert_str_eq(fake_data, "#s#i=1\na#=2\n#i+=3\n");
	memset(key, 'k', sizeof(key));
	key[BLKIN_TYPED_KEY_] = '\0';
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag_int(&span, "=", -4);
	blkin_span_tag(&span, "#", "5\n");
	key[0] = '=';
	blkin_span_tag_bool(&span, key, 1);
	blkin_span_tag_bool(&span, key + 1, 1);
	blkin_span_finish(&span);
	snprintf(expected, sizeof(expected), "[#i==-4][#s#=5\n][%s=true]", key);
	ck_assert_str_eq(fake_pieces, expected);
	snprintf(expected, sizeof(expected), "#b%s=true\n!pieces 3\n", key + 1);
	ck_assert_str_eq(fake_data, expected);
}
END_TEST

/* The last line is the process's. */
START_TEST(test_process)
{
	struct blkin_span span;

	memcpy(fake_process.line, "&123=osd\nxxx", 12);
	fake_process.size = 9;
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_finish_at(&span, span.record.start + 5);
	fake_process.size = 0;
	ck_assert_str_eq(fake_data, "!finish +5\n&123=osd\n");
}
END_TEST

/* What a line cannot hold, or what does not fit, is written before the span as a piece, complete. */
START_TEST(test_pieces)
{
	static const char *const keys[] = {"+k", "-k", "@k", "!k", "&k", "a=b", "a\nb"};
	char expected[100000], *large = malloc(65537);
	struct blkin_span span;

	memset(large, 'x', 65536);
	large[65536] = '\0';
	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	for (int i = 0; i < 7; i++)
		blkin_span_tag(&span, keys[i], "v");
	blkin_span_tag(&span, "k", "two\nlines");
	blkin_span_annotate_at(&span, span.record.start + 3, "two\nlines");
	blkin_span_tag(&span, "large", large);
	blkin_span_tag(&span, "", "empty key");
	blkin_span_annotate_at(&span, span.record.start, "");
	blkin_span_finish(&span);
	snprintf(expected, sizeof(expected),
		"[+k=v][-k=v][@k=v][!k=v][&k=v][a=b=v][a\nb=v][k=two\nlines][+3 two\nlines][large=%s]",
		large);
	ck_assert_str_eq(fake_pieces, expected);
	ck_assert_str_eq(fake_data, "=empty key\n+0 \n!pieces 10\n");
	ck_assert_str_eq(fake_piece_head, "local 50000 10.0.0.1 svc");
	ck_assert_str_eq(fake_head, fake_piece_head);
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
	ck_assert_uint_eq(fake_record.parent_id, root.context.span_id);
	ck_assert_uint_ne(fake_record.span_id, root.context.span_id);
	ck_assert_str_eq(fake_head, "local,debug,high=0000000000000abc 50000 10.0.0.1 svc");
	blkin_span_join(&joined, "server", &here, blkin_span_context(&root));
	blkin_span_finish(&joined);
	ck_assert_uint_eq(fake_record.span_id, root.context.span_id);
	ck_assert_str_eq(fake_head, "server,shared,debug,high=0000000000000abc 50000 10.0.0.1 svc");
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
	ck_assert_str_eq(fake_head, "server 50000 10.0.0.1 svc");
}
END_TEST

/* Nothing was received at all: a trace begins. */
START_TEST(test_join_nothing)
{
	struct blkin_span span;

	blkin_span_join(&span, "x", &here, NULL);
	blkin_span_finish(&span);
	ck_assert_int_eq(fake_spans, 1);
	ck_assert_uint_eq(fake_record.trace_id, fake_record.span_id);
	ck_assert_str_eq(fake_head, "server 50000 10.0.0.1 svc");
	fake_on = 0;
	blkin_span_join(&span, "x", &here, NULL);
	blkin_span_finish(&span);
	ck_assert_int_eq(fake_spans, 1);
}
END_TEST

/* As both record under the same ids, whatever they are. */
START_TEST(test_other_half_of_another_kind)
{
	const struct blkin_context received = {1, 7, 8, 9, 1, 0, 0};
	struct blkin_span span;

	blkin_span_join(&span, "x", &here, &received);
	blkin_span_tag(&span, "k", "v");
	ck_assert_int_eq(blkin_span_kind(&span, BLKIN_CONSUMER, &here), 0);
	ck_assert_int_eq(blkin_span_kind(&span, BLKIN_PRODUCER, &here), 0);
	blkin_span_finish(&span);
	ck_assert_str_eq(fake_head, "producer,shared,debug,high=0000000000000001 50000 10.0.0.1 svc");
	ck_assert_str_eq(fake_data, "k=v\n");
	blkin_span_start(&span, BLKIN_SERVER, "x", NULL, NULL);
	ck_assert_int_eq(blkin_span_kind(&span, BLKIN_LOCAL, NULL), 0);
	blkin_span_finish(&span);
	ck_assert_str_eq(fake_head, "local 0 - ");
}
END_TEST

/* Of an array that has more room than tags. */
START_TEST(test_tags_of_nothing)
{
	const struct blkin_tag tags[3] = {BLKIN_TAG("a", "b"), {0}, BLKIN_TAG_INT(NULL, 1)};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tags(&span, tags, 3);
	blkin_span_finish(&span);
	ck_assert_str_eq(fake_data, "a=b\n");
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
	ck_assert_str_eq(fake_name, "");
	ck_assert_str_eq(fake_head, "local 0 - ");
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

/* A span may be copied before it finishes, if one of the two goes on. */
START_TEST(test_copied)
{
	struct blkin_span *span = malloc(sizeof(*span)), copy;

	blkin_span_start(span, BLKIN_LOCAL, "x", &here, NULL);
	blkin_span_tag(span, "k", "v");
	blkin_span_tag(span, "k", "two\nlines");
	copy = *span;
	free(span);
	blkin_span_tag(&copy, "l", "w");
	blkin_span_finish(&copy);
	ck_assert_str_eq(fake_name, "x");
	ck_assert_str_eq(fake_head, "local 50000 10.0.0.1 svc");
	ck_assert_str_eq(fake_data, "k=v\nl=w\n!pieces 1\n");
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

static void install_old(void)
{
	fake_is_old = 1;
	fake_install();
}

static void assert_sizes(void)
{
	ck_assert_int_eq(fake_wrong_sizes, 0);
}

static TCase *span_tests(const char *name, void (*install)(void))
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, install, assert_sizes);
	tcase_add_test(tests, test_root_span);
	tcase_add_test(tests, test_lines);
	tcase_add_test(tests, test_known_texts);
	tcase_add_test(tests, test_changed_meanwhile);
	tcase_add_test(tests, test_line_breaks);
	tcase_add_test(tests, test_clock_that_goes_back);
	tcase_add_test(tests, test_older_provider);
	tcase_add_test(tests, test_numbers);
	tcase_add_test(tests, test_kinds);
	tcase_add_test(tests, test_long_names);
	tcase_add_test(tests, test_odd_endpoints);
	tcase_add_test(tests, test_largest_span);
	tcase_add_test(tests, test_doubles);
	tcase_add_test(tests, test_marks);
	tcase_add_test(tests, test_process);
	tcase_add_test(tests, test_pieces);
	tcase_add_test(tests, test_nothing_is_cut_off);
	tcase_add_test(tests, test_children_follow_their_root);
	tcase_add_test(tests, test_unsampled);
	tcase_add_test(tests, test_deferred);
	tcase_add_test(tests, test_join_nothing);
	tcase_add_test(tests, test_other_half_of_another_kind);
	tcase_add_test(tests, test_tags_of_nothing);
	tcase_add_test(tests, test_off);
	tcase_add_test(tests, test_levels);
	tcase_add_test(tests, test_missing_pieces_of_information);
	tcase_add_test(tests, test_scope);
	tcase_add_test(tests, test_copied);
	tcase_add_test(tests, test_handed_to_another_thread);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("client");

	suite_add_tcase(suite, span_tests("span", fake_install));
	suite_add_tcase(suite, span_tests("with an older provider", install_old));
	return run_all(srunner_create(suite));
}
