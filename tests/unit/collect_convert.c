/* SPDX-License-Identifier: BSD-2-Clause */
/* Version 1 spans to version 2: one test a rule of Zipkin's collector. */
#include "collect_cases.h"
#include "spans/decode.h"
#include "status/trace/span2.h"

/* The beginning of each span of the tests. */
#define IDS "{\"traceId\":\"000000000000000a\",\"id\":\"000000000000000b\""
#define FRONT "\"localEndpoint\":{\"serviceName\":\"front\",\"ipv4\":\"10.0.0.1\",\"port\":80}"
#define BACK "\"localEndpoint\":{\"serviceName\":\"back\",\"ipv4\":\"10.0.0.2\",\"port\":90}"
#define AT_FRONT "\"remoteEndpoint\":{\"serviceName\":\"front\",\"ipv4\":\"10.0.0.1\",\"port\":80}"
#define AT_BACK "\"remoteEndpoint\":{\"serviceName\":\"back\",\"ipv4\":\"10.0.0.2\",\"port\":90}"

static ZipkinSpan *span;
static ZipkinEndpoint *front, *back;

static void setup(void)
{
	span = v1_span(10, 11, 0, "");
	front = v1_host("front", 0x0a000001, 80);
	back = v1_host("back", 0x0a000002, 90);
}

static void teardown(void)
{
	g_object_unref(span);
	g_object_unref(front);
	g_object_unref(back);
}

/* What @span makes, from its bytes; false, with what is wrong in @why. */
static bool decode(GPtrArray *spans, char *why, size_t size)
{
	struct buffer bytes = v1_bytes(span);
	bool good = decode_span(bytes.data, bytes.size, spans, why, size);

	buffer_free(&bytes);
	return good;
}

/* The span has to become the spans of @json, a line each. */
static void assert_makes(const char *json)
{
	GPtrArray *spans = g_ptr_array_new_with_free_func(span2_free);
	struct buffer out = {0};
	char why[256] = "";

	ck_assert_msg(decode(spans, why, sizeof(why)), "%s", why);
	for (guint i = 0; i < spans->len; i++) {
		span2_put_json(g_ptr_array_index(spans, i), &out);
		buffer_put(&out, "\n", 1);
	}
	g_ptr_array_unref(spans);
	assert_text(&out, json);
}

static void assert_refused(const char *wanted)
{
	GPtrArray *spans = g_ptr_array_new_with_free_func(span2_free);
	char why[256];

	ck_assert(!decode(spans, why, sizeof(why)));
	ck_assert_str_eq(why, wanted);
	ck_assert_uint_eq(spans->len, 0);
	g_ptr_array_unref(spans);
}

START_TEST(a_client_is_timed_by_its_pair)
{
	v1_annotate(span, 300, "cr", front);
	v1_annotate(span, 100, "cs", front);
	assert_makes(IDS ",\"kind\":\"CLIENT\",\"timestamp\":100,\"duration\":200," FRONT "}\n");
}
END_TEST

START_TEST(a_server_without_its_own_time_is_shared)
{
	v1_annotate(span, 100, "sr", back);
	v1_annotate(span, 300, "ss", back);
	assert_makes(
		IDS ",\"kind\":\"SERVER\",\"timestamp\":100,\"duration\":200," BACK ",\"shared\":true}\n");
}
END_TEST

START_TEST(a_server_with_its_own_time_is_not)
{
	v1_annotate(span, 100, "sr", back);
	v1_annotate(span, 300, "ss", back);
	v1_times(span, 99, 205);
	assert_makes(IDS ",\"kind\":\"SERVER\",\"timestamp\":99,\"duration\":205," BACK "}\n");
}
END_TEST

START_TEST(a_server_that_sent_but_has_no_duration_is_shared)
{
	v1_annotate(span, 100, "sr", back);
	v1_annotate(span, 300, "ss", back);
	v1_times(span, 99, 0);
	assert_makes(
		IDS ",\"kind\":\"SERVER\",\"timestamp\":100,\"duration\":200," BACK ",\"shared\":true}\n");
}
END_TEST

START_TEST(a_server_that_only_received_is_not_shared_with_a_time)
{
	v1_annotate(span, 100, "sr", back);
	v1_times(span, 99, 0);
	assert_makes(IDS ",\"kind\":\"SERVER\",\"timestamp\":99," BACK "}\n");
}
END_TEST

