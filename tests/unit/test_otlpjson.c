/* SPDX-License-Identifier: BSD-2-Clause */
/* OTLP's JSON lines: what files get of items, and reading them back. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "encode/otlp.h"
#include "encode/otlpjson.h"
#include "output/file/lines.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"

static struct buffer out, again;
static struct span_memory memory;
static struct filelines lines;

static void setup(void)
{
	filelines_init(&lines, BATCH_OTLP_SPANS);
}

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&again);
	span_memory_free(&memory);
	filelines_free(&lines);
	out = again = (struct buffer){0};
	memory = (struct span_memory){0};
}

/* Encodes it as it was read. */
static void encode_again(void *count, const struct span *span)
{
	*(int *)count += 1;
	ck_assert_int_ge(otlp_encode(&again, span), 0);
}

static bool read_line(struct text line, int *count)
{
	const struct otlpjson_sink sink = {encode_again, count};

	*count = 0;
	again.size = 0;
	return otlpjson_read(line.data, line.size, &memory, &sink);
}

static struct text line_of(const struct span *span)
{
	struct batch *batch = batch_create(BATCH_OTLP_SPANS, 1, 0);
	const struct batch *made;

	out.size = 0;
	ck_assert_int_eq(otlp_encode(&out, span), 0);
	batch_add(batch, out.data, out.size, 1);
	made = filelines_of(&lines, batch);
	ck_assert_uint_eq(made->count, 1);
	ck_assert_uint_eq(batch_sizes(made)[0], made->spans.size);
	batch_unref(batch);
	return (struct text){(const char *)made->spans.data, (uint32_t)made->spans.size};
}

/* What is read back is what was written: the item's bytes, process and all. */
START_TEST(there_and_back)
{
	struct random_spans *spans = random_spans_create(21);

	for (int round = 0; round < 3000; round++) {
		struct span span = *random_span(spans, true);
		struct text line;
		int count;

		span.timestamp += round % 1000;
		span.pid = round % 3 ? (uint32_t)round : 0;
		line = line_of(&span);
		ck_assert_ptr_null(memchr(line.data, '\n', line.size));
		ck_assert(otlpjson_is(line.data, line.size));
		ck_assert(read_line(line, &count));
		ck_assert_int_eq(count, 1);
		ck_assert_uint_eq(again.size, out.size);
		ck_assert_mem_eq(again.data, out.data, out.size);
	}
	random_spans_free(spans);
}
END_TEST

/* As the Collector's file exporter writes it, but for what only it says. */
START_TEST(every_field)
{
	const struct tag tags[] = {{literal("n"), literal("-9223372036854775808"), TAG_INT},
		{literal("d"), literal("0.1"), TAG_DOUBLE}, {literal("b"), literal("true"), TAG_BOOL},
		{literal("error"), literal("no \"disk\""), TAG_TEXT}};
	const struct annotation said = {1700000000123456789, literal("a\n\u00e9")};
	const struct span span = {.trace_id_high = 1,
		.trace_id = 0xabcdef,
		.id = 2,
		.parent_id = 3,
		.kind = SPAN_CLIENT,
		.name = literal("get"),
		.timestamp = 1700000000123456700,
		.duration = 300,
		.tags = tags,
		.tag_count = 4,
		.annotations = &said,
		.annotation_count = 1};
	static const char expected[] =
		"\"spans\":[{\"traceId\":\"00000000000000010000000000abcdef\",\"spanId\":"
		"\"0000000000000002\","
		"\"parentSpanId\":\"0000000000000003\",\"name\":\"get\",\"kind\":3,"
		"\"startTimeUnixNano\":\"1700000000123456700\",\"endTimeUnixNano\":\"1700000000123457000\","
		"\"attributes\":[{\"key\":\"n\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
		"{\"key\":\"d\",\"value\":{\"doubleValue\":0.1}},{\"key\":\"b\",\"value\":{\"boolValue\":"
		"true}}],"
		"\"events\":[{\"timeUnixNano\":\"1700000000123456789\",\"name\":\"a\\n\u00e9\"}],"
		"\"status\":{\"message\":\"no \\\"disk\\\"\",\"code\":2},\"flags\":1}]}]}]}";
	static const char begin[] =
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
		"\"value\":{\"stringValue\":\"unknown_service\"}}";
	struct text line = line_of(&span);

	ck_assert_uint_gt(line.size, sizeof(expected) + sizeof(begin));
	ck_assert_mem_eq(line.data, begin, sizeof(begin) - 1);
	ck_assert_mem_eq(line.data + line.size - sizeof(expected) + 1, expected, sizeof(expected) - 1);
}
END_TEST

