/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the header says of a span besides annotations and tags, all the way: recorded by its calls, assembled,
 * packed as a record, and encoded. The provider is the assembler.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>

#include <glib.h>

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/otlpjson.h"
#include "encode/spanread.h"
#include "encode/zipkinjson.h"
#include "net/otlprequest.h"
#include "reader/assemble/assembler.h"

#include <blkin/blkin.h>

#include "run.h"
#include "texts.h"

#define MS INT64_C(1000000)
#define T0 INT64_C(1700000000000000000) /* when the tracing clock is CLOCK0 */
#define CLOCK0 UINT64_C(5000000000)

static struct assembler *assembler;
static struct ledger rows;
static int on = 1;
static GString *otlp, *zipkin; /* the spans that were emitted, in JSON */
static struct payload *request;
static int pieces;                   /* how many there were */
static int lost, lost_count;         /* the number of one that is lost, and how many are from there on */
static struct blkin_process process; /* says nothing */

/* As a file of the agent's own is: the same item comes of it. */
static void check_read_back(const struct span *span, const struct buffer *item)
{
	static struct span_memory memory;
	struct buffer again = {0};
	struct span read;

	ck_assert(spanread_otlp(&read, item->data, item->size, &memory));
	ck_assert_int_ge(otlp_encode(&again, &read), 0);
	ck_assert_uint_eq(read.trace_id, span->trace_id);
	ck_assert_uint_eq(again.size, item->size);
	ck_assert(memcmp(again.data, item->data, item->size) == 0);
	buffer_free(&again);
}

static void put_request(const struct span *span)
{
	struct squeeze_piece piece[PAYLOAD_PIECES];
	struct buffer item = {0}, json = {0};
	uint32_t size;
	struct run run = {.count = 1};

	ck_assert_int_ge(otlp_encode(&item, span), 0);
	size = (uint32_t)item.size;
	check_read_back(span, &item);
	run.spans = item.data;
	run.sizes = &size;
	ck_assert_uint_eq(request->put(request, &run, piece), 1);
	ck_assert(otlpjson_put(&json, piece[0].data, piece[0].size));
	g_string_append_len(otlp, (const char *)json.data, (gssize)json.size);
	json.size = 0;
	ck_assert_int_ge(zipkinjson_encode(&json, span), 0);
	g_string_append_len(zipkin, (const char *)json.data, (gssize)json.size);
	buffer_free(&item);
	buffer_free(&json);
}

/* As the span's record says it. */
static void emit(void *data, const struct span *span)
{
	static struct span_memory memory;
	struct buffer record = {0};
	struct span opened;

	(void)data;
	ck_assert_int_ge(record_put(&record, span), 0);
	ck_assert(record_open(&opened, record.data, record.size, &memory));
	put_request(&opened);
	buffer_free(&record);
}

static struct event event_of(const struct blkin_span_record *record, enum event_type type)
{
	return (struct event){.type = type,
		.time = T0,
		.clock = CLOCK0,
		.trace_id = record->trace_id,
		.span_id = record->span_id,
		.parent_id = record->parent_id,
		.start = record->start,
		.level = EVENT_LEVEL_INFO,
		.name = literal(record->name)};
}

static void take_span(const struct blkin_span_record *record)
{
	struct event event = event_of(record, EVENT_SPAN);

	event.value = literal(record->data);
	assembler_take(assembler, &event, 0);
}

static void take_annotation(const struct blkin_span_record *record, uint64_t time, const char *value)
{
	struct event event = event_of(record, EVENT_ANNOTATION);

	pieces++;
	event.head = literal(record->data);
	event.piece_time = time;
	event.value = literal(value);
	assembler_take(assembler, &event, 0);
}

static void take_tag(const struct blkin_span_record *record, const char *key, const char *value)
{
	struct event event = event_of(record, EVENT_TAG);

	if (++pieces >= lost && pieces < lost + lost_count)
		return;
	event.head = literal(record->data);
	event.key = literal(key);
	event.value = literal(value);
	assembler_take(assembler, &event, 0);
}