START_TEST(both_sides_make_two_spans)
{
	v1_annotate(span, 100, "cs", front);
	v1_annotate(span, 150, "sr", back);
	v1_annotate(span, 170, "half way", back);
	v1_annotate(span, 250, "ss", back);
	v1_annotate(span, 300, "cr", front);
	v1_tag(span, "who", "front", front);
	v1_tag(span, "who", "back", back);
	assert_makes(IDS
		",\"kind\":\"CLIENT\",\"timestamp\":100,\"duration\":200," FRONT
		",\"tags\":{\"who\":\"front\"}}\n" IDS
		",\"kind\":\"SERVER\",\"timestamp\":150,\"duration\":100," BACK
		",\"annotations\":[{\"timestamp\":170,\"value\":\"half way\"}],\"tags\":{\"who\":\"back\"}"
		",\"shared\":true}\n");
}
END_TEST

START_TEST(a_service_that_calls_itself_makes_two_spans)
{
	v1_annotate(span, 100, "cs", front);
	v1_annotate(span, 150, "sr", front);
	v1_annotate(span, 250, "ss", front);
	v1_annotate(span, 300, "cr", front);
	assert_makes(
		IDS ",\"kind\":\"CLIENT\",\"timestamp\":100,\"duration\":200," FRONT "}\n" IDS
		    ",\"kind\":\"SERVER\",\"timestamp\":150,\"duration\":100," FRONT ",\"shared\":true}\n");
}
END_TEST

START_TEST(one_way_has_no_duration)
{
	v1_annotate(span, 100, "cs", front);
	v1_annotate(span, 150, "sr", back);
	assert_makes(IDS ",\"kind\":\"CLIENT\",\"timestamp\":100," FRONT "}\n" IDS
			 ",\"kind\":\"SERVER\",\"timestamp\":150," BACK ",\"shared\":true}\n");
}
END_TEST

START_TEST(an_end_alone_stays_an_annotation)
{
	v1_annotate(span, 300, "cr", front);
	assert_makes(IDS ",\"kind\":\"CLIENT\"," FRONT
			 ",\"annotations\":[{\"timestamp\":300,\"value\":\"cr\"}]}\n");
}
END_TEST

START_TEST(an_end_at_the_spans_end_tells_its_begin)
{
	v1_annotate(span, 300, "cr", front);
	v1_times(span, 100, 200);
	assert_makes(IDS ",\"kind\":\"CLIENT\",\"timestamp\":100,\"duration\":200," FRONT "}\n");
}
END_TEST

START_TEST(a_core_annotation_without_a_host_is_none)
{
	v1_annotate(span, 100, "cs", NULL);
	assert_makes(IDS ",\"annotations\":[{\"timestamp\":100,\"value\":\"cs\"}]}\n");
}
END_TEST

START_TEST(a_producer_is_timed_to_the_wire)
{
	v1_annotate(span, 100, "ms", front);
	v1_annotate(span, 130, "ws", front);
	v1_binary(span, "ma", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, back);
	assert_makes(IDS ",\"kind\":\"PRODUCER\",\"timestamp\":100,\"duration\":30," FRONT "," AT_BACK "}\n");
}
END_TEST

START_TEST(a_consumer_is_timed_from_the_wire)
{
	v1_annotate(span, 100, "wr", back);
	v1_annotate(span, 130, "mr", back);
	assert_makes(IDS ",\"kind\":\"CONSUMER\",\"timestamp\":100,\"duration\":30," BACK "}\n");
}
END_TEST

START_TEST(producer_and_consumer_in_one_make_two_spans)
{
	v1_annotate(span, 100, "ms", front);
	v1_annotate(span, 150, "mr", back);
	assert_makes(IDS ",\"kind\":\"PRODUCER\",\"timestamp\":100," FRONT "}\n" IDS
			 ",\"kind\":\"CONSUMER\",\"timestamp\":150," BACK ",\"shared\":true}\n");
}
END_TEST

START_TEST(wire_times_alone_stay_annotations)
{
	v1_annotate(span, 100, "ws", front);
	v1_annotate(span, 130, "wr", front);
	assert_makes(IDS "," FRONT ",\"annotations\":[{\"timestamp\":100,\"value\":\"ws\"},"
			 "{\"timestamp\":130,\"value\":\"wr\"}]}\n");
}
END_TEST

