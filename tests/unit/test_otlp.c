/* SPDX-License-Identifier: BSD-2-Clause */
/* OTLP against the generated code, byte for byte; and read back. */
#define _GNU_SOURCE /* memmem */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/pack.h"
#include "encode/otlp.h"
#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "net/httppost.h"
#include "net/otlpreply.h"
#include "net/otlprequest.h"
#include "otlp.pb-c.h"
#include "otlporacle.h"
#include "queue/encoding.h"
#include "randomspan.h"
#include "reader/assemble/tagtype.h"
#include "run.h"
#include "texts.h"

enum { SPANS = 40 };

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

/* The Span of an item. */
static struct unpacker span_of(const struct buffer *item)
{
	struct unpacker from = unpacker_of(item->data, item->size);
	uint32_t head = unpack_u32(&from);

	return unpacker_of(item->data + head, item->size - head);
}

static void assert_as_generated(const struct span *span)
{
	GByteArray *expected = otlporacle_span(span);
	struct unpacker made;

	out.size = 0;
	ck_assert_int_eq(otlp_encode(&out, span), 0);
	made = span_of(&out);
	ck_assert_uint_eq((size_t)(made.end - made.at), expected->len);
	ck_assert_mem_eq(made.at, expected->data, expected->len);
	g_byte_array_unref(expected);
}

START_TEST(spans_as_generated)
{
	struct random_spans *spans = random_spans_create(11);

	for (int round = 0; round < 3000; round++) {
		struct span span = *random_span(spans, true);

		span.timestamp += round % 1000;
		assert_as_generated(&span);
	}
	random_spans_free(spans);
}
END_TEST

START_TEST(an_error_is_the_status)
{
	const char *const reasons[] = {"true", "", "no such object"};
	struct span span = {.trace_id = 1,
		.id = 2,
		.timestamp = 1700000000123456789,
		.duration = 1001,
		.name = literal("get")};

	for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
		struct tag tags[] = {{literal("error"), literal(reasons[i]), TAG_TEXT},
			{literal("n"), literal("-1"), TAG_INT}};
		struct span seen;

		span.tags = tags;
		span.tag_count = 2;
		assert_as_generated(&span);
		ck_assert(spanread_otlp(&seen, out.data, out.size, &memory));
		ck_assert_uint_eq(seen.tag_count, 2);
		assert_text(seen.tags[1].key, literal("error"));
		assert_text(seen.tags[1].value, literal(*reasons[i] ? reasons[i] : "true"));
	}
}
END_TEST

/* A tag of the program's takes the place of ours. */
START_TEST(no_key_comes_twice)
{
	struct tag tags[] = {{literal("peer.service"), literal("first"), TAG_TEXT},
		{literal("server.port"), literal("1"), TAG_INT},
		{literal("peer.service"), literal("mine"), TAG_TEXT}};
	struct span span = {.trace_id = 1,
		.id = 2,
		.kind = SPAN_CLIENT,
		.timestamp = 5,
		.tags = tags,
		.tag_count = 3,
		.has_remote = true,
		.remote = {literal("theirs"), {10, 0, 0, 255}, 4, 6800}};
	Otlp__Span *seen;
	struct unpacker made;

	ck_assert_int_eq(otlp_encode(&out, &span), 0);
	made = span_of(&out);
	seen = otlp__span__unpack(NULL, (size_t)(made.end - made.at), made.at);
	ck_assert_ptr_nonnull(seen);
	ck_assert_uint_eq(seen->n_attributes, 3);
	ck_assert_str_eq(seen->attributes[0]->key, "server.port");
	ck_assert_int_eq(seen->attributes[0]->value->int_value, 1);
	ck_assert_str_eq(seen->attributes[1]->key, "peer.service");
	ck_assert_str_eq(seen->attributes[1]->value->string_value, "mine");
	ck_assert_str_eq(seen->attributes[2]->key, "server.address");
	ck_assert_str_eq(seen->attributes[2]->value->string_value, "10.0.0.255");
	otlp__span__free_unpacked(seen, NULL);
}
END_TEST