static const struct blkin_provider provider = {
	.size = sizeof(provider),
	.span_on = {&on, &on, &on, &on, &on, &on, &on, &on},
	.span = {take_span, take_span, take_span, take_span, take_span, take_span, take_span, take_span},
	.annotation = take_annotation,
	.tag = take_tag,
	.process = &process,
};

static void setup(void)
{
	struct assembler_limits limits = {1000 * MS, 100 * MS, 1024 * 1024};

	memset(&rows, 0, sizeof(rows));
	blkin_provider_ = &provider;
	blkin_whole_ = NULL;
	on = 1;
	pieces = lost = lost_count = 0;
	otlp = g_string_new(NULL);
	zipkin = g_string_new(NULL);
	request = otlprequest_create("host");
	assembler = assembler_create(&limits, &rows, emit, NULL);
}

static void teardown(void)
{
	assembler_flush(assembler);
	assembler_destroy(assembler);
	request->destroy(request);
	g_string_free(otlp, TRUE);
	g_string_free(zipkin, TRUE);
}

static const struct blkin_endpoint here = {"10.0.0.1", 80, "svc"};
static const struct blkin_context own = {0x1, 0x2, 0x3, 0x4, 0, 0, 0};

static void start(struct blkin_span *span)
{
	blkin_span_start_given(span, BLKIN_SERVER, "op", &here, &own, CLOCK0 - (uint64_t)(5 * MS));
}

static void assert_has(const GString *text, const char *part)
{
	ck_assert_msg(strstr(text->str, part) != NULL, "%s\nis not in\n%s", part, text->str);
}

START_TEST(test_given_ids_and_times)
{
	struct blkin_span span;

	start(&span);
	blkin_span_name(&span, "another name");
	ck_assert_int_eq(blkin_span_kind(&span, BLKIN_PRODUCER, &here), 0);
	blkin_span_tag(&span, "k", "v");
	ck_assert_int_eq(blkin_span_kind(&span, BLKIN_CONSUMER, &here), 0);
	blkin_span_finish_at(&span, CLOCK0 - (uint64_t)(2 * MS));
	assert_has(otlp, "\"traceId\":\"00000000000000010000000000000002\",\"spanId\":\"0000000000000003\","
			 "\"parentSpanId\":\"0000000000000004\"");
	assert_has(otlp, "\"name\":\"another name\",\"kind\":5,\"startTimeUnixNano\":\"1699999999995000000\","
			 "\"endTimeUnixNano\":\"1699999999998000000\"");
	assert_has(otlp, "{\"key\":\"k\",\"value\":{\"stringValue\":\"v\"}}");
}
END_TEST

START_TEST(test_nothing_without_ids)
{
	struct blkin_context none = own;
	struct blkin_span span;

	none.span_id = 0;
	blkin_span_start_given(&span, BLKIN_LOCAL, "op", &here, &none, 0);
	ck_assert(!span.recording);
	none = own;
	none.trace_id = 0;
	blkin_span_start_given(&span, BLKIN_LOCAL, "op", &here, &none, 0);
	ck_assert(!span.recording);
	on = 0;
	blkin_span_start_given(&span, BLKIN_LOCAL, "op", &here, &own, 0);
	ck_assert(!span.recording);
	blkin_span_annotate_with(&span, 0, "x", NULL, 0);
	blkin_span_link(&span, &own, NULL, 0);
	blkin_span_status(&span, BLKIN_STATUS_ERROR, "x");
	blkin_span_tag_texts(&span, "k", NULL, 0);
	blkin_span_trace_state(&span, "a=b");
	blkin_span_finish(&span);
	ck_assert_str_eq(otlp->str, "");
}
END_TEST

START_TEST(test_wall_clock)
{
	struct timespec time;
	uint64_t wall, now = blkin_now(), then;

	timespec_get(&time, TIME_UTC);
	wall = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	then = blkin_time_of_wall(wall - 1000000000u);
	ck_assert_int_lt(llabs((int64_t)(now - then) - 1000000000), 500000000);
	ck_assert_uint_eq(blkin_time_of_wall(1), 1);
	ck_assert_uint_le(blkin_time_of_wall(UINT64_MAX), blkin_now());
}
END_TEST

