/* SPDX-License-Identifier: BSD-2-Clause */
/* Scribe's messages as items: from them to calls, lines, log records and topics. And the names of lanes. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "core/kind.h"
#include "encode/messagejson.h"
#include "encode/messagelog.h"
#include "encode/otlp.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"
#include "net/scribe.h"
#include "net/scribecall.h"
#include "output/file/filenames.h"
#include "output/kafka/items.h"
#include "output/spool/spoolname.h"
#include "output/uplink/payloads.h"
#include "queue/encoding.h"
#include "run.h"

static struct buffer out, item;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&item);
	out = item = (struct buffer){0};
}

static struct message message_of(const char *category, size_t category_size, const char *payload, size_t size)
{
	return (struct message){.time = INT64_C(1700000000123456789),
		.category = (const uint8_t *)category,
		.category_size = (uint32_t)category_size,
		.payload = (const uint8_t *)payload,
		.payload_size = (uint32_t)size};
}

static const struct {
	const char *category, *payload;
	size_t category_size, size;
	const char *json; /* behind the time */
} cases[] = {
	{"app", "words", 3, 5, "\"category\":\"app\",\"message\":\"words\"}"},
	{"", "", 0, 0, "\"category\":\"\",\"message\":\"\"}"},
	{"a\"\n", "{\"x\":1}\n", 3, 8, "\"category\":\"a\\\"\\n\",\"message\":\"{\\\"x\\\":1}\\n\"}"},
	{"\xff", "\xc3\xa4", 1, 2, "\"category\":\"\xef\xbf\xbd\",\"message\":\"\xc3\xa4\"}"},
	{"app", "\0\xff", 3, 2, "\"category\":\"app\",\"message_base64\":\"AP8=\"}"},
};

START_TEST(read_back)
{
	struct message message = message_of(cases[_i].category, cases[_i].category_size, cases[_i].payload,
			       cases[_i].size),
		       again;

	message_put(&item, &message);
	ck_assert_uint_eq(item.size, MESSAGE_HEAD + cases[_i].category_size + cases[_i].size);
	ck_assert(message_read(item.data, item.size, &again));
	ck_assert_int_eq(again.time, message.time);
	ck_assert_uint_eq(again.category_size, message.category_size);
	ck_assert_uint_eq(again.payload_size, message.payload_size);
	ck_assert(!memcmp(again.category, message.category, message.category_size));
	ck_assert(!memcmp(again.payload, message.payload, message.payload_size));
	for (size_t size = 0; size < MESSAGE_HEAD + message.category_size; size++) {
		ck_assert(!message_read(item.data, size, &again));
		ck_assert_uint_eq(again.category_size + again.payload_size, 0);
	}
}
END_TEST

START_TEST(read_back_with_a_trail)
{
	struct message message = message_of(cases[_i].category, cases[_i].category_size, cases[_i].payload,
			       cases[_i].size),
		       again;

	message.trail = (struct trail){.hops = 7, .stamp = 0x1122334455667788};
	message_put(&item, &message);
	ck_assert(message_read(item.data, item.size, &again));
	ck_assert_uint_eq(again.trail.hops, 7);
	ck_assert_uint_eq(again.trail.stamp, message.trail.stamp);
	ck_assert_uint_eq(again.category_size, message.category_size);
	ck_assert(!memcmp(again.category, message.category, message.category_size));
	ck_assert_uint_eq(again.payload_size, message.payload_size);
	ck_assert(!memcmp(again.payload, message.payload, message.payload_size));
	for (size_t size = 0; size < MESSAGE_HEAD + MESSAGE_TRAIL + message.category_size; size++)
		ck_assert(!message_read(item.data, size, &again));
}
END_TEST

START_TEST(as_json)
{
	struct message message =
		message_of(cases[_i].category, cases[_i].category_size, cases[_i].payload, cases[_i].size);
	g_autofree char *wanted =
		g_strconcat("{\"timestamp\":\"2023-11-14T22:13:20.123456789Z\",", cases[_i].json, NULL);

	messagejson_put(&out, &message);
	ck_assert_uint_eq(out.size, strlen(wanted));
	ck_assert_mem_eq(out.data, wanted, out.size);
}
END_TEST

/* Field @number of the struct in @in, which has to be there once. */
static struct protobuf_field field_of(const uint8_t *in, size_t size, uint32_t number)
{
	struct protobuf_reader reader = protobuf_read(in, size);
	struct protobuf_field field, found = {0};

	while (protobuf_next(&reader, &field))
		if (field.number == number) {
			ck_assert_uint_eq(found.number, 0);
			found = field;
		}
	ck_assert(!reader.failed && found.number);
	return found;
}

