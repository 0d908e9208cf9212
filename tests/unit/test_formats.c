/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as JSON, read back; and from each format into the other. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "core/iptext.h"
#include "core/value.h"
#include "encode/jsontext.h"
#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/asciijson.h"
#include "queue/encoding.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"

static struct buffer out, again;
static struct span_memory memory;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&again);
	span_memory_free(&memory);
	out = again = (struct buffer){0};
	memory = (struct span_memory){0};
}

static void assert_endpoint(const struct endpoint *one, const struct endpoint *other)
{
	assert_text(one->service, other->service);
	ck_assert_uint_eq(one->port, other->port);
	ck_assert_uint_eq(one->address_size, other->address_size);
	ck_assert_mem_eq(one->address, other->address, one->address_size);
}

static void assert_span(const struct span *one, const struct span *other)
{
	ck_assert_uint_eq(one->trace_id_high, other->trace_id_high);
	ck_assert_uint_eq(one->trace_id, other->trace_id);
	ck_assert_uint_eq(one->id, other->id);
	ck_assert_uint_eq(one->parent_id, other->parent_id);
	ck_assert_int_eq(one->kind, other->kind);
	ck_assert_int_eq(one->shared, other->shared);
	ck_assert_int_eq(one->debug, other->debug);
	ck_assert_int_eq(one->timestamp, other->timestamp);
	ck_assert_int_eq(one->duration, other->duration);
	ck_assert_int_eq(one->has_remote, other->has_remote);
	assert_text(one->name, other->name);
	assert_endpoint(&one->local, &other->local);
	if (one->has_remote)
		assert_endpoint(&one->remote, &other->remote);
	ck_assert_uint_eq(one->annotation_count, other->annotation_count);
	for (size_t i = 0; i < one->annotation_count; i++) {
		ck_assert_int_eq(one->annotations[i].time, other->annotations[i].time);
		assert_text(one->annotations[i].value, other->annotations[i].value);
	}
	ck_assert_uint_eq(one->tag_count, other->tag_count);
	for (size_t i = 0; i < one->tag_count; i++) {
		assert_text(one->tags[i].key, other->tags[i].key);
		assert_text(one->tags[i].value, other->tags[i].value);
	}
}

/* What is written as JSON is read back as it was. */
START_TEST(json_and_back)
{
	struct random_spans *spans = random_spans_create(1);

	for (int round = 0; round < 3000; round++) {
		const struct span *span = random_span(spans, true);
		struct span seen;

		out.size = 0;
		ck_assert_int_eq(zipkinjson_encode(&out, span), 0);
		ck_assert(spanread_json(&seen, out.data, out.size, &memory));
		assert_span(span, &seen);
	}
	random_spans_free(spans);
}
END_TEST

/* What is read from Thrift is written as it was. */
START_TEST(thrift_and_back)
{
	struct random_spans *spans = random_spans_create(2);

	for (int round = 0; round < 3000; round++) {
		struct span seen;

		out.size = again.size = 0;
		ck_assert_int_eq(zipkin_encode(&out, random_span(spans, false)), 0);
		ck_assert(spanread_thrift(&seen, out.data, out.size, &memory));
		ck_assert_int_eq(zipkin_encode(&again, &seen), 0);
		ck_assert_uint_eq(out.size, again.size);
		ck_assert_mem_eq(out.data, again.data, out.size);
	}
	random_spans_free(spans);
}
END_TEST

/* A batch that goes to the other format and back is what it was; an item that was too large stays empty. */
START_TEST(batch_there_and_back)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0), *json, *back;
	struct random_spans *spans = random_spans_create(3);

	for (int i = 0; i < 200; i++) {
		struct span span = *random_span(spans, false);

		span.shared = span.shared && span.kind == SPAN_SERVER; /* others mean nothing by it */
		out.size = 0;
		if (i != 7)
			zipkin_encode(&out, &span);
		batch_add(batch, out.data, out.size, 1000 + i);
	}
	json = encode_batch(batch, BATCH_ZIPKIN_JSON, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_uint_eq(json->format, BATCH_ZIPKIN_JSON);
	ck_assert_uint_eq(json->count, 200);
	ck_assert_uint_eq(batch_sizes(json)[7], 0);
	ck_assert_int_eq(batch_events(json)[199], 1199);
	back = encode_batch(json, BATCH_ZIPKIN_SPANS, NULL);
	ck_assert_ptr_nonnull(back);
	ck_assert_uint_eq(back->spans.size, batch->spans.size);
	ck_assert_mem_eq(back->spans.data, batch->spans.data, batch->spans.size);
	ck_assert_mem_eq(back->sizes.data, batch->sizes.data, batch->sizes.size);
	ck_assert_mem_eq(back->events.data, batch->events.data, batch->events.size);
	batch_unref(batch);
	batch_unref(json);
	batch_unref(back);
	random_spans_free(spans);
}
END_TEST