/* Of one that others made, all that they say. */
static void see_whole(void *count, const struct span *span)
{
	const struct span_more *more = span->more;
	bool first = *(int *)count == 0;

	*(int *)count += 1;
	ck_assert_ptr_nonnull(more);
	assert_text(span->local.service, literal("shop"));
	ck_assert_uint_eq(span->pid, 77);
	ck_assert_uint_eq(more->resource.count, 4);
	assert_text(more->resource.tags[1].key, literal("host.name"));
	assert_text(more->scope_schema, literal("x"));
	ck_assert_uint_eq(span->trace_id_high, 1);
	ck_assert_uint_eq(span->trace_id, 10);
	ck_assert_uint_eq(span->id, first ? 11 : 12);
	if (!first)
		return;
	ck_assert_int_eq(span->kind, SPAN_SERVER);
	ck_assert_int_eq(span->timestamp, 1700000000000000000);
	ck_assert_int_eq(span->duration, 5000);
	ck_assert_uint_eq(more->link_count, 1);
	ck_assert_uint_eq(more->dropped_links, 3);
	ck_assert_int_eq(more->status, SPAN_STATUS_ERROR);
	ck_assert_uint_eq(more->flags, 257);
	ck_assert_uint_eq(span->tag_count, 4);
	ck_assert_int_eq(span->tags[0].type, TAG_INT);
	ck_assert_int_eq(span->tags[1].type, TAG_LIST);
	ck_assert_int_eq(span->tags[2].type, TAG_DOUBLE);
	assert_text(span->tags[2].value, literal("Infinity"));
	ck_assert_int_eq(span->tags[3].type, TAG_BYTES);
	assert_text(span->tags[3].value, literal("bytes"));
}

/* What others write: several spans in a line, resources behind them, numbers as numbers and as texts, enums
 * as names, nulls, and what nobody knows. */
START_TEST(of_others)
{
	static const char line[] =
		"{ \"resourceSpans\" : [ {\"scopeSpans\":[{\"scope\":{},\"spans\":["
		"{\"traceId\":\"0000000000000001000000000000000A\",\"spanId\":\"000000000000000b\","
		"\"parentSpanId\":\"\",\"traceState\":null,\"kind\":\"SPAN_KIND_SERVER\","
		"\"startTimeUnixNano\": 1700000000000000000,\"droppedLinksCount\":\"3\",\"flags\":257,"
		"\"endTimeUnixNano\":\"1700000000000005000\",\"links\":[{}],\"status\":{\"code\":2},"
		"\"attributes\":[{\"key\":\"n\",\"value\":{\"intValue\":7}},"
		"{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":\"x\"}]}}},"
		"{\"key\":\"i\",\"value\":{\"doubleValue\":\"Infinity\"}},"
		"{\"key\":\"b\",\"value\":{\"bytesValue\":\"Ynl0ZXM=\"}}],\"unknown\":{\"a\":[{}]}},"
		"{\"traceId\":\"0000000000000001000000000000000A\",\"spanId\":\"000000000000000c\"}],"
		"\"schemaUrl\":\"x\"}],\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
		"{\"stringValue\":\"shop\"}},{\"key\":\"host.name\",\"value\":{\"stringValue\":\"h\"}},"
		"{\"key\":\"rack\",\"value\":{\"stringValue\":\"r7\"}},"
		"{\"key\":\"process.pid\",\"value\":{\"intValue\":\"77\"}}]}}]} ";
	int count = 0;
	const struct otlpjson_sink sink = {see_whole, &count};

	ck_assert(otlpjson_is(line, sizeof(line) - 1));
	ck_assert(otlpjson_read(line, sizeof(line) - 1, &memory, &sink));
	ck_assert_int_eq(count, 2);
}
END_TEST