static void assert_record(const uint8_t *record, size_t size, const struct message *message, bool text)
{
	struct protobuf_field body = field_of(record, size, LOG_BODY),
			      attribute = field_of(record, size, LOG_ATTRIBUTES), key;

	ck_assert_uint_eq(field_of(record, size, LOG_OBSERVED_TIME).value, (uint64_t)message->time);
	body = field_of(body.bytes, body.size, text ? ANYVALUE_STRING : ANYVALUE_BYTES);
	ck_assert_uint_eq(body.size, message->payload_size);
	ck_assert(!memcmp(body.bytes, message->payload, body.size));
	key = field_of(attribute.bytes, attribute.size, KEYVALUE_KEY);
	ck_assert_uint_eq(key.size, strlen(MESSAGELOG_CATEGORY));
	ck_assert_mem_eq(key.bytes, MESSAGELOG_CATEGORY, key.size);
}

START_TEST(as_a_record)
{
	struct message message =
		message_of(cases[_i].category, cases[_i].category_size, cases[_i].payload, cases[_i].size);

	messagelog_put(&out, &message);
	ck_assert_uint_gt(out.size, OTLP_ITEM_HEAD);
	assert_record(out.data + OTLP_ITEM_HEAD, out.size - OTLP_ITEM_HEAD, &message,
		!strstr(cases[_i].json, "base64"));
}
END_TEST

/* The payload of requests is that of spans, but for what its innermost parts are. */
START_TEST(as_a_request)
{
	struct payload *payload = payload_create_logs("node");
	struct message message = message_of("app", 3, "words", 5);
	struct protobuf_field field;
	struct run run;
	uint32_t size;

	message_put(&item, &message);
	size = (uint32_t)item.size;
	run = (struct run){item.data, &size, 1, item.size};
	for (int turn = 0; turn < 2; turn++) {
		out.size = 0;
		payload_append(payload, &run, &out);
		field = field_of(out.data, out.size, REQUEST_RESOURCE_SPANS);
		field = field_of(field.bytes, field.size, RESOURCE_SPANS_SCOPE_SPANS);
		field = field_of(field.bytes, field.size, SCOPE_SPANS_SPANS);
		assert_record(field.bytes, field.size, &message, true);
	}
	payload->destroy(payload);
}
END_TEST

static void assert_entry(
	struct scribecall *call, const char *category, size_t category_size, const char *payload, size_t size)
{
	struct scribecall_entry entry;

	scribecall_next(call, &entry);
	ck_assert_uint_eq(entry.category_size, category_size);
	ck_assert_uint_eq(entry.message_size, size);
	ck_assert(!memcmp(entry.category, category, category_size));
	ck_assert(!memcmp(entry.message, payload, size));
}

static void put_call(struct wire *wire, const struct run *run, struct scribecall *call)
{
	char why[200];

	wire->put_call(wire, run, 7, &out);
	ck_assert(scribecall_read(call, out.data + 4, out.size - 4, why, sizeof(why)));
	ck_assert_uint_eq(call->count, run->count);
}

/* Each with its own category, and as it came; one that is damaged is empty. */
START_TEST(in_a_call)
{
	struct wire *wire = scribe_create_messages();
	const size_t count = G_N_ELEMENTS(cases);
	uint32_t sizes[G_N_ELEMENTS(cases) + 1];
	struct scribecall call;
	struct run run;

	for (size_t i = 0; i < count; i++) {
		struct message message = message_of(
			cases[i].category, cases[i].category_size, cases[i].payload, cases[i].size);
		size_t before = item.size;

		message_put(&item, &message);
		sizes[i] = (uint32_t)(item.size - before);
	}
	buffer_put(&item, "damaged", 7);
	sizes[count] = 7;
	run = (struct run){item.data, sizes, (uint32_t)count + 1, item.size};
	put_call(wire, &run, &call);
	for (size_t i = 0; i < count; i++)
		assert_entry(
			&call, cases[i].category, cases[i].category_size, cases[i].payload, cases[i].size);
	assert_entry(&call, "", 0, "", 0);
	wire->destroy(wire);
}
END_TEST

START_TEST(events_in_a_call)
{
	static const uint32_t sizes[] = {7, 2};
	const struct run run = {(const uint8_t *)"{\"a\":1}{}", sizes, 2, 9};
	struct wire *wire = scribe_create_plain("LTTng");
	struct scribecall call;

	put_call(wire, &run, &call);
	assert_entry(&call, "LTTng", 5, "{\"a\":1}", 7);
	assert_entry(&call, "LTTng", 5, "{}", 2);
	wire->destroy(wire);
}
END_TEST

static void assert_none(const struct batch *batch, enum batch_format format)
{
	struct batch *encoded = encode_batch(batch, format, NULL);

	ck_assert_uint_eq(encoded->count, batch->count);
	ck_assert_uint_eq(encoded->spans.size, 0);
	batch_unref(encoded);
}

/* What waited for a server of another type becomes a record; there is no way back. */
START_TEST(events_change_their_format)
{
	struct batch *events = batch_create(BATCH_EVENT_JSON, 0, 0), *records;
	struct message message = message_of("LTTng", 5, "{\"a\":1}", 7);

	batch_add(events, message.payload, message.payload_size, message.time);
	records = encode_batch(events, BATCH_EVENT_OTLP, NULL);
	ck_assert_uint_eq(records->format, BATCH_EVENT_OTLP);
	ck_assert_uint_eq(records->count, 1);
	assert_record(
		records->spans.data + OTLP_ITEM_HEAD, records->spans.size - OTLP_ITEM_HEAD, &message, true);
	assert_none(records, BATCH_EVENT_JSON);
	assert_none(events, BATCH_MESSAGES);
	assert_none(events, BATCH_ZIPKIN_SPANS);
	batch_unref(events);
	batch_unref(records);
}
END_TEST