/* It cannot be had in that format. */
static void assert_none(const struct batch *batch, enum batch_format format)
{
	struct batch *encoded = encode_batch(batch, format, NULL);

	ck_assert_uint_eq(encoded->count, 1);
	ck_assert_uint_eq(encoded->spans.size, 0);
	ck_assert_uint_eq(batch_sizes(encoded)[0], 0);
	batch_unref(encoded);
}

/* What no version has written is no span. */
START_TEST(garbage_is_none)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);

	batch_add(batch, (const uint8_t *)"garbage", 7, 0);
	assert_none(batch, BATCH_ZIPKIN_JSON);
	batch->format = BATCH_ZIPKIN_JSON;
	assert_none(batch, BATCH_ZIPKIN_SPANS);
	batch->format = BATCH_SPAN_RECORDS;
	assert_none(batch, BATCH_ZIPKIN_SPANS);
	batch->format = BATCH_MESSAGES;
	assert_none(batch, BATCH_ZIPKIN_SPANS);
	batch->format = 0xfe;
	assert_none(batch, BATCH_ZIPKIN_SPANS);
	batch_unref(batch);
}
END_TEST

static bool read_as(int format, struct span *span, const uint8_t *bytes, size_t size)
{
	return format == BATCH_ZIPKIN_JSON ? spanread_json(span, bytes, size, &memory)
					   : spanread_thrift(span, bytes, size, &memory);
}

/* Cut off, it is none; with a byte changed it is none, or a span that can be written. */
START_TEST(damaged)
{
	struct random_spans *spans = random_spans_create(4);
	GRand *random = g_rand_new_with_seed(5);
	struct span seen;

	for (int round = 0; round < 40; round++) {
		const struct span *span = random_span(spans, true);

		out.size = 0;
		if (_i == BATCH_ZIPKIN_JSON)
			zipkinjson_encode(&out, span);
		else
			zipkin_encode(&out, span);
		for (size_t size = 0; size < out.size; size++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, size);

			ck_assert(!read_as(_i, &seen, copy, size));
		}
		for (int i = 0; i < 2000; i++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, out.size);

			copy[g_rand_int_range(random, 0, (gint32)out.size)] = (uint8_t)g_rand_int(random);
			again.size = 0;
			if (read_as(_i, &seen, copy, out.size))
				zipkin_encode(&again, &seen);
		}
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

static void assert_json(const struct span *span, const char *expected)
{
	out.size = 0;
	ck_assert_int_ge(zipkinjson_encode(&out, span), 0);
	buffer_put(&out, "", 1);
	ck_assert_str_eq((const char *)out.data, expected);
}

