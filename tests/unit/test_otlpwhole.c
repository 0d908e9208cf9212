/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans of OpenTelemetry's SDKs: what comes goes on as it was, against the generated code. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "core/record.h"
#include "core/value.h"
#include "encode/otlp.h"
#include "encode/otlpjson.h"
#include "encode/otlptraces.h"
#include "encode/otlpvalue.h"
#include "encode/spanread.h"
#include "encode/tagnumber.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/otlpfields.h"
#include "net/otlprequest.h"
#include "net/protobuf.h"
#include "otlpwholeoracle.h"
#include "randomspan.h"
#include "randomwhole.h"
#include "run.h"
#include "samespan.h"
#include "texts.h"

enum { SPANS = 30 };

static struct otlptraces_memory memory;
static struct span_memory opened;
static struct buffer items, sizes, request, record;
static struct payload *payload;
static int taken, refused;
static char why[100];

static void setup(void)
{
	payload = otlprequest_create("node-1");
	taken = refused = 0;
}

static void teardown(void)
{
	payload->destroy(payload);
	otlptraces_memory_free(&memory);
	span_memory_free(&opened);
	buffer_free(&items);
	buffer_free(&sizes);
	buffer_free(&request);
	buffer_free(&record);
	memory = (struct otlptraces_memory){0};
	opened = (struct span_memory){0};
	items = sizes = request = record = (struct buffer){0};
}

static void clear(void)
{
	items.size = sizes.size = 0;
	taken = refused = 0;
}

static void encode(const struct span *span)
{
	size_t before = items.size;
	uint32_t size;

	ck_assert_int_eq(otlp_encode(&items, span), 0);
	size = (uint32_t)(items.size - before);
	buffer_put(&sizes, &size, sizeof(size));
}

static void make_request(void)
{
	const struct run run = {items.data, (const uint32_t *)(const void *)sizes.data,
		(uint32_t)(sizes.size / sizeof(uint32_t)), items.size};

	request.size = 0;
	payload_append(payload, &run, &request);
}

static void assert_request(const GByteArray *expected)
{
	GByteArray *again = otlpwholeoracle_again(request.data, request.size);

	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(again->len, expected->len);
	ck_assert_mem_eq(again->data, expected->data, expected->len);
	g_byte_array_unref(again);
}

/* A sink: the span goes through a record, and is encoded. */
static void take(void *data, const struct span *span)
{
	struct span seen;

	(void)data;
	taken++;
	record.size = 0;
	ck_assert_int_eq(record_put(&record, span), 0);
	ck_assert(record_open(&seen, record.data, record.size, &opened));
	assert_same_span(span, &seen);
	encode(&seen);
}

static void refuse(void *data, const char *because)
{
	(void)data;
	refused++;
	g_strlcpy(why, because, sizeof(why));
}

static const struct otlptraces_sink sink = {take, refuse, NULL};

static bool read_request(const uint8_t *bytes, size_t size)
{
	/* of its own, so that the sanitizer sees what is read behind it */
	g_autofree uint8_t *copy = g_memdup2(bytes, size);

	clear();
	return otlptraces_read(copy, size, &memory, &sink);
}

static bool read_json(const char *text)
{
	g_autofree char *copy = g_memdup2(text, strlen(text));

	clear();
	return otlptraces_read_json(copy, strlen(text), &memory, &sink);
}

/* A batch of random spans, and what the generated code makes of them. */
static GByteArray *random_request(struct random_wholes *wholes, const struct span *spans[SPANS])
{
	for (int i = 0; i < SPANS; i++)
		spans[i] = random_whole(wholes);
	return otlpwholeoracle_request(spans, SPANS);
}

START_TEST(as_generated)
{
	for (uint32_t seed = 0; seed < 15; seed++) {
		struct random_wholes *wholes = random_wholes_create(seed);
		const struct span *spans[SPANS];
		GByteArray *expected = random_request(wholes, spans);

		clear();
		for (int i = 0; i < SPANS; i++)
			encode(spans[i]);
		make_request();
		assert_request(expected);
		g_byte_array_unref(expected);
		random_wholes_free(wholes);
	}
}
END_TEST