#define ATTRIBUTES                                                                                           \
	"\"attributes\":[{\"key\":\"t\\n=,\\\\\",\"value\":{\"stringValue\":\"a\\nb\\\\n,=\"}},"             \
	"{\"key\":\"i\",\"value\":{\"intValue\":\"-5\"}},{\"key\":\"d\",\"value\":{\"doubleValue\":0.1}},"   \
	"{\"key\":\"b\",\"value\":{\"boolValue\":true}}]"

START_TEST(test_links_and_annotations)
{
	const struct blkin_tag tags[] = {BLKIN_TAG("t\n=,\\", "a\nb\\n,="), BLKIN_TAG_INT("i", -5),
		BLKIN_TAG_DOUBLE("d", 0.1), BLKIN_TAG_BOOL("b", 1)};
	const struct blkin_context other = {0xa, 0xb, 0xc, 0, 0, 0, 0}, unsampled = {0, 0, 0xd, 0, 0, 0, 0xe},
				   none = {0, 0, 0, 0, 0, 0, 0};
	struct blkin_span span;

	start(&span);
	blkin_span_annotate_at(&span, span.record.start + 1, "plain");
	blkin_span_annotate_with(&span, span.record.start + 2, "two\nlines", tags, 4);
	blkin_span_annotate_with(&span, span.record.start - 1, "early", NULL, 0);
	blkin_span_link(&span, &other, tags, 4);
	blkin_span_link(&span, &unsampled, NULL, 0);
	blkin_span_link(&span, &none, tags, 4);
	blkin_span_finish(&span);
	ck_assert_int_eq(pieces, 0);
	assert_has(otlp, "{\"timeUnixNano\":\"1699999999995000001\",\"name\":\"plain\"},"
			 "{\"timeUnixNano\":\"1699999999995000002\",\"name\":\"two\\nlines\"," ATTRIBUTES "},"
			 "{\"timeUnixNano\":\"1699999999994999999\",\"name\":\"early\"}]");
	assert_has(otlp,
		"\"links\":[{\"traceId\":\"000000000000000a000000000000000b\",\"spanId\":"
		"\"000000000000000c\"," ATTRIBUTES ",\"flags\":1},"
		"{\"traceId\":\"0000000000000000000000000000000e\",\"spanId\":\"000000000000000d\"}]");
	assert_has(zipkin, "\"value\":\"two\\nlines: {\\\"t");
	/* the process is as that of any other span of ours */
	assert_has(otlp, "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"svc\"}}");
	assert_has(otlp, "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"host\"}}");
	assert_has(otlp, "\"scope\":{\"name\":\"blkin\"");
}
END_TEST

START_TEST(test_lists)
{
	const char *const texts[] = {"a,b", "", "c\nd", NULL, "\\c"};
	const int64_t ints[] = {1, INT64_MIN};
	const double doubles[] = {0.5, INFINITY};
	const unsigned char bools[] = {1, 0};
	struct blkin_span span;

	start(&span);
	blkin_span_tag_texts(&span, "texts", texts, 5);
	blkin_span_tag_ints(&span, "ints", ints, 2);
	blkin_span_tag_doubles(&span, "doubles", doubles, 2);
	blkin_span_tag_bools(&span, "bools", bools, 2);
	blkin_span_tag_ints(&span, "none", NULL, 0);
	blkin_span_tag_texts(&span, "null", NULL, 3);
	blkin_span_tag_bools(&span, "null", NULL, 3);
	blkin_span_tags(&span, NULL, 2);
	blkin_span_annotate_with(&span, 0, "no attributes", NULL, 3);
	blkin_span_finish(&span);
	assert_has(otlp,
		"{\"key\":\"texts\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":\"a,b\"},"
		"{\"stringValue\":\"\"},{\"stringValue\":\"c\\nd\"},{\"stringValue\":\"\"},"
		"{\"stringValue\":\"\\\\c\"}]}}}");
	assert_has(otlp, "{\"key\":\"ints\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"},"
			 "{\"intValue\":\"-9223372036854775808\"}]}}}");
	assert_has(otlp, "{\"key\":\"doubles\",\"value\":{\"arrayValue\":{\"values\":[{\"doubleValue\":0.5},"
			 "{\"stringValue\":\"Infinity\"}]}}}");
	assert_has(otlp, "{\"key\":\"bools\",\"value\":{\"arrayValue\":{\"values\":[{\"boolValue\":true},"
			 "{\"boolValue\":false}]}}}");
	assert_has(otlp, "{\"key\":\"none\",\"value\":{\"arrayValue\":{");
	assert_has(zipkin, "\"ints\":\"[1,-9223372036854775808]\"");
	ck_assert_ptr_null(strstr(otlp->str, "\"null\""));
}
END_TEST