/* All that a span can have, as Zipkin's documentation of version 2 has it. */
START_TEST(as_documented)
{
	struct annotation annotation = {1502787600000005000, literal("say \"hi\"\n\x01")};
	struct tag tags[] = {{literal("k"), literal("first")}, {literal("a"), literal("1")},
		{literal("k"), literal("last")}};
	struct span span = {.trace_id_high = 0x463ac35c9f6413ad,
		.trace_id = 0x48485a3953bb6124,
		.id = 0xa2fb4a1d1a96d312,
		.parent_id = 0xb,
		.kind = SPAN_CLIENT,
		.name = literal("get"),
		.timestamp = 1502787600000000000,
		.duration = 150000000,
		.local = {literal("frontend"), {192, 168, 99, 1}, 4, 3306},
		.has_remote = true,
		.remote = {literal(""), {[15] = 1}, 16, 50000},
		.annotations = &annotation,
		.annotation_count = 1,
		.tags = tags,
		.tag_count = 3,
		.debug = true};

	assert_json(&span,
		"{\"traceId\":\"463ac35c9f6413ad48485a3953bb6124\",\"id\":\"a2fb4a1d1a96d312\","
		"\"parentId\":\"000000000000000b\",\"kind\":\"CLIENT\",\"name\":\"get\","
		"\"timestamp\":1502787600000000,\"duration\":150000,"
		"\"localEndpoint\":{\"serviceName\":\"frontend\",\"ipv4\":\"192.168.99.1\",\"port\":3306},"
		"\"remoteEndpoint\":{\"ipv6\":\"::1\",\"port\":50000},"
		"\"annotations\":[{\"timestamp\":1502787600000005,\"value\":\"say \\\"hi\\\"\\n\\u0001\"}],"
		"\"tags\":{\"a\":\"1\",\"k\":\"last\"},\"debug\":true}");
	span = (struct span){.trace_id = 1, .id = 2, .timestamp = 3000, .shared = true, .kind = SPAN_SERVER};
	assert_json(&span,
		"{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"kind\":\"SERVER\","
		"\"timestamp\":3,\"localEndpoint\":{},\"shared\":true}");
}
END_TEST

/* As Zipkin reads them, where zeros may lead; size 0: it is none. */
static const struct {
	const char *text;
	uint8_t size, address[16];
} addresses[] = {
	{"10.0.0.4", 4, {10, 0, 0, 4}},
	{"52.0.0.04", 4, {52, 0, 0, 4}},
	{"010.000.00.0099", 4, {10, 0, 0, 99}},
	{"2001:db8::04", 16, {0x20, 1, 0x0d, 0xb8, [15] = 4}},
	{"::ffff:10.0.0.4", 16, {[10] = 0xff, 0xff, 10, 0, 0, 4}},
	{"10.0.0.", 0, {0}},
	{"10.0.0.0400", 0, {0}},
	{"", 0, {0}},
	{"0", 0, {0}},
};

START_TEST(addresses_of_others)
{
	struct endpoint endpoint = {.address_size = 4};
	struct text text = {addresses[_i].text, (uint32_t)strlen(addresses[_i].text)};

	ck_assert(iptext_read(&endpoint, text) == (addresses[_i].size > 0));
	ck_assert_uint_eq(endpoint.address_size, addresses[_i].size);
	ck_assert_mem_eq(endpoint.address, addresses[_i].address, addresses[_i].size);
}
END_TEST

/* The old libraries' core annotations become a kind. What the span does not say by itself stays. */
START_TEST(classic_core_annotations)
{
	struct annotation annotations[] = {{100000, literal("cs")}, {120000, literal("cs")},
		{130000, literal("sr")}, {200000, literal("cr")}};
	struct span span = {.trace_id = 1,
		.id = 2,
		.timestamp = 100000,
		.duration = 100000,
		.classic = true,
		.annotations = annotations,
		.annotation_count = 4};

	assert_json(&span,
		"{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"kind\":\"CLIENT\","
		"\"timestamp\":100,\"duration\":100,\"localEndpoint\":{},\"annotations\":["
		"{\"timestamp\":120,\"value\":\"cs\"},{\"timestamp\":130,\"value\":\"sr\"}]}");
	span.classic = false;
	span.annotation_count = 1;
	assert_json(&span, "{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"timestamp\":100,"
			   "\"duration\":100,\"localEndpoint\":{},\"annotations\":[{\"timestamp\":100,"
			   "\"value\":\"cs\"}]}");
}
END_TEST

/* What Zipkin itself writes of messages in Thrift: when one was sent to, or came from, the wire is where it
 * ends, or begins, and no annotation. */
static const struct {
	struct {
		int64_t us;
		const char *value;
	} annotations[3];
	const char *kind, *rest; /* before and behind the local endpoint; all have the same times */
} wires[] = {
	{{{100, "ms"}, {130, "ws"}}, "PRODUCER", ""},
	{{{100, "wr"}, {130, "mr"}}, "CONSUMER", ""},
	{{{130, "mr"}, {100, "wr"}}, "CONSUMER", ""},
	{{{100, "cs"}, {110, "wx"}, {130, "cr"}}, "CLIENT",
		",\"annotations\":[{\"timestamp\":110,\"value\":\"wx\"}]"},
};