START_TEST(there_and_back)
{
	for (uint32_t seed = 100; seed < 115; seed++) {
		struct random_wholes *wholes = random_wholes_create(seed);
		const struct span *spans[SPANS];
		GByteArray *expected = random_request(wholes, spans);
		struct buffer text = {0};

		ck_assert(read_request(expected->data, expected->len));
		ck_assert_int_eq(taken, SPANS);
		ck_assert_int_eq(refused, 0);
		make_request();
		assert_request(expected);
		/* and as JSON */
		ck_assert(otlpjson_put(&text, request.data, request.size));
		buffer_put(&text, "", 1);
		ck_assert(read_json((const char *)text.data));
		ck_assert_int_eq(taken, SPANS);
		make_request();
		assert_request(expected);
		buffer_free(&text);
		g_byte_array_unref(expected);
		random_wholes_free(wholes);
	}
}
END_TEST

/* An item is read as the span that it was made of. */
START_TEST(items_and_back)
{
	struct random_wholes *wholes = random_wholes_create(7);
	struct buffer again = {0};

	for (int i = 0; i < 1000; i++) {
		const struct span *span = random_whole(wholes);
		struct span seen;

		clear();
		encode(span);
		ck_assert(spanread_otlp(&seen, items.data, items.size, &memory.span));
		again.size = 0;
		ck_assert_int_eq(otlp_encode(&again, &seen), 0);
		ck_assert_uint_eq(again.size, items.size);
		ck_assert_mem_eq(again.data, items.data, items.size);
	}
	buffer_free(&again);
	random_wholes_free(wholes);
}
END_TEST

/* Ours and theirs, mixed: each is below a process of its own, and none gets what is the other's. */
START_TEST(with_ours)
{
	struct random_wholes *wholes = random_wholes_create(8);
	struct random_spans *ours = random_spans_create(9);
	const struct span *spans[SPANS];
	GByteArray *theirs;

	for (int i = 0; i < SPANS; i++) {
		spans[i] = random_whole(wholes);
		encode(spans[i]);
		encode(random_span(ours, true));
	}
	make_request();
	theirs = otlpwholeoracle_request(spans, SPANS);
	/* all are there: those that are not ours are as in a request of theirs alone */
	ck_assert(read_request(request.data, request.size));
	ck_assert_int_eq(taken, 2 * SPANS);
	clear();
	for (int i = 0; i < SPANS; i++)
		encode(spans[i]);
	make_request();
	assert_request(theirs);
	g_byte_array_unref(theirs);
	random_wholes_free(wholes);
	random_spans_free(ours);
}
END_TEST

/* An output's tags are the process's that has none of that name. */
START_TEST(tags_are_added)
{
	struct tag added[] = {{literal("cluster"), literal("eu1"), TAG_TEXT},
		{literal("host.name"), literal("mine"), TAG_TEXT},
		{literal("rack"), literal("mine"), TAG_TEXT}},
		   its[] = {{literal("rack"), literal("r7"), TAG_TEXT}}, all[] = {its[0], added[0], added[1]};
	struct span_more more = {.resource = {its, 1, 0}}, expected_more = {.resource = {all, 3, 0}};
	struct span span = {.trace_id = 1, .id = 2, .more = &more, .added = added, .added_count = 3},
		    expected = {.trace_id = 1, .id = 2, .more = &expected_more};
	const struct span *one = &expected;
	GByteArray *bytes = otlpwholeoracle_request(&one, 1);

	encode(&span);
	make_request();
	assert_request(bytes);
	g_byte_array_unref(bytes);
}
END_TEST