START_TEST(test_status)
{
	const struct blkin_endpoint peer = {"10.0.0.2", 443, "peer"};
	struct blkin_span span;

	start(&span);
	blkin_span_remote(&span, &peer);
	blkin_span_trace_state(&span, "vendor=x");
	blkin_span_status(&span, BLKIN_STATUS_OK, NULL);
	blkin_span_status(&span, BLKIN_STATUS_ERROR, "it\nbroke");
	blkin_span_finish(&span);
	assert_has(otlp, "\"traceState\":\"vendor=x\"");
	assert_has(otlp, "\"status\":{\"message\":\"it\\nbroke\",\"code\":2}");
	assert_has(otlp, "{\"key\":\"peer.service\",\"value\":{\"stringValue\":\"peer\"}}");
	assert_has(otlp, "{\"key\":\"client.address\",\"value\":{\"stringValue\":\"10.0.0.2\"}}");
	assert_has(otlp, "{\"key\":\"client.port\",\"value\":{\"intValue\":\"443\"}}");
	assert_has(zipkin, "\"error\":\"it\\nbroke\"");
	g_string_truncate(otlp, 0);
	start(&span);
	blkin_span_status(&span, BLKIN_STATUS_OK, NULL);
	blkin_span_finish(&span);
	assert_has(otlp, "\"status\":{\"code\":1}");
	g_string_truncate(otlp, 0);
	start(&span); /* the tag is the status of one that also has a link */
	blkin_span_link(&span, &own, NULL, 0);
	blkin_span_error(&span, "why");
	blkin_span_finish(&span);
	assert_has(otlp, "\"status\":{\"message\":\"why\",\"code\":2}");
	ck_assert(!strstr(otlp->str, "\"key\":\"error\""));
	g_string_truncate(otlp, 0);
	g_string_truncate(zipkin, 0);
	start(&span); /* a status outranks it, and in each format */
	blkin_span_status(&span, BLKIN_STATUS_OK, NULL);
	blkin_span_error(&span, "late");
	blkin_span_finish(&span);
	assert_has(otlp, "\"status\":{\"code\":1}");
	assert_has(zipkin, "\"otel.status_code\":\"OK\"");
	ck_assert(!strstr(otlp->str, "late") && !strstr(zipkin->str, "late"));
}
END_TEST

/* Fills a span with more than its event holds; returns how many pieces that takes. */
static int record_much(int last)
{
	char value[101] = "", key[16];
	const struct blkin_tag tag = BLKIN_TAG("of", value);
	struct blkin_span span;

	memset(value, 'x', 100);
	start(&span);
	blkin_span_tag(&span, "old", "tag");
	for (int i = 0; i < last; i++) {
		snprintf(key, sizeof(key), "event%d", i);
		blkin_span_annotate_with(&span, span.record.start + 1, key, &tag, 1);
		blkin_span_link(&span, &own, &tag, 1);
	}
	blkin_span_annotate_at(&span, span.record.start + 1, "old annotation");
	blkin_span_finish(&span);
	return pieces;
}

static size_t count_of(const GString *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text->str; (at = strstr(at, part)); at++)
		count++;
	return count;
}