START_TEST(only_strings_are_tags)
{
	v1_tag(span, "z", "last", front);
	v1_tag(span, "a", "first", front);
	v1_tag(span, "a", "second wins", front);
	v1_binary(span, "number", ZIPKIN_ANNOTATION_TYPE_I32, "\0\0\0\1", 4, front);
	v1_binary(span, "true", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, front);
	v1_binary(span, "bytes", ZIPKIN_ANNOTATION_TYPE_BYTES, "abc", 3, front);
	assert_makes(IDS "," FRONT ",\"tags\":{\"a\":\"second wins\",\"z\":\"last\"}}\n");
}
END_TEST

START_TEST(an_empty_lc_is_there_for_its_host)
{
	v1_tag(span, "lc", "", front);
	v1_times(span, 100, 7);
	assert_makes(IDS ",\"timestamp\":100,\"duration\":7," FRONT "}\n");
}
END_TEST

START_TEST(an_lc_with_a_value_is_a_tag)
{
	v1_tag(span, "lc", "worker", front);
	assert_makes(IDS "," FRONT ",\"tags\":{\"lc\":\"worker\"}}\n");
}
END_TEST

START_TEST(addresses_are_the_far_side)
{
	v1_annotate(span, 100, "cs", front);
	v1_annotate(span, 300, "cr", front);
	v1_binary(span, "sa", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, back);
	assert_makes(IDS ",\"kind\":\"CLIENT\",\"timestamp\":100,\"duration\":200," FRONT "," AT_BACK "}\n");
}
END_TEST

START_TEST(a_caller_of_the_servers_name_loses_it)
{
	ZipkinEndpoint *caller = v1_host("back", 0x0a000003, 4711);

	v1_annotate(span, 100, "sr", back);
	v1_times(span, 100, 50);
	v1_binary(span, "ca", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, caller);
	assert_makes(IDS ",\"kind\":\"SERVER\",\"timestamp\":100,\"duration\":50," BACK
			 ",\"remoteEndpoint\":{\"ipv4\":\"10.0.0.3\",\"port\":4711}}\n");
	g_object_unref(caller);
}
END_TEST

START_TEST(addresses_alone_say_what_they_can)
{
	v1_binary(span, "sa", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, back);
	assert_makes(IDS "," AT_BACK "}\n");
	v1_binary(span, "ca", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, front);
	assert_makes(IDS "," FRONT "," AT_BACK "}\n");
}
END_TEST

START_TEST(a_caller_alone_makes_a_server)
{
	v1_binary(span, "ca", ZIPKIN_ANNOTATION_TYPE_BOOL, "\1", 1, front);
	assert_makes(IDS ",\"kind\":\"SERVER\"," AT_FRONT "}\n");
}
END_TEST

START_TEST(ids_of_zero_are_refused)
{
	span->id = 0;
	assert_refused("its span id is 0");
	span->id = 11;
	span->trace_id = 0;
	assert_refused("its trace id is 0");
	span->trace_id_high = 5;
	span->__isset_trace_id_high = TRUE;
	assert_makes("{\"traceId\":\"00000000000000050000000000000000\",\"id\":\"000000000000000b\"}\n");
}
END_TEST

START_TEST(ids_are_unsigned)
{
	span->trace_id = -1;
	span->trace_id_high = -2;
	span->__isset_trace_id_high = TRUE;
	span->parent_id = INT64_MIN;
	span->__isset_parent_id = TRUE;
	assert_makes("{\"traceId\":\"fffffffffffffffeffffffffffffffff\",\"parentId\":\"8000000000000000\","
		     "\"id\":\"000000000000000b\"}\n");
}
END_TEST

START_TEST(a_span_is_not_its_own_parent)
{
	span->parent_id = 11;
	span->__isset_parent_id = TRUE;
	assert_makes(IDS "}\n");
}
END_TEST

START_TEST(names_are_valid_and_in_lower_case)
{
	ZipkinEndpoint *host = v1_host("Big \xc3\x84\xff", 0, -1);

	g_free(span->name);
	span->name = g_strdup("GET /\xc3\x89t\xc3");
	v1_annotate(span, 5, "Kept As It Is", host);
	assert_makes(IDS
		",\"name\":\"get /\xc3\xa9t\xef\xbf\xbd\",\"localEndpoint\":{\"serviceName\":\"big \xc3\xa4"
		"\xef\xbf\xbd\",\"port\":65535},\"annotations\":[{\"timestamp\":5,\"value\":"
		"\"Kept As It Is\"}]}\n");
	g_object_unref(host);
}
END_TEST

static void set_ipv6(ZipkinEndpoint *host, const char *bytes, guint size)
{
	if (host->ipv6)
		g_byte_array_unref(host->ipv6);
	host->ipv6 = g_byte_array_append(g_byte_array_new(), (const guint8 *)bytes, size);
	host->__isset_ipv6 = TRUE;
}