/* Texts of before, from a disk, may be no UTF-8. */
START_TEST(broken_texts)
{
	struct tag bad[] = {{literal("k\xff"), literal("v\xff"), TAG_TEXT},
		{literal("b"), literal("\xff"), TAG_BYTES}},
		   good[] = {{literal("k\uFFFD"), literal("v\uFFFD"), TAG_TEXT}, bad[1]};
	struct annotation said = {5, literal("\xff")}, meant = {5, literal("\uFFFD")};
	struct attributes of_said = {bad, 2, 1}, of_meant = {good, 2, 1};
	struct span_link link = {1, 2, 3, literal("\xff"), 4, {bad, 2, 0}},
			 linked = {1, 2, 3, literal("\uFFFD"), 4, {good, 2, 0}};
	struct span_more more = {.trace_state = literal("\xff"),
				 .status_message = literal("\xff"),
				 .scope_name = literal("\xff"),
				 .scope = {bad, 2, 0},
				 .resource = {bad, 2, 0},
				 .of_annotations = &of_said,
				 .links = &link,
				 .link_count = 1},
			 repaired = {.trace_state = literal("\uFFFD"),
				 .status_message = literal("\uFFFD"),
				 .scope_name = literal("\uFFFD"),
				 .scope = {good, 2, 0},
				 .resource = {good, 2, 0},
				 .of_annotations = &of_meant,
				 .links = &linked,
				 .link_count = 1};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .tags = bad,
			    .tag_count = 2,
			    .annotations = &said,
			    .annotation_count = 1,
			    .more = &more},
		    expected = {.trace_id = 1,
			    .id = 2,
			    .tags = good,
			    .tag_count = 2,
			    .annotations = &meant,
			    .annotation_count = 1,
			    .more = &repaired};
	const struct span *one = &expected;
	GByteArray *bytes = otlpwholeoracle_request(&one, 1);
	uint32_t size;
	struct span seen;

	ck_assert_int_eq(otlp_encode(&items, &span), 15);
	size = (uint32_t)items.size;
	buffer_put(&sizes, &size, sizeof(size));
	make_request();
	assert_request(bytes);
	ck_assert_int_eq(record_put(&record, &span), 15);
	ck_assert(record_open(&seen, record.data, record.size, &opened));
	assert_same_span(&expected, &seen);
	g_byte_array_unref(bytes);
}
END_TEST

static void put_number(struct buffer *out, uint32_t field, uint64_t value)
{
	uint8_t *to = protobuf_put_field(buffer_reserve(out, 20), field, PROTOBUF_VARINT);

	out->size = (size_t)(protobuf_put_varint(to, value) - out->data);
}

static void put_text(struct buffer *out, uint32_t field, const char *text)
{
	size_t begin = otlpvalue_open(out, field);

	buffer_put(out, text, strlen(text));
	otlpvalue_close(out, begin);
}

/* A request of one span, whose fields are those, in the order of @parts: 'r' is the resource, 's' the scope
 * with the span. */
static void put_request(const char *parts, const uint8_t *span, size_t size)
{
	size_t process, scope;

	request.size = 0;
	process = otlpvalue_open(&request, REQUEST_RESOURCE_SPANS);
	for (; *parts; parts++) {
		scope = otlpvalue_open(
			&request, *parts == 'r' ? RESOURCE_SPANS_RESOURCE : RESOURCE_SPANS_SCOPE_SPANS);
		if (*parts == 'r') {
			size_t pair = otlpvalue_open(&request, RESOURCE_ATTRIBUTES);

			put_text(&request, KEYVALUE_KEY, "service.name");
			otlpvalue_text(&request, KEYVALUE_VALUE, literal("shop"));
			otlpvalue_close(&request, pair);
			put_text(&request, 77, "not known");
		} else {
			size_t its = otlpvalue_open(&request, SCOPE_SPANS_SPANS);

			buffer_put(&request, span, size);
			otlpvalue_close(&request, its);
			put_text(&request, SCOPE_SPANS_SCHEMA, "schema");
		}
		otlpvalue_close(&request, scope);
	}
	otlpvalue_close(&request, process);
}

static struct span last;

static void keep_numbers(void *data, const struct span *span)
{
	take(data, span);
	last = *span;
	ck_assert(text_is(span->local.service, "shop"));
	ck_assert(text_is(span->more->scope_schema, "schema"));
}