START_TEST(messages_on_the_wire)
{
	struct annotation annotations[3];
	struct span seen, span = {.trace_id = 1,
				  .id = 2,
				  .timestamp = 100000,
				  .duration = 30000,
				  .local = {.service = literal("s")},
				  .annotations = annotations};
	g_autofree char *wanted =
		g_strdup_printf("{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"kind\":\"%"
				"s\",\"timestamp\":100,"
				"\"duration\":30,\"localEndpoint\":{\"serviceName\":\"s\"}%s}",
			wires[_i].kind, wires[_i].rest);

	for (; span.annotation_count < 3 && wires[_i].annotations[span.annotation_count].us;
		span.annotation_count++)
		annotations[span.annotation_count] =
			(struct annotation){wires[_i].annotations[span.annotation_count].us * 1000,
				literal(wires[_i].annotations[span.annotation_count].value)};
	again.size = 0;
	ck_assert_int_eq(zipkin_encode(&again, &span), 0);
	ck_assert(spanread_thrift(&seen, again.data, again.size, &memory));
	assert_json(&seen, wanted);
}
END_TEST

/* An endpoint whose IPv6 address comes before that of IPv4, which is none; and a tag without a type is none.
 */
START_TEST(fields_in_any_order)
{
	static const char bytes[] =
		"\x0f\0\x08\x0c\0\0\0\1\x0b\0\1\0\0\0\2sa\x0b\0\2\0\0\0\1\1\0"
		"\x0f\0\6\x0c\0\0\0\1\x0c\0\3\x0b\0\4\0\0\0\x10"
		"0123456789abcdef\x08\0\1\0\0\0\0\0\x0b\0\2\0\0\0\2sr\x0a\0\1\0\0\0\0\0\0\0\x64\0"
		"\x0a\0\4\0\0\0\0\0\0\0\2\x0a\0\1\0\0\0\0\0\0\0\1";
	struct span seen;

	ck_assert(spanread_thrift(&seen, (const uint8_t *)bytes, sizeof(bytes), &memory));
	ck_assert_uint_eq(memory.left_out, 1);
	assert_json(&seen,
		"{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"kind\":\"SERVER\","
		"\"timestamp\":100,\"localEndpoint\":{\"ipv6\":\"3031:3233:3435:3637:3839:6162:6364:6566\"}"
		",\"shared\":true}");
}
END_TEST