START_TEST(test_what_does_not_fit)
{
	ck_assert_int_gt(record_much(20), 5);
	ck_assert_uint_eq(count_of(otlp, "\"name\":\"event"), 20);
	ck_assert_uint_eq(count_of(otlp, "{\"key\":\"of\",\"value\":{\"stringValue\":\"xxx"), 40);
	ck_assert_uint_eq(count_of(otlp, "{\"traceId\":\"00000000000000010000000000000002\""), 21);
	assert_has(otlp, "{\"key\":\"old\",\"value\":{\"stringValue\":\"tag\"}}");
	assert_has(otlp, "old annotation");
	ck_assert(!strstr(otlp->str, "blkin.truncated"));
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 0);
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], pieces + 1);
	ck_assert_int_eq(rows.row[SPANS_MADE], 1);
}
END_TEST

/* Whichever piece is lost: the span says so, and what is there is whole, and where it belongs. */
START_TEST(test_lost_piece)
{
	char whole[200] = "{\"key\":\"of\",\"value\":{\"stringValue\":\"";
	int all = record_much(20);

	memset(whole + strlen(whole), 'x', 100);
	strcat(whole, "\"}}");
	for (int i = 1; i <= all; i++) {
		teardown();
		setup();
		lost = i;
		lost_count = 1;
		record_much(20);
		assert_has(otlp, "blkin.truncated");
		assert_has(otlp, "1 of ");
		ck_assert_uint_lt(count_of(otlp, "\"name\":\"event") + count_of(otlp, "\"key\":\"of\""), 60);
		ck_assert_uint_ge(count_of(otlp, "\"name\":\"event"), 16);
		ck_assert_uint_eq(count_of(otlp, "\"key\":\"of\""), count_of(otlp, whole));
		ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
	}
}
END_TEST

/* Annotations and links, each with an attribute that says which one's it is. */
static void record_named(int padding)
{
	struct blkin_context linked = own;
	char name[8], value[200];
	const struct blkin_tag tag = BLKIN_TAG("of", value);
	struct blkin_span span;

	start(&span);
	for (int i = 10; i < 20; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		snprintf(value, sizeof(value), "%s %0*d", name, padding, 0);
		blkin_span_annotate_with(&span, span.record.start + 1, name, &tag, 1);
		linked.span_id = (uint64_t)i;
		snprintf(value, sizeof(value), "l%d %0*d", i, padding, 0);
		blkin_span_link(&span, &linked, &tag, 1);
	}
	blkin_span_finish(&span);
}

/* Each has its own attribute, or none. */
static void assert_their_own(int padding)
{
	for (int i = 10; i < 20; i++) {
		g_autofree char *name = g_strdup_printf("\"name\":\"e%d\"", i);
		g_autofree char *id = g_strdup_printf("\"spanId\":\"%016x\"", (unsigned)i);
		const struct {
			char letter;
			const char *of;
		} each[] = {{'e', name}, {'l', id}};

		for (int k = 0; k < 2; k++) {
			g_autofree char *any = g_strdup_printf("%s,\"attributes\":", each[k].of);
			g_autofree char *its = g_strdup_printf(
				"%s[{\"key\":\"of\",\"value\":{\"stringValue\":\"%c%d %0*d\"}}]", any,
				each[k].letter, i, padding, 0);

			ck_assert_msg(count_of(otlp, any) == count_of(otlp, its), "%s is not\n%s\nin %s", any,
				its, otlp->str);
		}
	}
}

/* Whichever neighbours are lost, or the last ones: nothing is said of what it does not belong to. */
START_TEST(test_lost_neighbours)
{
	for (int padding = 40; padding < 150; padding++) {
		int all = 2;

		for (int first = 0; first <= all; first++) {
			teardown();
			setup();
			lost = first;
			lost_count = first ? 1 + padding % 3 : 0;
			record_named(padding);
			all = pieces;
			assert_their_own(padding);
			ck_assert_int_eq(rows.row[SPANS_TRUNCATED], first > 0);
		}
		ck_assert_int_gt(all, 4);
	}
}
END_TEST

static void record_value(size_t size)
{
	char *value = g_malloc0(size + 1);
	struct blkin_span span;

	memset(value, '\n', size);
	start(&span);
	blkin_span_tag(&span, "first", "1");
	blkin_span_tag_texts(&span, "long", (const char *const *)&value, 1);
	blkin_span_tag(&span, "last", "2");
	blkin_span_finish(&span);
	g_free(value);
}