/* What is marked as a number, and is none as the header writes them, is a text under the key as it stands. */
START_TEST(marks)
{
	static const struct {
		const char *key, *value, *name;
		enum tag_type type;
	} cases[] = {{"#in", "-5", "n", TAG_INT}, {"#in", "+5", "#in", TAG_TEXT},
		{"#in", " 5", "#in", TAG_TEXT}, {"#in", "18446744073709551615", "n", TAG_TEXT},
		{"#in", "0", "n", TAG_INT}, {"#in", "-", "#in", TAG_TEXT}, {"#in", "", "#in", TAG_TEXT},
		{"#in", "9223372036854775807", "n", TAG_INT}, {"#in", "9223372036854775808", "n", TAG_TEXT},
		{"#in", "-9223372036854775808", "n", TAG_INT},
		{"#in", "-9223372036854775809", "#in", TAG_TEXT},
		{"#in", "99999999999999999999999", "#in", TAG_TEXT}, {"#in", "5x", "#in", TAG_TEXT},
		{"#in", "0x5", "#in", TAG_TEXT}, {"#in", "--5", "#in", TAG_TEXT},
		{"#dn", "1e3", "n", TAG_DOUBLE}, {"#dn", "1e3x", "#dn", TAG_TEXT},
		{"#dn", "1e", "#dn", TAG_TEXT}, {"#dn", "NaN", "n", TAG_TEXT},
		{"#dn", "Infinity", "n", TAG_TEXT}, {"#dn", "-Infinity", "n", TAG_TEXT},
		{"#bn", "true", "n", TAG_BOOL}, {"#bn", "yes", "#bn", TAG_TEXT},
		{"#s#n", "5", "#n", TAG_TEXT}, {"#", "5", "#", TAG_TEXT}, {"n", "5", "n", TAG_TEXT}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tag tag;

		tag_read(&tag, literal(cases[i].key), literal(cases[i].value));

		assert_text(tag.key, literal(cases[i].name));
		assert_text(tag.value, literal(cases[i].value));
		ck_assert_int_eq(tag.type, cases[i].type);
	}
}
END_TEST

/* A number that is not finite is a text, which says so in the words of JSON; servers stumble over others. */
START_TEST(not_finite)
{
	static const struct {
		const char *value, *word;
	} cases[] = {{"nan", "NaN"}, {"-nan", "NaN"}, {"inf", "Infinity"}, {"-inf", "-Infinity"},
		{"1e999", "Infinity"}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct tag tag = {literal("d"), literal(cases[i].value), TAG_DOUBLE};
		struct span span = {.trace_id = 1, .id = 2, .tags = &tag, .tag_count = 1};
		struct unpacker made;
		Otlp__Span *seen;

		out.size = 0;
		ck_assert_int_eq(otlp_encode(&out, &span), 0);
		made = span_of(&out);
		seen = otlp__span__unpack(NULL, (size_t)(made.end - made.at), made.at);
		ck_assert_ptr_nonnull(seen);
		ck_assert_int_eq(seen->attributes[0]->value->value_case, OTLP__ANY_VALUE__VALUE_STRING_VALUE);
		ck_assert_str_eq(seen->attributes[0]->value->string_value, cases[i].word);
		otlp__span__free_unpacked(seen, NULL);
		tag_read(&tag, literal("#dd"), literal(cases[i].value));
		assert_text(tag.key, literal("d"));
		assert_text(tag.value, literal(cases[i].word));
		ck_assert_int_eq(tag.type, TAG_TEXT);
	}
}
END_TEST

/* A classic span's core annotations become its kind. */
START_TEST(classic)
{
	struct annotation annotations[] = {{1000, literal("sr")}, {1500, literal("x")},
		{2000, literal("ss")}},
			  *event = annotations + 1;
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .timestamp = 1000,
			    .duration = 1000,
			    .classic = true,
			    .annotations = annotations,
			    .annotation_count = 3},
		    expected = span;
	GByteArray *bytes;
	struct unpacker made;

	expected.kind = SPAN_SERVER;
	expected.annotations = event;
	expected.annotation_count = 1;
	bytes = otlporacle_span(&expected);
	ck_assert_int_eq(otlp_encode(&out, &span), 0);
	made = span_of(&out);
	ck_assert_uint_eq((size_t)(made.end - made.at), bytes->len);
	ck_assert_mem_eq(made.at, bytes->data, bytes->len);
	g_byte_array_unref(bytes);
}
END_TEST