static bool read_kept(void)
{
	const struct otlptraces_sink keeping = {keep_numbers, refuse, NULL};

	clear();
	return otlptraces_read(request.data, request.size, &memory, &keeping);
}

/* Whatever the order, and what else is there; and what Zipkin shows of it. */
START_TEST(any_order)
{
	struct buffer span = {0};
	size_t pair, value;

	put_number(&span, 99, 5);
	put_text(&span, SPAN_ID, "12345678");
	pair = otlpvalue_open(&span, SPAN_EVENTS);
	value = otlpvalue_open(&span, EVENT_ATTRIBUTES);
	put_text(&span, KEYVALUE_KEY, "of the event");
	otlpvalue_close(&span, value);
	otlpvalue_close(&span, pair);
	pair = otlpvalue_open(&span, SPAN_ATTRIBUTES);
	otlpvalue_signed(&span, KEYVALUE_VALUE, 6800);
	put_text(&span, KEYVALUE_KEY, "server.port");
	otlpvalue_close(&span, pair);
	put_number(&span, SPAN_NAME, 1); /* of another type: not known */
	put_text(&span, SPAN_TRACE_ID, "1234567812345678");
	put_number(&span, SPAN_KIND, OTLP_CLIENT);
	pair = otlpvalue_open(&span, SPAN_ATTRIBUTES);
	otlpvalue_text(&span, KEYVALUE_VALUE, literal("db"));
	put_text(&span, KEYVALUE_KEY, "peer.service");
	otlpvalue_close(&span, pair);
	for (size_t i = 0; i < 2; i++) {
		put_request(i ? "sr" : "rs", span.data, span.size);
		ck_assert(read_kept());
		ck_assert_int_eq(taken, 1);
		ck_assert_uint_eq(last.tag_count, 2);
		ck_assert_uint_eq(last.annotation_count, 1);
		ck_assert(last.has_remote && last.remote.port == 6800);
		ck_assert_int_eq(last.kind, SPAN_CLIENT);
	}
	buffer_free(&span);
}
END_TEST

START_TEST(ids_that_are_none)
{
	static const struct {
		const char *trace, *id, *parent, *why;
	} cases[] = {{"1234567812345678", "12345678", "", NULL},
		{"1234567812345678", "12345678", "8765432", "has a parent's id that is not of 8 bytes"},
		{"123456781234567", "12345678", "", "has a trace id that is not of 16 bytes"},
		{"1234567812345678", "123456789", "", "has an id that is not of 8 bytes"},
		{NULL, "12345678", "", "has no trace id"}, {"1234567812345678", NULL, "", "has no id"}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct buffer span = {0};

		if (cases[i].trace)
			put_text(&span, SPAN_TRACE_ID, cases[i].trace);
		if (cases[i].id)
			put_text(&span, SPAN_ID, cases[i].id);
		put_text(&span, SPAN_PARENT_ID, cases[i].parent);
		put_request("rss", span.data, span.size);
		ck_assert(read_kept());
		ck_assert_int_eq(taken, cases[i].why ? 0 : 2);
		ck_assert_int_eq(refused, cases[i].why ? 2 : 0);
		if (cases[i].why)
			ck_assert_str_eq(why, cases[i].why);
		buffer_free(&span);
	}
	put_request("rs", (const uint8_t *)"\x0a\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x12\x08\0\0\0\0\0\0\0\0",
		28);
	ck_assert(read_kept());
	ck_assert_int_eq(refused, 1);
}
END_TEST