/* Of any length, also where the pieces' ends are. */
START_TEST(test_long_values)
{
	for (size_t size = 200; size < 1300; size += size < 400 ? 1 : 97) {
		g_string_truncate(otlp, 0);
		pieces = 0;
		record_value(size);
		ck_assert_int_eq(pieces > 0, size > 227);
		ck_assert_uint_eq(count_of(otlp, "\\n"), size);
		assert_has(otlp, "{\"key\":\"first\",\"value\":{\"stringValue\":\"1\"}}");
		assert_has(otlp, "{\"key\":\"last\",\"value\":{\"stringValue\":\"2\"}}");
	}
}
END_TEST

/* Longer than the agent keeps of a span at a time: what is left of it says that it is not all. */
START_TEST(test_line_without_an_end)
{
	record_value((size_t)3 * 1024 * 1024);
	ck_assert_int_gt(rows.row[SPANS_MADE], 1);
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], rows.row[SPANS_MADE]);
	ck_assert_uint_eq(count_of(otlp, "{\"key\":\"blkin.truncated\""), (size_t)rows.row[SPANS_MADE]);
	assert_has(otlp, "{\"key\":\"first\",\"value\":{\"stringValue\":\"1\"}}");
	assert_has(otlp, "{\"key\":\"last\",\"value\":{\"stringValue\":\"2\"}}");
	ck_assert(!strstr(otlp->str, "\"key\":\"long\""));
}
END_TEST

static void take_piece(uint64_t span, int number, char joint, const char *lines)
{
	const struct blkin_span_record record = {2, span, 0, CLOCK0, "op", "local 0 - other"};
	g_autofree char *key = g_strdup_printf("#~%d%c%" PRIu64, number, joint, CLOCK0);

	take_tag(&record, key, lines);
}

/* Two write pieces under the same ids and numbers: those of one are left out, which is said. */
START_TEST(test_pieces_of_the_same_number)
{
	take_piece(3, 1, '+', "k=v\n");
	take_piece(3, 1, '+', "k=v\n");
	assembler_flush(assembler);
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 0);
	take_piece(3, 1, '+', "k=v\n");
	take_piece(3, 1, '+', "k=w\n");
	assembler_flush(assembler);
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
	assert_has(otlp, "{\"key\":\"blkin.truncated\"");
}
END_TEST

/* Nothing comes of such without their span, but that they were there. */
START_TEST(test_pieces_that_are_none)
{
	take_piece(3, 1, '+', "k=v\nno line of a span\n");
	assembler_flush(assembler);
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
	assert_has(otlp, "{\"key\":\"blkin.truncated\"");
}
END_TEST

/* What is missing in a span concerns no other that is read after it. */
START_TEST(test_gap_is_of_its_span)
{
	const struct blkin_tag tag = BLKIN_TAG("of", "it");
	struct blkin_span span;

	take_piece(9, 1, '+', "+1 a\n+2 b\n");
	take_piece(9, 3, '+', "+3 c\n");
	assembler_flush(assembler);
	g_string_truncate(otlp, 0);
	start(&span);
	blkin_span_annotate_with(&span, 0, "event", &tag, 1);
	blkin_span_finish(&span);
	assert_has(otlp, "\"name\":\"event\",\"attributes\":[{\"key\":\"of\"");
}
END_TEST

/* The program died before the span ended. */
START_TEST(test_pieces_without_their_span)
{
	char value[600] = "";
	const struct blkin_tag tag = BLKIN_TAG("of", value);
	struct blkin_span span;

	memset(value, 'x', sizeof(value) - 1);
	start(&span);
	blkin_span_annotate_with(&span, span.record.start + 7, "event", &tag, 1);
	assembler_flush(assembler);
	assert_has(otlp, "\"timeUnixNano\":\"1699999999995000007\",\"name\":\"event\",\"attributes\":[{"
			 "\"key\":\"of\"");
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 1);
	blkin_span_finish(&span);
	ck_assert(!strstr(otlp->str, "blkin.truncated"));
}
END_TEST

/* A span that an SDK has made */

