/* SPDX-License-Identifier: BSD-2-Clause */
/* What is shown of spans as the agent has them: what Zipkin shows when they come in Thrift. */
#include <string.h>

#include "collect_cases.h"
#include "encode/zipkin.h"
#include "queue/batch.h"
#include "randomspan.h"
#include "randomwhole.h"
#include "spans/decode.h"
#include "spans/shown.h"
#include "status/trace/span2.h"

#define TEXT(literal)                                                                                        \
	{                                                                                                    \
		(literal), sizeof(literal) - 1                                                               \
	}
#define ROUNDS 1000

static GPtrArray *spans;
static char why[256];

static void setup(void)
{
	spans = g_ptr_array_new_with_free_func(span2_free);
}

static void teardown(void)
{
	g_ptr_array_unref(spans);
}

/* A line of JSON for each, as a C string; empties the list. */
static struct buffer take_lines(void)
{
	struct buffer out = {0};

	for (guint i = 0; i < spans->len; i++) {
		span2_put_json(g_ptr_array_index(spans, i), &out);
		buffer_put(&out, "\n", 1);
	}
	g_ptr_array_set_size(spans, 0);
	buffer_put(&out, "", 1);
	return out;
}

/* By way of Thrift, without what only that has. */
static struct buffer lines_in_thrift(const struct span *span)
{
	struct buffer bytes = {0};

	ck_assert_int_ge(zipkin_encode(&bytes, span), 0);
	ck_assert_msg(decode_span(bytes.data, bytes.size, spans, why, sizeof(why)), "%s", why);
	for (guint i = 0; i < spans->len; i++)
		span2_leave_out_added(g_ptr_array_index(spans, i));
	buffer_free(&bytes);
	return take_lines();
}

/* What differs is told, as Check has no room for all. */
static void assert_same(const struct buffer *shown, const struct buffer *wanted)
{
	size_t at = 0;

	while (at < shown->size && at < wanted->size && shown->data[at] == wanted->data[at])
		at++;
	ck_assert_msg(at == shown->size && at == wanted->size, "%.500s is shown, and not %.500s",
		shown->data + at, wanted->data + at);
}

static void assert_as_in_thrift(const struct span *span)
{
	struct buffer wanted = lines_in_thrift(span), shown;

	ck_assert_ptr_null(shown_span(span, spans));
	shown = take_lines();
	assert_same(&shown, &wanted);
	buffer_free(&wanted);
	buffer_free(&shown);
}

static void assert_shows(const struct span *span, const char *line)
{
	struct buffer shown;

	ck_assert_ptr_null(shown_span(span, spans));
	shown = take_lines();
	shown.size--;
	assert_text(&shown, line);
}

START_TEST(spans_are_shown_as_in_thrift)
{
	struct random_spans *random = random_spans_create(11);

	for (int i = 0; i < ROUNDS; i++) {
		struct span span = *random_span(random, false);

		span.shared = span.shared && span.kind == SPAN_SERVER;
		assert_as_in_thrift(&span);
	}
	random_spans_free(random);
}
END_TEST

START_TEST(classic_spans_are_shown_as_in_thrift)
{
	struct random_spans *random = random_spans_create(12);

	for (int i = 0; i < ROUNDS; i++) {
		struct span span = *random_span(random, true);

		span.classic = true;
		span.kind = SPAN_LOCAL;
		span.has_remote = false;
		assert_as_in_thrift(&span);
	}
	random_spans_free(random);
}
END_TEST

START_TEST(spans_of_sdks_are_shown_as_in_thrift)
{
	struct random_wholes *random = random_wholes_create(13);

	for (int i = 0; i < ROUNDS; i++) {
		struct span span = *random_whole(random);

		span.local.service = (struct text)TEXT("sdk");
		assert_as_in_thrift(&span);
	}
	random_wholes_free(random);
}
END_TEST

/* What a span of Thrift says by names that mean something there is told as it is. */
START_TEST(names_mean_nothing)
{
	const struct annotation annotation = {5000, TEXT("cs")};
	const struct tag tags[] = {{TEXT("lc"), TEXT(""), TAG_TEXT}, {TEXT("sa"), TEXT("x"), TAG_TEXT}};
	const struct span span = {.trace_id = 10,
		.id = 11,
		.timestamp = 1000,
		.duration = 8000,
		.local = {.service = TEXT("Front")},
		.annotations = &annotation,
		.annotation_count = 1,
		.tags = tags,
		.tag_count = 2};

	assert_shows(&span,
		"{\"traceId\":\"000000000000000a\",\"id\":\"000000000000000b\",\"timestamp\":1,\"duration\":"
		"8,"
		"\"localEndpoint\":{\"serviceName\":\"front\"},\"annotations\":[{\"timestamp\":5,\"value\":"
		"\"cs\"}],\"tags\":{\"lc\":\"\",\"sa\":\"x\"}}\n");
}
END_TEST

/* In Thrift the time tells whose span it is. */
START_TEST(a_span_needs_no_time)
{
	const struct span span = {.trace_id = 10,
		.id = 11,
		.kind = SPAN_CONSUMER,
		.duration = 8000,
		.local = {.port = 80},
		.has_remote = true};

	assert_shows(&span,
		"{\"traceId\":\"000000000000000a\",\"id\":\"000000000000000b\",\"kind\":\"CONSUMER\","
		"\"duration\":8,\"localEndpoint\":{\"port\":80}}\n");
}
END_TEST

/* In Thrift the caller would lose it, as there some write the server's name there. */
START_TEST(a_caller_may_have_the_servers_name)
{
	const struct span span = {.trace_id = 10,
		.id = 11,
		.parent_id = 11,
		.kind = SPAN_SERVER,
		.timestamp = 1000,
		.local = {.service = TEXT("back")},
		.has_remote = true,
		.remote = {.service = TEXT("Back"), .port = 90}};

	assert_shows(&span,
		"{\"traceId\":\"000000000000000a\",\"id\":\"000000000000000b\",\"kind\":\"SERVER\","
		"\"timestamp\":1,\"localEndpoint\":{\"serviceName\":\"back\"},"
		"\"remoteEndpoint\":{\"serviceName\":\"back\",\"port\":90}}\n");
}
END_TEST

START_TEST(what_cannot_be_shown_has_a_reason)
{
	static const uint8_t byte = 7;
	struct span_memory memory = {0};
	struct span span = {.id = 1};

	ck_assert_str_eq(shown_span(&span, spans), "its trace id is 0");
	span = (struct span){.trace_id = 1};
	ck_assert_str_eq(shown_span(&span, spans), "its span id is 0");
	ck_assert(!shown_item(BATCH_SPAN_RECORDS, &byte, 1, &memory, spans, why, sizeof(why)));
	ck_assert_str_eq(why, "it cannot be read");
	ck_assert(!shown_item(BATCH_ZIPKIN_SPANS, &byte, 1, &memory, spans, why, sizeof(why)));
	ck_assert(g_str_has_prefix(why, "it is not a span in TBinary: "));
	ck_assert_uint_eq(spans->len, 0);
	span_memory_free(&memory);
}
END_TEST

TCase *collect_shown_cases(void)
{
	const TTest *const tests[] = {spans_are_shown_as_in_thrift, classic_spans_are_shown_as_in_thrift,
		spans_of_sdks_are_shown_as_in_thrift, names_mean_nothing, a_span_needs_no_time,
		a_caller_may_have_the_servers_name, what_cannot_be_shown_has_a_reason};
	TCase *cases = tcase_create("shown");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(cases, tests[i]);
	return cases;
}