/* What only OpenTelemetry has, as its own exporter to Zipkin writes it. */
START_TEST(of_opentelemetry)
{
	struct tag of_event[] = {{literal("a"), literal("1"), TAG_INT},
		{literal("b \""), literal("x\n"), TAG_TEXT}, {literal("c"), literal("NaN"), TAG_DOUBLE},
		{literal("d"), literal("true"), TAG_BOOL}};
	const struct attributes of_annotations[] = {{of_event, 4, 0}, {NULL, 0, 5}};
	const struct annotation annotations[] = {{1000, literal("retry")}, {2000, literal("done")}};
	struct tag inner[] = {{literal("m"), literal(""), TAG_NONE},
		{literal("n"), literal("\xff"), TAG_BYTES}, {literal("o"), literal("-0.5"), TAG_DOUBLE}};
	struct buffer map = {0};
	struct tag tags[] = {{literal("t"), literal("text"), TAG_TEXT},
		{literal("y"), literal("\xff\x01"), TAG_BYTES}, {literal("e"), literal(""), TAG_NONE},
		{literal("m"), literal(""), TAG_MAP}, {literal("otel.scope.name"), literal("mine"), TAG_TEXT},
		{literal("error"), literal("false"), TAG_BOOL}};
	struct tag added[] = {{literal("otel.scope.version"), literal("mine"), TAG_TEXT},
		{literal("rack"), literal("r7"), TAG_TEXT}};
	struct span_more more = {.status = SPAN_STATUS_ERROR,
		.status_message = literal("no disk"),
		.dropped_tags = 7,
		.dropped_links = 4294967295,
		.scope_name = literal("lib"),
		.scope_version = literal("1.0"),
		.of_annotations = of_annotations};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .timestamp = 1000,
			    .duration = -5000,
			    .annotations = annotations,
			    .annotation_count = 2,
			    .tags = tags,
			    .tag_count = 6,
			    .more = &more,
			    .added = added,
			    .added_count = 2},
		    seen;

	for (int i = 0; i < 3; i++)
		value_put(&map, true, &inner[i]);
	tags[3].value = (struct text){(const char *)map.data, (uint32_t)map.size};
	assert_json(&span,
		"{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"timestamp\":1,"
		"\"localEndpoint\":{},"
		"\"annotations\":[{\"timestamp\":1,\"value\":\"retry: {\\\"a\\\":1,\\\"b "
		"\\\\\\\"\\\":\\\"x\\\\n\\\","
		"\\\"c\\\":\\\"NaN\\\",\\\"d\\\":true}\"},{\"timestamp\":2,\"value\":\"done\"}],"
		"\"tags\":{\"rack\":\"r7\",\"t\":\"text\",\"y\":\"/wE=\",\"e\":\"\","
		"\"m\":\"{\\\"m\\\":null,\\\"n\\\":\\\"/"
		"w==\\\",\\\"o\\\":-0.5}\",\"otel.scope.name\":\"mine\","
		"\"error\":\"no disk\",\"otel.status_code\":\"ERROR\",\"otel.scope.version\":\"1.0\","
		"\"otel.dropped_attributes_count\":\"7\",\"otel.dropped_links_count\":\"4294967295\"}}");
	out.size = 0;
	ck_assert_int_eq(zipkin_encode(&out, &span), 0);
	ck_assert(spanread_thrift(&seen, out.data, out.size, &memory));
	ck_assert_uint_eq(seen.tag_count, 11);
	ck_assert_uint_eq(seen.annotation_count, 2);
	assert_text(seen.tags[5].value, literal("mine"));
	more = (struct span_more){.status = SPAN_STATUS_OK, .status_message = literal("not shown")};
	span.annotation_count = span.added_count = 0;
	span.tag_count = 1;
	assert_json(&span, "{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"timestamp\":1,"
			   "\"localEndpoint\":{},"
			   "\"tags\":{\"t\":\"text\",\"otel.status_code\":\"OK\"}}");
	more = (struct span_more){.status = SPAN_STATUS_ERROR};
	span.tag_count = 0;
	assert_json(&span, "{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"timestamp\":1,"
			   "\"localEndpoint\":{},"
			   "\"tags\":{\"error\":\"true\",\"otel.status_code\":\"ERROR\"}}");
	more = (struct span_more){.trace_state = literal("a=b")};
	assert_json(&span, "{\"traceId\":\"0000000000000001\",\"id\":\"0000000000000002\",\"timestamp\":1,"
			   "\"localEndpoint\":{}}");
	buffer_free(&map);
}
END_TEST

/* Bytes that are no text are repaired, and counted: once for each text. */
START_TEST(broken_text)
{
	struct tag tag = {literal("k\xff"), literal("a\xc0\xaf b")};
	struct span span = {.trace_id = 1, .id = 2, .tags = &tag, .tag_count = 1}, seen;

	ck_assert_int_eq(zipkinjson_encode(&out, &span), 2);
	ck_assert(spanread_json(&seen, out.data, out.size, &memory));
	assert_text(seen.tags[0].key, literal("k\uFFFD"));
	assert_text(seen.tags[0].value, literal("a\uFFFD\uFFFD b"));
}
END_TEST

/* One special byte at any place among others, of any length: each way through the words. */
START_TEST(any_byte_anywhere)
{
	char text[24], written[JSONTEXT_MAX(sizeof(text))];
	struct span seen;

	for (int special = 1; special < 128; special++) {
		for (size_t size = 1; size < sizeof(text); size++) {
			for (size_t at = 0; at < size; at++) {
				unsigned repaired = 0;
				char *end;

				memset(text, 'x', size);
				text[at] = (char)special;
				end = jsontext_put(written, text, size, &repaired);
				out.size = 0;
				buffer_printf(&out, "{\"traceId\":\"1\",\"id\":\"1\",\"name\":%.*s}",
					(int)(end - written), written);
				ck_assert(spanread_json(&seen, out.data, out.size, &memory));
				assert_text(seen.name, (struct text){text, (uint32_t)size});
				ck_assert_uint_eq(repaired, 0);
			}
		}
	}
}
END_TEST