static void take_data(const char *data)
{
	const struct blkin_span_record record = {2, 3, 4, CLOCK0 - (uint64_t)(5 * MS), "op", data};

	take_span(&record);
}

START_TEST(test_sdk)
{
	take_data(
		"client,high=0000000000000001 0 - short\n"
		"error=no status\n#iserver.port=443\nserver.address=10.0.0.9\n"
		"+3 "
		"event\n#+n=\n#!time=1600000000000000001\n#!sdk=769\n#!state=a=b\n#!scope=lib\n#!version=1\n"
		"#!scope-schema=s\n#%tof=scope\n#!resource-schema=r\n#:tservice.name=long name\n#:[iids=1,\n"
		"#!dropped=1,2,3\n!finish +5\n&7=prog\n");
	assert_has(otlp,
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":["
		"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"long name\"}},"
		"{\"key\":\"ids\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"}]}}}]}");
	assert_has(otlp, "\"scope\":{\"name\":\"lib\",\"version\":\"1\",\"attributes\":[{\"key\":\"of\"");
	assert_has(otlp, "\"traceState\":\"a=b\"");
	assert_has(otlp,
		"\"startTimeUnixNano\":\"1600000000000000001\",\"endTimeUnixNano\":\"1600000000000000006\"");
	assert_has(otlp, "\"events\":[{\"timeUnixNano\":\"1600000000000000004\",\"name\":\"event\"");
	assert_has(otlp, "{\"key\":\"error\",\"value\":{\"stringValue\":\"no status\"}}");
	assert_has(otlp, "\"flags\":769");
	assert_has(otlp, "\"schemaUrl\":\"r\"");
	assert_has(otlp, "\"schemaUrl\":\"s\"");
	assert_has(otlp, "\"droppedAttributesCount\":1");
	ck_assert(!strstr(otlp->str, "\"status\""));
	assert_has(zipkin, "\"localEndpoint\":{\"serviceName\":\"long name\"}");
	assert_has(zipkin, "\"remoteEndpoint\":{\"ipv4\":\"10.0.0.9\",\"port\":443}");
}
END_TEST

/* As an SDK's program is told: a time that is not set is 1970, and one before that is written as one far in
 * the future. */
START_TEST(test_far_away)
{
	take_data("client 0 - svc\nk=v\n-1699999999995000000 at zero\n#+tof=zero\n"
		  "#@-1699999999995000000=zero\\n\n+99999999999999999999 late\n#@+16746744073709551615=last\n"
		  "#!status=error\n#!time=1699999999995000000\n#!sdk=1\n!finish +5\n");
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 1);
	assert_has(otlp, "{\"timeUnixNano\":\"0\",\"name\":\"at zero\",\"attributes\":[{\"key\":\"of\"");
	assert_has(otlp, "{\"timeUnixNano\":\"0\",\"name\":\"zero\\n\"},"
			 "{\"timeUnixNano\":\"5699999999995000000\",\"name\":\"late\"},"
			 "{\"timeUnixNano\":\"5699999999995000000\",\"name\":\"last\"}]");
	assert_has(otlp, "\"endTimeUnixNano\":\"1699999999995000005\"");
	take_data("client 0 - svc\n#!time=1\n#!sdk=1\n!finish +3999999999999999999\n");
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 2);
	take_data("client 0 - svc\n#!time=1\n#!sdk=1\n!finish +4000000000000000000\n");
	take_data("client 0 - svc\n#!time=1\n#!sdk=1\n!finish +99999999999999999999\n");
	ck_assert_int_eq(rows.row[EVENTS_REJECTED_TIME], 2);
}
END_TEST

/* What would take the agent far more memory than it took the program. */
START_TEST(test_more_lines_than_a_span_has)
{
	GString *lines = g_string_new("local 0 - other\n#!sdk=1\n");
	const struct blkin_span_record record = {2, 9, 0, CLOCK0, "op", "local 0 - other\n!pieces 1\n"};

	for (int i = 0; i < 70000; i++)
		g_string_append(lines, "=\n");
	take_data(lines->str);
	ck_assert_int_eq(rows.row[EVENTS_REJECTED_MALFORMED], 1);
	take_piece(9, 1, '+', strchr(lines->str, '\n') + 1);
	take_span(&record);
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
	assert_has(otlp, "1 of 1 annotations and tags");
	g_string_truncate(lines, 24 + 2 * 60000);
	take_data(lines->str);
	ck_assert_int_eq(rows.row[EVENTS_REJECTED_MALFORMED], 1);
	g_string_free(lines, TRUE);
}
END_TEST