/* What is written is read back, and written as it was. */
START_TEST(there_and_back)
{
	struct random_spans *spans = random_spans_create(12);

	for (int round = 0; round < 3000; round++) {
		struct span span = *random_span(spans, true), seen;

		span.timestamp += round % 1000;
		out.size = again.size = 0;
		ck_assert_int_eq(otlp_encode(&out, &span), 0);
		ck_assert(spanread_otlp(&seen, out.data, out.size, &memory));
		ck_assert_uint_eq(seen.pid, span.pid);
		assert_text(seen.program, span.program);
		assert_text(seen.local.service, span.local.service);
		ck_assert_int_eq(otlp_encode(&again, &seen), 0);
		ck_assert_uint_eq(out.size, again.size);
		ck_assert_mem_eq(out.data, again.data, out.size);
	}
	random_spans_free(spans);
}
END_TEST

/* Through OTLP, Zipkin's bytes stay what they were. */
START_TEST(zipkin_there_and_back)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0), *otlp, *back;
	struct random_spans *spans = random_spans_create(13);

	for (int i = 0; i < 200; i++) {
		struct span span = *random_span(spans, false);

		span.shared = span.shared && span.kind == SPAN_SERVER; /* as read from Thrift */
		span.has_remote = span.has_remote &&
				  (span.remote.port || span.remote.service.size || span.remote.address_size);
		out.size = 0;
		if (i != 7)
			zipkin_encode(&out, &span);
		batch_add(batch, out.data, out.size, 1000 + i);
	}
	otlp = encode_batch(batch, BATCH_OTLP_SPANS, NULL);
	ck_assert_ptr_nonnull(otlp);
	ck_assert_uint_eq(batch_sizes(otlp)[7], 0);
	back = encode_batch(otlp, BATCH_ZIPKIN_SPANS, NULL);
	ck_assert_ptr_nonnull(back);
	ck_assert_uint_eq(back->spans.size, batch->spans.size);
	ck_assert_mem_eq(back->spans.data, batch->spans.data, batch->spans.size);
	batch_unref(batch);
	batch_unref(otlp);
	batch_unref(back);
	random_spans_free(spans);
}
END_TEST

START_TEST(broken_text)
{
	struct tag bad = {literal("k\xff"), literal("a\xc0\xaf b"), TAG_TEXT},
		   good = {literal("k\uFFFD"), literal("a\uFFFD\uFFFD b"), TAG_TEXT};
	struct annotation said = {7, literal("\xe9t\xe9")}, meant = {7, literal("\uFFFDt\uFFFD")};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .name = literal("\x80"),
			    .local = {.service = literal("s\xed\xa0\x80")},
			    .program = literal("p\xff"),
			    .tags = &bad,
			    .tag_count = 1,
			    .annotations = &said,
			    .annotation_count = 1},
		    repaired = {.trace_id = 1,
			    .id = 2,
			    .name = literal("\uFFFD"),
			    .local = {.service = literal("s\uFFFD\uFFFD\uFFFD")},
			    .program = literal("p\uFFFD"),
			    .tags = &good,
			    .tag_count = 1,
			    .annotations = &meant,
			    .annotation_count = 1};

	ck_assert_int_eq(otlp_encode(&out, &span), 6);
	ck_assert_int_eq(otlp_encode(&again, &repaired), 0);
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
}
END_TEST

START_TEST(too_large)
{
	struct tag tag = {literal("k"), {NULL, 6 * 1024 * 1024}, TAG_TEXT};
	struct span span = {.trace_id = 1, .id = 2, .tags = &tag, .tag_count = 1};

	ck_assert_int_eq(otlp_encode(&out, &span), -1);
	ck_assert_uint_eq(out.size, 0);
}
END_TEST

/* Cut off, it is none, or fewer; with a byte changed it is none, or a span that can be written. */
START_TEST(damaged)
{
	struct random_spans *spans = random_spans_create(14);
	GRand *random = g_rand_new_with_seed(15);
	struct span seen;

	for (int round = 0; round < 40; round++) {
		out.size = 0;
		otlp_encode(&out, random_span(spans, true));
		for (size_t size = 0; size < out.size; size++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, size);

			if (spanread_otlp(&seen, copy, size, &memory))
				zipkin_encode(&again, &seen);
			again.size = 0;
		}
		for (int i = 0; i < 2000; i++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, out.size);

			copy[g_rand_int_range(random, 0, (gint32)out.size)] = (uint8_t)g_rand_int(random);
			again.size = 0;
			if (spanread_otlp(&seen, copy, out.size, &memory))
				otlp_encode(&again, &seen);
		}
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