/* Whoever looks at a file or at `blkin tail --json` sees no character that controls what is shown; a reader
 * gets it. */
START_TEST(controls_are_escaped)
{
	static const char
		name[] = "\u202eevil\u202c \u2066rtl \xc2\x9b"
			 "31m \u2028 \U000E0061 שלום \u200d é",
		shown[] = "\\u202eevil\\u202c \\u2066rtl \\u009b31m \\u2028 \\udb40\\udc61 שלום \u200d é";
	struct span span = {.trace_id = 1, .id = 2, .name = literal(name)}, seen;

	ck_assert_int_eq(zipkinjson_encode(&out, &span), 0);
	buffer_put(&out, "", 1);
	ck_assert_ptr_nonnull(strstr((const char *)out.data, shown));
	out.size--;
	ck_assert(spanread_json(&seen, out.data, out.size, &memory));
	assert_text(seen.name, literal(name));
}
END_TEST

/* JSON of others: blanks, escapes, members that are not known, in any order. */
START_TEST(json_of_others)
{
	static const char text[] =
		" { \"unknown\" : [1.5e3, {\"a\":[]}, null, true, \"\\\"]\"],\n \"id\":\"00000000000000ff\","
		"\"name\":\"\\u00e9\\ud83d\\ude00\\/\", \"traceId\":\"1\" , \"tags\":{\"k\":\"v\"} }\n";
	static const char *const wrong[] = {"", "{}", "[]", "{\"traceId\":\"1\",\"id\":\"1\"",
		"{\"traceId\":\"1\" \"id\":\"1\"}", "{\"traceId\":\"g\",\"id\":\"1\"}",
		"{\"traceId\":\"1\",\"id\":\"1\"}x",
		"{\"traceId\":\"1\",\"id\":\"1\",\"name\":\"\\ud800\\u00\"}",
		"{\"traceId\":\"1\",\"id\":\"1\",\"name\":\"\\q\"}",
		"{\"traceId\":\"1\",\"id\":\"1\",\"timestamp\":1.5}", "{,\"traceId\":\"1\",\"id\":\"1\"}"};
	struct span seen;

	ck_assert(spanread_json(&seen, (const uint8_t *)text, sizeof(text) - 1, &memory));
	ck_assert_uint_eq(seen.id, 0xff);
	ck_assert_uint_eq(seen.trace_id, 1);
	assert_text(seen.name, literal("\u00e9\U0001F600/"));
	ck_assert_uint_eq(seen.tag_count, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_msg(!spanread_json(&seen, (const uint8_t *)wrong[i], strlen(wrong[i]), &memory),
			"%s", wrong[i]);
}
END_TEST

/* Whoever cuts texts by the units of UTF-16 leaves halves of pairs: each is one character that is not known,
 * and takes nothing else with it. */
START_TEST(json_with_half_a_pair)
{
	static const char *const names[][2] = {
		{"a\\ud83d", "a\ufffd"},
		{"\\ud83d.", "\ufffd."},
		{"\\ud83d\\n", "\ufffd\n"},
		{"\\ud83d\\u0041", "\ufffdA"},
		{"\\ud83d\\ud83d\\ude00", "\ufffd\U0001F600"},
		{"\\ude00\\ud83d", "\ufffd\ufffd"},
		{"\\uD83D\\uDE00\\uDE00", "\U0001F600\ufffd"},
	};
	struct span seen;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text =
			g_strdup_printf("{\"traceId\":\"1\",\"id\":\"1\",\"name\":\"%s\"}", names[i][0]);

		ck_assert_msg(spanread_json(&seen, (const uint8_t *)text, strlen(text), &memory), "%s", text);
		assert_text(seen.name, (struct text){names[i][1], (uint32_t)strlen(names[i][1])});
	}
}
END_TEST