/* What an output's `tags` have added is read as tags. */
START_TEST(with_added)
{
	struct tag tags[] = {{literal("rack"), literal("r7"), TAG_TEXT}};
	struct span span = {.trace_id = 1, .id = 2, .added = tags, .added_count = 1};
	struct text line = line_of(&span);
	int count;

	ck_assert(read_line(line, &count));
	span.tags = tags;
	span.tag_count = 1;
	span.added_count = 0;
	out.size = 0;
	otlp_encode(&out, &span);
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
}
END_TEST

/* One that has no id is none; the others of its line are. */
START_TEST(no_spans)
{
	static const char *const none[] = {"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]}",
		"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"1\",\"spanId\":\"2\"}]}]}]}",
		"{\"resourceSpans\":[{\"resource\":5}]}", "{\"resourceSpans\":{}}", "{\"resourceSpans\":[]",
		"{\"resourceSpans\":[]}]",
		"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":\"x\"}]}]}]}"};
	int count;

	for (size_t i = 0; i < G_N_ELEMENTS(none); i++) {
		ck_assert(otlpjson_is(none[i], strlen(none[i])));
		ck_assert_msg(!read_line(literal(none[i]), &count), "%s", none[i]);
	}
	ck_assert(!otlpjson_is("{\"traceId\":\"1\"}", 15));
	ck_assert(!otlpjson_is("{\"resourceSpan", 14));
	ck_assert(!otlpjson_is("", 0));
}
END_TEST

/* Whatever is in an item or in a line, nothing beyond it is read; half a line is none. */
START_TEST(damaged)
{
	struct random_spans *spans = random_spans_create(22);
	GRand *random = g_rand_new_with_seed(23);
	int count;

	for (int round = 0; round < 20; round++) {
		struct batch *batch = batch_create(BATCH_OTLP_SPANS, 0, 0);
		struct text line = line_of(random_span(spans, true));
		g_autofree char *whole = g_memdup2(line.data, line.size);

		for (size_t size = 0; size < line.size; size++) {
			g_autofree char *copy = g_memdup2(whole, size);

			ck_assert(!read_line((struct text){copy, (uint32_t)size}, &count));
		}
		for (int i = 0; i < 1000; i++) {
			g_autofree char *copy = g_memdup2(whole, line.size);
			g_autofree uint8_t *item = g_memdup2(out.data, out.size);

			copy[g_rand_int_range(random, 0, (gint32)line.size)] = (char)g_rand_int(random);
			read_line((struct text){copy, line.size}, &count);
			item[g_rand_int_range(random, 0, (gint32)out.size)] = (uint8_t)g_rand_int(random);
			batch_add(batch, item, out.size, 1);
		}
		ck_assert_uint_eq(filelines_of(&lines, batch)->count, 1000);
		batch_unref(batch);
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

/* An item that is no span is an empty line, between others that stay. */
START_TEST(damaged_item)
{
	struct batch *batch = batch_create(BATCH_OTLP_SPANS, 0, 0);
	const struct span span = {.trace_id = 1, .id = 2};
	const struct batch *made;

	otlp_encode(&out, &span);
	batch_add(batch, out.data, out.size, 1);
	batch_add(batch, (const uint8_t *)"garbage", 7, 1);
	batch_add(batch, out.data, out.size, 1);
	made = filelines_of(&lines, batch);
	ck_assert_uint_gt(batch_sizes(made)[0], 0);
	ck_assert_uint_eq(batch_sizes(made)[1], 0);
	ck_assert_uint_eq(batch_sizes(made)[2], batch_sizes(made)[0]);
	ck_assert_uint_eq(made->spans.size, 2 * batch_sizes(made)[0]);
	batch_unref(batch);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("otlpjson");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, there_and_back);
	tcase_add_test(tests, every_field);
	tcase_add_test(tests, of_others);
	tcase_add_test(tests, with_added);
	tcase_add_test(tests, no_spans);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, damaged_item);
	return run_cases("otlpjson", tests);
}