/* The request */

static struct wire *create_wire(void)
{
	static struct address address;
	const struct httppost_options options = {
		.server = &address, .path = "/v1/traces", .headers_file = ""};

	ck_assert(address_parse("127.0.0.1:4318", &address));
	return httppost_create(&options, otlprequest_create("node-1"), otlpreply_read);
}

static const uint8_t *body_of(const struct buffer *call, size_t *size)
{
	const char *end = g_strstr_len((const char *)call->data, (gssize)call->size, "\r\n\r\n");

	ck_assert_ptr_nonnull(end);
	*size = call->size - (size_t)(end + 4 - (const char *)call->data);
	return (const uint8_t *)end + 4;
}

/* Spans of a few processes, mixed; with each process a resource. */
START_TEST(a_request_as_generated)
{
	struct random_spans *generators[SPANS];
	struct span spans[SPANS];
	struct wire *wire = create_wire();
	GRand *random = g_rand_new_with_seed(16);

	for (int i = 0; i < SPANS; i++)
		generators[i] = random_spans_create((uint32_t)(100 + i));
	for (int round = 0; round < 50; round++) {
		struct buffer call = {0}, items = {0};
		uint32_t sizes[SPANS];
		GByteArray *expected;
		const uint8_t *body;
		size_t size;

		for (int i = 0; i < SPANS; i++) {
			spans[i] = *random_span(generators[i], true);
			if (i && g_rand_int_range(random, 0, 4)) { /* of a process that was there before */
				const struct span *other = &spans[g_rand_int_range(random, 0, i)];

				spans[i].pid = other->pid;
				spans[i].program = other->program;
				spans[i].local = other->local;
			}
			size = items.size;
			ck_assert_int_eq(otlp_encode(&items, &spans[i]), 0);
			sizes[i] = (uint32_t)(items.size - size);
		}
		wire->put_call(wire, &(struct run){items.data, sizes, SPANS, items.size}, 1, &call);
		body = body_of(&call, &size);
		expected = otlporacle_request(spans, SPANS, "node-1", BLKIN_VERSION);
		ck_assert_uint_eq(size, expected->len);
		ck_assert_mem_eq(body, expected->data, size);
		g_byte_array_unref(expected);
		buffer_free(&call);
		buffer_free(&items);
	}
	for (int i = 0; i < SPANS; i++)
		random_spans_free(generators[i]);
	g_rand_free(random);
	wire->destroy(wire);
}
END_TEST

/* Items that no encoder made are sent whole, for the server to refuse. */
START_TEST(broken_items)
{
	static const uint8_t items[] = "\0\0\0\x07pid-\0\0\0\xffpidxyzab";
	const uint32_t sizes[] = {8, 9, 2};
	struct wire *wire = create_wire();
	struct buffer call = {0};
	const uint8_t *body;
	size_t size;

	wire->put_call(wire, &(struct run){items, sizes, 3, 19}, 1, &call);
	body = body_of(&call, &size);
	ck_assert_ptr_nonnull(memmem(body, size, items, 8));
	ck_assert_ptr_nonnull(memmem(body, size, items + 8, 9));
	ck_assert_ptr_nonnull(memmem(body, size, items + 17, 2));
	buffer_free(&call);
	wire->destroy(wire);
}
END_TEST

/* Replies */

/* What is in @out. */
static enum reply_kind hear(struct reply *reply)
{
	struct wire *wire = create_wire();
	enum reply_kind kind;

	*reply = (struct reply){.ended = reply->ended};
	kind = wire->get_reply(wire, out.data, out.size, reply);
	wire->destroy(wire);
	return kind;
}

static enum reply_kind answer(
	struct reply *reply, int status, const char *headers, const ProtobufCMessage *body)
{
	size_t size = body ? protobuf_c_message_get_packed_size(body) : 0;
	uint8_t packed[1000];

	if (body)
		protobuf_c_message_pack(body, packed);
	out.size = 0;
	buffer_printf(&out, "HTTP/1.1 %d Word\r\n%sContent-Length: %zu\r\n\r\n", status, headers, size);
	buffer_put(&out, packed, size);
	return hear(reply);
}