/* As Zipkin reads it: null is the same as no member, but for what a span has to have, and a tag. */
START_TEST(json_with_null)
{
	static const char *const members[] = {"parentId", "kind", "name", "timestamp", "duration",
		"localEndpoint", "remoteEndpoint", "shared", "debug", "annotations", "tags"};
	static const char place[] = "{\"traceId\":\"1\",\"id\":\"2\",\"localEndpoint\":{\"serviceName\":null,"
				    "\"ipv4\":null,\"ipv6\":null,\"port\":80}}";
	static const char *const wrong[] = {"{\"traceId\":null,\"id\":\"2\"}",
		"{\"traceId\":\"1\",\"id\":null}", "{\"traceId\":\"1\",\"id\":\"2\",\"tags\":{\"k\":null}}",
		"{\"traceId\":\"1\",\"id\":\"2\",\"name\":nil}"};
	struct span seen;

	for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
		g_autofree char *text =
			g_strdup_printf("{\"traceId\":\"1\",\"id\":\"2\",\"%s\":null}", members[i]);

		ck_assert_msg(spanread_json(&seen, (const uint8_t *)text, strlen(text), &memory), "%s", text);
		assert_span(&seen, &(struct span){.trace_id = 1, .id = 2});
	}
	ck_assert(spanread_json(&seen, (const uint8_t *)place, sizeof(place) - 1, &memory));
	assert_span(&seen, &(struct span){.trace_id = 1, .id = 2, .local = {.port = 80}});
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_msg(!spanread_json(&seen, (const uint8_t *)wrong[i], strlen(wrong[i]), &memory),
			"%s", wrong[i]);
}
END_TEST

static void assert_same_in_ascii(const uint8_t *json, size_t size)
{
	struct span_memory other = {0};
	struct span one, two;

	again.size = 0;
	asciijson_put(&again, json, size);
	for (size_t i = 0; i < again.size; i++)
		ck_assert_uint_lt(again.data[i], 0x80);
	ck_assert(spanread_json(&one, json, size, &memory));
	ck_assert(spanread_json(&two, again.data, again.size, &other));
	assert_span(&one, &two);
	span_memory_free(&other);
}

START_TEST(json_in_ascii)
{
	static const char *const characters[] = {"\xc2\x80", "\u00e9", "\u07ff", "\u0800", "\u2713", "\uffff",
		"\U00010000", "\U0001F600", "\U0010FFFF", "\u00e9\u2713\U0001F600"};
	static const char broken[] = "a\xff\xe2\x9c"
				     "b\xc3";

	for (size_t i = 0; i < G_N_ELEMENTS(characters); i++) {
		for (int before = 0; before < 9; before++) {
			for (int after = 0; after < 9; after++) {
				out.size = 0;
				buffer_printf(&out,
					"{\"traceId\":\"1\",\"id\":\"1\",\"name\":\"%.*s%s%.*s\"}", before,
					"12345678", characters[i], after, "12345678");
				assert_same_in_ascii(out.data, out.size);
			}
		}
	}
	again.size = 0;
	asciijson_put(&again, (const uint8_t *)broken, sizeof(broken) - 1);
	ck_assert_uint_eq(again.size, 26);
	ck_assert_mem_eq(again.data, "a\\ufffd\\ufffd\\ufffdb\\ufffd", 26);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("formats");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, json_and_back);
	tcase_add_test(tests, thrift_and_back);
	tcase_add_test(tests, batch_there_and_back);
	tcase_add_test(tests, garbage_is_none);
	tcase_add_loop_test(tests, damaged, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON + 1);
	tcase_add_test(tests, as_documented);
	tcase_add_loop_test(tests, addresses_of_others, 0, G_N_ELEMENTS(addresses));
	tcase_add_test(tests, classic_core_annotations);
	tcase_add_loop_test(tests, messages_on_the_wire, 0, G_N_ELEMENTS(wires));
	tcase_add_test(tests, fields_in_any_order);
	tcase_add_test(tests, of_opentelemetry);
	tcase_add_test(tests, broken_text);
	tcase_add_test(tests, any_byte_anywhere);
	tcase_add_test(tests, controls_are_escaped);
	tcase_add_test(tests, json_of_others);
	tcase_add_test(tests, json_with_half_a_pair);
	tcase_add_test(tests, json_with_null);
	tcase_add_test(tests, json_in_ascii);
	return run_cases("formats", tests);
}