/* Of JSON, too: a text that is no hex at all is no request. */
START_TEST(ids_in_json)
{
	static const struct {
		const char *trace, *id;
		bool good;
		int taken, refused;
	} cases[] = {{"5b8efff798038103d269b633813fc60c", "EEE19B7EC3C1B174", true, 1, 0},
		{"5b8efff798038103d269b633813fc60", "eee19b7ec3c1b174", true, 0, 1},
		{"5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174eee19b7ec3c1b174ee", true, 0, 1},
		{"5b8efff798038103d269b633813fc60c", "", true, 0, 1},
		{"00000000000000000000000000000000", "eee19b7ec3c1b174", true, 0, 1},
		{"5b8efff798038103d269b633813fc60g", "eee19b7ec3c1b174", false, 0, 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":["
							"{\"traceId\":\"%s\",\"spanId\":\"%s\"}]}]}]}",
			cases[i].trace, cases[i].id);

		ck_assert_int_eq(read_json(text), cases[i].good);
		ck_assert_int_eq(taken, cases[i].taken);
		ck_assert_int_eq(refused, cases[i].refused);
	}
	ck_assert(read_json("{}"));
	ck_assert(read_json("{\"resourceSpans\":null}"));
	ck_assert(!read_json("{\"resourceSpans\":[{\"schemaUrl\":\"\xff\"}]}"));
	ck_assert(!read_json("[]"));
}
END_TEST

static double number;

static void keep_double(void *data, const struct span *span)
{
	take(data, span);
	number = double_of(span->tags[0].value);
}

/* With as few digits as tell it, or with all that it has. */
START_TEST(doubles_in_json)
{
	static const double numbers[] = {0, 0.1, -1.5, 5e-324, 2.2250738585072009e-308, -1.5e100};
	static const char *const forms[] = {"%.17g", "%.1074f"};
	const struct otlptraces_sink keeping = {keep_double, refuse, NULL};

	for (size_t i = 0; i < 2 * G_N_ELEMENTS(numbers); i++) {
		g_autofree char *digits = g_strdup_printf(forms[i % 2], numbers[i / 2]);
		g_autofree char *text =
			g_strdup_printf("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":"
					"\"5b8efff798038103d269b633813fc60c\",\"spanId\":"
					"\"eee19b7ec3c1b174\",\"attributes\":[{"
					"\"key\":\"k\",\"value\":{\"doubleValue\":%s}}]}]}]}]}",
				digits);

		clear();
		number = 1;
		ck_assert_msg(otlptraces_read_json(text, strlen(text), &memory, &keeping), "%s", digits);
		ck_assert_msg(number == numbers[i / 2], "%s", digits);
	}
}
END_TEST

/* A text that is not UTF-8 refuses the request, wherever it is. */
START_TEST(texts_that_are_none)
{
	struct buffer span = {0};
	size_t pair, any, list, value;

	for (int i = 0; i < 3; i++) {
		span.size = 0;
		put_text(&span, SPAN_TRACE_ID, "1234567812345678");
		put_text(&span, SPAN_ID, "12345678");
		pair = otlpvalue_open(&span, SPAN_ATTRIBUTES);
		put_text(&span, KEYVALUE_KEY, i == 1 ? "k\xff" : "k");
		any = otlpvalue_open(&span, KEYVALUE_VALUE);
		list = otlpvalue_open(&span, ANYVALUE_ARRAY);
		value = otlpvalue_open(&span, ARRAY_VALUES);
		put_text(&span, ANYVALUE_STRING, i == 2 ? "\xc3" : "v");
		otlpvalue_close(&span, value);
		otlpvalue_close(&span, list);
		otlpvalue_close(&span, any);
		otlpvalue_close(&span, pair);
		put_request("rs", span.data, span.size);
		ck_assert_int_eq(read_kept(), i == 0);
		ck_assert_int_eq(taken, i == 0);
	}
	buffer_free(&span);
}
END_TEST

static int depth_of(const struct tag *tag)
{
	struct text rest = tag->value;
	struct tag inner;

	if (tag->type != TAG_LIST)
		return 0;
	ck_assert(value_next(&rest, false, &inner));
	return 1 + depth_of(&inner);
}

static int deepest;

static void keep_depth(void *data, const struct span *span)
{
	take(data, span);
	deepest = depth_of(&span->tags[0]);
}