/* As the specification has it: what may be tried again, and what must not be. */
START_TEST(replies)
{
	static const struct {
		int status;
		enum reply_kind kind;
	} cases[] = {{200, REPLY_GOOD}, {400, REPLY_REFUSED}, {401, REPLY_UNFIT}, {404, REPLY_UNFIT},
		{413, REPLY_REFUSED}, {429, REPLY_PUT_OFF}, {500, REPLY_REFUSED}, {501, REPLY_REFUSED},
		{502, REPLY_PUT_OFF}, {503, REPLY_PUT_OFF}, {504, REPLY_PUT_OFF}};
	Otlp__RpcStatus status = OTLP__RPC_STATUS__INIT;
	struct reply reply = {0};

	status.code = 3;
	status.message = (char *)"no such tenant";
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_int_eq(answer(&reply, cases[i].status, "", &status.base), cases[i].kind);
		ck_assert_uint_eq(reply.used, out.size);
		if (cases[i].status != 200)
			ck_assert_msg(g_str_has_suffix(reply.words, ": no such tenant"), "%s", reply.words);
	}
	ck_assert_int_eq(answer(&reply, 503, "Retry-After: 7\r\n", NULL), REPLY_PUT_OFF);
	ck_assert_int_eq(reply.wait_ns, INT64_C(7000000000));
	ck_assert_str_eq(reply.words, "HTTP status 503 Word");
}
END_TEST

START_TEST(partial_success)
{
	Otlp__ExportTraceServiceResponse response = OTLP__EXPORT_TRACE_SERVICE_RESPONSE__INIT;
	Otlp__ExportTracePartialSuccess partial = OTLP__EXPORT_TRACE_PARTIAL_SUCCESS__INIT;
	struct reply reply = {0};

	ck_assert_int_eq(answer(&reply, 200, "", &response.base), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 0);
	response.partial_success = &partial;
	partial.rejected_spans = 3;
	partial.error_message = (char *)"too old";
	ck_assert_int_eq(answer(&reply, 200, "", &response.base), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 3);
	ck_assert_str_eq(reply.words, "too old");
	/* in two chunks; and longer than is waited for */
	out.size = 0;
	buffer_printf(&out,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\x0a\r\n5\r\n\x04\x08\x07\x12");
	buffer_put(&out, "\0\r\n0\r\n\r\n", 8);
	ck_assert_int_eq(hear(&reply), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 7);
	ck_assert_uint_eq(reply.used, out.size);
	out.size = 0;
	buffer_printf(&out, "HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n");
	buffer_put(&out, "\x0a\x8c\xbf\x05\x08\x09\x12\x86\xbf\x05 and so on", 20);
	ck_assert_int_eq(hear(&reply), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 9);
	/* to the end of the connection, which comes later */
	out.size = 0;
	buffer_printf(&out, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
	ck_assert_int_eq(hear(&reply), REPLY_PARTIAL);
	buffer_put(&out, "\x0a\x04\x08\x05\x12\0", 6);
	ck_assert_int_eq(hear(&reply), REPLY_PARTIAL);
	reply.ended = true;
	ck_assert_int_eq(hear(&reply), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 5);
	/* in chunks of which the last does not come */
	out.size = 0;
	buffer_printf(&out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n\x0a\x04\x08\x06\x12");
	buffer_put(&out, "\0\r\n", 3);
	ck_assert_int_eq(hear(&reply), REPLY_GOOD);
	ck_assert(reply.lost == 6 && reply.last);
	reply.ended = false;
	partial.rejected_spans = -3;
	ck_assert_int_eq(answer(&reply, 200, "", &response.base), REPLY_GOOD);
	ck_assert_uint_eq(reply.lost, 0);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("otlp");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, spans_as_generated);
	tcase_add_test(tests, an_error_is_the_status);
	tcase_add_test(tests, no_key_comes_twice);
	tcase_add_test(tests, marks);
	tcase_add_test(tests, not_finite);
	tcase_add_test(tests, classic);
	tcase_add_test(tests, there_and_back);
	tcase_add_test(tests, zipkin_there_and_back);
	tcase_add_test(tests, broken_text);
	tcase_add_test(tests, too_large);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, a_request_as_generated);
	tcase_add_test(tests, broken_items);
	tcase_add_test(tests, replies);
	tcase_add_test(tests, partial_success);
	return run_cases("otlp", tests);
}