START_TEST(topics)
{
	static const char *const names[][2] = {{"app", "app"}, {"a.b_c-D9", "a.b_c-D9"}, {"", "_"},
		{".", "_"}, {"..", "_"}, {"...", "..."}, {"a b/\xc3\xa4\n", "a_b____"}};
	GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	char name[TOPIC_SIZE], longest[400];

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		topic_name(name, (const uint8_t *)names[i][0], strlen(names[i][0]));
		ck_assert_str_eq(name, names[i][1]);
	}
	memset(longest, 'x', sizeof(longest));
	topic_name(name, (const uint8_t *)longest, sizeof(longest));
	ck_assert_uint_eq(strlen(name), 249);
	for (int i = 0; i < TOPICS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ck_assert(topic_admit(set, name));
	}
	ck_assert(!topic_admit(set, "more"));
	ck_assert(topic_admit(set, "7"));
	g_hash_table_unref(set);
}
END_TEST

START_TEST(lanes)
{
	static const struct {
		const char *lane, *output, *file;
		enum kind kind;
	} known[] = {{"default", "default", "spool.db", KIND_SPANS},
		{"default:events", "default", "spool.events.db", KIND_EVENTS},
		{"a-b_1", "a-b_1", "spool-a-b_1.db", KIND_SPANS},
		{"a:messages", "a", "spool-a.messages.db", KIND_MESSAGES},
		{"events", "events", "spool-events.db", KIND_SPANS}};
	static const char *const strange[] = {"spool.spans.db", "spool-a.spans.db", "spool-default.events.db",
		"spool-.events.db", "spool-a.b.db", "spool-a.events.events.db", "spool-a:events.db",
		"spoolx.db", "spool.events.tally", "spool..db"};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		g_autofree char *name = lane_name(known[i].output, known[i].kind),
				*path = spoolname_spool("/x", name), *back = spoolname_output(known[i].file);
		size_t size;

		ck_assert_str_eq(name, known[i].lane);
		ck_assert_int_eq(lane_kind(name, &size), known[i].kind);
		ck_assert_uint_eq(size, strlen(known[i].output));
		ck_assert(spoolname_is_good(name));
		ck_assert_str_eq(path + 3, known[i].file);
		ck_assert_str_eq(back, name);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(strange); i++)
		ck_assert_msg(!spoolname_output(strange[i]), "%s", strange[i]);
	ck_assert(!spoolname_is_good("a:spans") && !spoolname_is_good("a:") && !spoolname_is_good(":events"));
	ck_assert(!spoolname_is_good("a:events:events") && !spoolname_is_good("a.events"));
}
END_TEST

START_TEST(file_names)
{
	static const struct {
		const char *text;
		enum kind kind;
	} known[] = {{"zipkin-20261123T012643Z-1.jsonl", KIND_SPANS},
		{"otlp-20261123T012643Z-2.jsonl", KIND_SPANS},
		{".events-20261123T012643Z-3.jsonl.part", KIND_EVENTS},
		{"messages-20261123T012643Z-4.jsonl", KIND_MESSAGES}};
	static const char *const strange[] = {"event-20261123T012643Z-1.jsonl", "events-1.jsonl", "messages-",
		"", ".", "zipkinevents-20261123T012643Z-1.jsonl", "messages-20261123T012643Z-04.jsonl"};
	struct filename name;
	char again[FILENAMES_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		ck_assert(filename_parse(known[i].text, &name));
		ck_assert_int_eq(filelines_kind(name.lines), known[i].kind);
		filename_print(&name, again);
		ck_assert_str_eq(again, known[i].text);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(strange); i++)
		ck_assert_msg(!filename_parse(strange[i], &name), "%s", strange[i]);
}
END_TEST

START_TEST(words)
{
	g_autofree char *spans = kind_text(KIND_SPANS, "Spans: a span"),
			*events = kind_text(KIND_EVENTS, "Spans: span"),
			*messages = kind_text(KIND_MESSAGES, "blkin_agent_spans_sent_total");

	ck_assert_str_eq(spans, "Spans: a span");
	ck_assert_str_eq(events, "Events: event");
	ck_assert_str_eq(messages, "blkin_agent_messages_sent_total");
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("messages");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_loop_test(tests, read_back, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, read_back_with_a_trail, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, as_json, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, as_a_record, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, as_a_request);
	tcase_add_test(tests, in_a_call);
	tcase_add_test(tests, events_in_a_call);
	tcase_add_test(tests, events_change_their_format);
	tcase_add_test(tests, topics);
	tcase_add_test(tests, lanes);
	tcase_add_test(tests, file_names);
	tcase_add_test(tests, words);
	return run_cases("messages", tests);
}