/* As a tag whose key has the mark: nothing is lost, and nothing is refused. */
START_TEST(test_not_as_the_mark_says)
{
	static const char *const lines[] = {"#\\=", "#\\q=1", "#@5=x", "#@+=x", "#@+99999999999999999999x=1",
		"#+=", "#>=", "#>0=", "#>00000000000000000000000000000001-0000000000000002-0000000g=",
		"#>00000000000000000000000000000001-000000000000000A-00000001=", "#!=", "#!what=x",
		"#!time=", "#!time=0", "#!time=-1", "#!time=99999999999999999999",
		"#!time=9223372036854775807", "#!status=", "#!status=bad x", "#!dropped=1", "#!dropped=1,2,",
		"#!dropped=1,2,4294967296", "#!sdk=", "#!sdk=4294967296", "#:=", "#%[=", "#[=", "#1=2",
		"#=", "#~1=x"};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *data = g_strdup_printf("client 0 - svc\nk=v\n%s\n", lines[i]);

		g_string_truncate(zipkin, 0);
		take_data(data);
		ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], (int64_t)i + 1);
		assert_has(zipkin, "\"k\":\"v\"");
		assert_has(zipkin, lines[i][1] == '\\' ? "\"#\\\\" : "\"#");
	}
	take_data("client 0 - svc\n#!no equals\n");
	ck_assert_int_eq(rows.row[EVENTS_REJECTED_MALFORMED], 1);
}
END_TEST

/* Attributes of what is not there. */
START_TEST(test_attributes_of_nothing)
{
	take_data("client 0 - svc\n#+tk=v\n#*tk=v\n+1 x\n#+tk=w\n");
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 1);
	ck_assert_uint_eq(count_of(otlp, "\"key\":\"k\""), 1);
	assert_has(otlp, "\"stringValue\":\"w\"");
	assert_has(otlp, "{\"key\":\"blkin.truncated\"");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
}
END_TEST

/* A text that another thread makes shorter must not bring a NUL into the span's own. */
START_TEST(test_changed_meanwhile)
{
	struct blkin_span span;
	char text[20];

	for (size_t at = 0; at < sizeof(text); at++) {
		memset(text, 't', sizeof(text));
		text[at] = '\0';
		start(&span);
		blkin_span_put_bytes_(&span, text, sizeof(text));
		ck_assert_ptr_null(memchr(span.text + span.lines, '\0', sizeof(text)));
		ck_assert_int_eq(span.text[span.lines + at], ' ');
		blkin_span_finish(&span);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("details");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_given_ids_and_times);
	tcase_add_test(cases, test_nothing_without_ids);
	tcase_add_test(cases, test_wall_clock);
	tcase_add_test(cases, test_links_and_annotations);
	tcase_add_test(cases, test_lists);
	tcase_add_test(cases, test_status);
	tcase_add_test(cases, test_what_does_not_fit);
	tcase_add_test(cases, test_lost_piece);
	tcase_add_test(cases, test_lost_neighbours);
	tcase_add_test(cases, test_long_values);
	tcase_add_test(cases, test_line_without_an_end);
	tcase_add_test(cases, test_pieces_of_the_same_number);
	tcase_add_test(cases, test_more_lines_than_a_span_has);
	tcase_add_test(cases, test_pieces_that_are_none);
	tcase_add_test(cases, test_gap_is_of_its_span);
	tcase_add_test(cases, test_pieces_without_their_span);
	tcase_add_test(cases, test_sdk);
	tcase_add_test(cases, test_far_away);
	tcase_add_test(cases, test_not_as_the_mark_says);
	tcase_add_test(cases, test_attributes_of_nothing);
	tcase_add_test(cases, test_changed_meanwhile);
	return run_cases("details", cases);
}