START_TEST(ipv6_is_shown_as_what_it_is)
{
	static const struct {
		const char *bytes;
		guint size;
	} none[] = {{"short", 5}, {"\x0a\0\0\1", 4}, {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16},
		{"\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\0", 16}};
	ZipkinEndpoint *host = v1_host("x", 0, 0);

	v1_annotate(span, 5, "here", host);
	set_ipv6(host, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_makes(IDS ",\"localEndpoint\":{\"serviceName\":\"x\",\"ipv6\":\"::1\"},"
			 "\"annotations\":[{\"timestamp\":5,\"value\":\"here\"}]}\n");
	set_ipv6(host, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	assert_makes(IDS ",\"localEndpoint\":{\"serviceName\":\"x\",\"ipv4\":\"10.0.0.1\"},"
			 "\"annotations\":[{\"timestamp\":5,\"value\":\"here\"}]}\n");
	for (size_t i = 0; i < G_N_ELEMENTS(none); i++) {
		set_ipv6(host, none[i].bytes, none[i].size);
		assert_makes(IDS ",\"localEndpoint\":{\"serviceName\":\"x\"},"
				 "\"annotations\":[{\"timestamp\":5,\"value\":\"here\"}]}\n");
	}
	g_object_unref(host);
}
END_TEST

START_TEST(an_empty_host_is_none)
{
	ZipkinEndpoint *host = v1_host("", 0, 0);

	v1_annotate(span, 5, "cs", host);
	assert_makes(IDS ",\"annotations\":[{\"timestamp\":5,\"value\":\"cs\"}]}\n");
	g_object_unref(host);
}
END_TEST

START_TEST(annotations_are_in_order_and_each_once)
{
	v1_annotate(span, 30, "b", front);
	v1_annotate(span, 10, "c", front);
	v1_annotate(span, 30, "b", front);
	v1_annotate(span, 30, "a", front);
	v1_annotate(span, 0, "never", front);
	assert_makes(IDS "," FRONT ",\"annotations\":[{\"timestamp\":10,\"value\":\"c\"},"
			 "{\"timestamp\":30,\"value\":\"a\"},{\"timestamp\":30,\"value\":\"b\"}]}\n");
}
END_TEST

START_TEST(times_that_cannot_be_are_none)
{
	v1_annotate(span, INT64_MAX, "cs", front);
	v1_annotate(span, INT64_MIN, "cr", front);
	assert_makes(
		IDS ",\"kind\":\"CLIENT\",\"timestamp\":9223372036854775807,\"duration\":1," FRONT "}\n");
	v1_times(span, -5, -7);
	assert_makes(IDS ",\"kind\":\"CLIENT\"," FRONT "}\n");
}
END_TEST

START_TEST(debug_is_kept)
{
	span->debug = TRUE;
	span->__isset_debug = TRUE;
	assert_makes(IDS ",\"debug\":true}\n");
}
END_TEST

TCase *collect_convert_cases(void)
{
	const TTest *const tests[] = {a_client_is_timed_by_its_pair, a_server_without_its_own_time_is_shared,
		a_server_with_its_own_time_is_not, a_server_that_sent_but_has_no_duration_is_shared,
		a_server_that_only_received_is_not_shared_with_a_time, both_sides_make_two_spans,
		a_service_that_calls_itself_makes_two_spans, one_way_has_no_duration,
		an_end_alone_stays_an_annotation, an_end_at_the_spans_end_tells_its_begin,
		a_core_annotation_without_a_host_is_none, a_producer_is_timed_to_the_wire,
		a_consumer_is_timed_from_the_wire, producer_and_consumer_in_one_make_two_spans,
		wire_times_alone_stay_annotations, only_strings_are_tags, an_empty_lc_is_there_for_its_host,
		an_lc_with_a_value_is_a_tag, addresses_are_the_far_side,
		a_caller_of_the_servers_name_loses_it, addresses_alone_say_what_they_can,
		a_caller_alone_makes_a_server, ids_of_zero_are_refused, ids_are_unsigned,
		a_span_is_not_its_own_parent, names_are_valid_and_in_lower_case, ipv6_is_shown_as_what_it_is,
		an_empty_host_is_none, annotations_are_in_order_and_each_once, times_that_cannot_be_are_none,
		debug_is_kept};
	TCase *cases = tcase_create("convert");

	tcase_add_checked_fixture(cases, setup, teardown);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(cases, tests[i]);
	return cases;
}