/* What is nested deeper than others read by recursion is none; however deep, it is read. */
START_TEST(nested_deeply)
{
	static const int depths[] = {1, 31, 32, 33, 34, 100, 3000};
	const struct otlptraces_sink keeping = {keep_depth, refuse, NULL};

	for (size_t i = 0; i < G_N_ELEMENTS(depths); i++) {
		struct buffer span = {0};
		size_t begins[2 * 3000 + 1], open = 0;

		put_text(&span, SPAN_TRACE_ID, "1234567812345678");
		put_text(&span, SPAN_ID, "12345678");
		begins[open++] = otlpvalue_open(&span, SPAN_ATTRIBUTES);
		for (int k = 0; k < depths[i]; k++) {
			begins[open++] = otlpvalue_open(&span, k ? ARRAY_VALUES : KEYVALUE_VALUE);
			begins[open++] = otlpvalue_open(&span, ANYVALUE_ARRAY);
		}
		otlpvalue_none(&span, ARRAY_VALUES);
		while (open)
			otlpvalue_close(&span, begins[--open]);
		put_request("s", span.data, span.size);
		clear();
		ck_assert(otlptraces_read(request.data, request.size, &memory, &keeping));
		ck_assert_int_eq(taken, 1);
		ck_assert_int_eq(deepest, MIN(depths[i], VALUE_DEPTH_MAX));
		make_request();
		ck_assert(read_request(request.data, request.size));
		buffer_free(&span);
	}
}
END_TEST

/* Half a request gives nothing; with a byte changed it is none, or spans that go through. */
START_TEST(damaged)
{
	GRand *random = g_rand_new_with_seed(3);

	for (uint32_t seed = 200; seed < 203; seed++) {
		struct random_wholes *wholes = random_wholes_create(seed);
		const struct span *spans[] = {random_whole(wholes), random_whole(wholes)};
		GByteArray *whole = otlpwholeoracle_request(spans, 2);

		for (size_t size = 1; size < whole->len; size++) {
			if (!read_request(whole->data, size))
				ck_assert_int_eq(taken + refused, 0);
		}
		for (int i = 0; i < 1000; i++) {
			g_autofree uint8_t *copy = g_memdup2(whole->data, whole->len);

			for (int flips = g_rand_int_range(random, 1, 4); flips; flips--)
				copy[g_rand_int_range(random, 0, (gint32)whole->len)] =
					(uint8_t)g_rand_int(random);
			read_request(copy, whole->len);
		}
		g_byte_array_unref(whole);
		random_wholes_free(wholes);
	}
	g_rand_free(random);
}
END_TEST

/* The same of items, which come from disks. */
START_TEST(damaged_items)
{
	struct random_wholes *wholes = random_wholes_create(300);
	GRand *random = g_rand_new_with_seed(4);
	struct buffer again = {0};
	struct span seen;

	for (int round = 0; round < 20; round++) {
		clear();
		encode(random_whole(wholes));
		for (int i = 0; i < 1000; i++) {
			size_t size = (size_t)g_rand_int_range(random, 1, (gint32)items.size + 1);
			g_autofree uint8_t *copy = g_memdup2(items.data, size);
			uint32_t its = (uint32_t)size;

			copy[g_rand_int_range(random, 0, (gint32)size)] = (uint8_t)g_rand_int(random);
			again.size = request.size = 0;
			if (spanread_otlp(&seen, copy, size, &memory.span))
				otlp_encode(&again, &seen);
			payload_append(payload, &(struct run){copy, &its, 1, its}, &request);
			otlpjson_put(&again, request.data, request.size);
		}
	}
	buffer_free(&again);
	g_rand_free(random);
	random_wholes_free(wholes);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("otlpwhole");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 100);
	tcase_add_test(tests, as_generated);
	tcase_add_test(tests, there_and_back);
	tcase_add_test(tests, items_and_back);
	tcase_add_test(tests, with_ours);
	tcase_add_test(tests, tags_are_added);
	tcase_add_test(tests, broken_texts);
	tcase_add_test(tests, any_order);
	tcase_add_test(tests, ids_that_are_none);
	tcase_add_test(tests, ids_in_json);
	tcase_add_test(tests, doubles_in_json);
	tcase_add_test(tests, texts_that_are_none);
	tcase_add_test(tests, nested_deeply);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, damaged_items);
	return run_cases("otlpwhole", tests);
}
