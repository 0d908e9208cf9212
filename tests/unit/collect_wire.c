/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes from a peer, good and bad: TBinary, messages, calls. */
#include <string.h>

#include "blkin_scribe_types.h"
#include "collect_cases.h"
#include "net/tbinary.h"
#include "scribe/call.h"
#include "spans/decode.h"
#include "status/trace/span2.h"

static GPtrArray *spans;
static char error[256];

static void setup(void)
{
	spans = g_ptr_array_new_with_free_func(span2_free);
	*error = '\0';
}

static void teardown(void)
{
	g_ptr_array_unref(spans);
}

/* A span with all that one can hold. */
static struct buffer full_span(void)
{
	ZipkinEndpoint *host = v1_host("front", 0x0a000001, 80);
	ZipkinSpan *span = v1_span(10, 11, 12, "name");
	struct buffer bytes;

	host->ipv6 = g_byte_array_append(g_byte_array_new(), (const guint8 *)"0123456789abcdef", 16);
	host->__isset_ipv6 = TRUE;
	span->trace_id_high = 9;
	span->__isset_trace_id_high = TRUE;
	v1_times(span, 1000, 2000);
	v1_annotate(span, 1100, "cs", host);
	v1_annotate(span, 1200, "cr", NULL);
	v1_tag(span, "key", "value", host);
	bytes = v1_bytes(span);
	g_object_unref(span);
	g_object_unref(host);
	return bytes;
}

static bool decode(const void *bytes, size_t size)
{
	char *text = g_base64_encode(bytes, size);
	bool good = decode_message(text, strlen(text), spans, error, sizeof(error));

	g_free(text);
	return good;
}

static void assert_not_decoded(const void *bytes, size_t size, const char *why)
{
	ck_assert(!decode(bytes, size));
	ck_assert_msg(strstr(error, why), "%s: where is '%s'?", error, why);
	ck_assert_uint_eq(spans->len, 0);
}

START_TEST(a_whole_span_is_read)
{
	struct buffer bytes = full_span();

	ck_assert_msg(decode(bytes.data, bytes.size), "%s", error);
	ck_assert_uint_eq(spans->len, 1);
	buffer_free(&bytes);
}
END_TEST

START_TEST(every_truncation_is_noticed)
{
	struct buffer bytes = full_span();

	for (size_t size = 0; size < bytes.size; size++)
		assert_not_decoded(bytes.data, size, "at byte");
	buffer_free(&bytes);
}
END_TEST

/* What the check passes can be read: else there is no reason behind what is said of it. */
START_TEST(no_mutation_gets_past_the_check)
{
	static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x07, 0x08, 0x0f, 0x10, 0x7f, 0x80, 0xff};
	struct buffer bytes = full_span();
	size_t read = 0;

	for (size_t i = 0; i < bytes.size; i++) {
		for (size_t k = 0; k < G_N_ELEMENTS(masks); k++) {
			bytes.data[i] ^= masks[k];
			read += decode(bytes.data, bytes.size);
			ck_assert_str_ne(error, "it is not a span in TBinary");
			g_ptr_array_set_size(spans, 0);
			bytes.data[i] ^= masks[k];
		}
	}
	ck_assert_uint_gt(read, bytes.size);
	buffer_free(&bytes);
}
END_TEST

/* trace_id 1 and id 1, for what stands before them. */
#define REST "\x0a\0\1\0\0\0\0\0\0\0\1\x0a\0\4\0\0\0\0\0\0\0\1\0"
#define BYTES(text) (const void *)(text), sizeof(text) - 1

START_TEST(what_is_no_span_is_refused)
{
	/* binary_annotations: one, whose host has two ipv6 fields */
	assert_not_decoded(BYTES("\x0f\0\x08\x0c\0\0\0\1\x0c\0\4\x0b\0\4\0\0\0\0\x0b\0\4\0\0\0\0\0\0" REST),
		"a second field 4 in Endpoint");
	/* annotations, a list of four i64 */
	assert_not_decoded(BYTES("\x0f\0\6\x0a\0\0\0\1\0\0\0\0\0\0\0\0" REST), "where structs belong");
	/* more of them than there are bytes, and less than none */
	assert_not_decoded(BYTES("\x0f\0\6\x0c\x7f\xff\xff\xff" REST), "does not fit");
	assert_not_decoded(BYTES("\x0f\0\6\x0c\xff\xff\xff\xff" REST), "does not fit");
	/* a name of 2 GB, and of -1 bytes */
	assert_not_decoded(BYTES("\x0b\0\3\x7f\xff\xff\xff" REST), "does not fit");
	assert_not_decoded(BYTES("\x0b\0\3\xff\xff\xff\xff" REST), "does not fit");
	/* types that are none */
	assert_not_decoded(BYTES("\x01\0\3" REST), "the unknown type 1");
	assert_not_decoded(BYTES("\x0f\0\x63\x05\0\0\0\1\0" REST), "the unknown type 5");
	assert_not_decoded(BYTES("\x0d\0\x63\x0b\x07\0\0\0\1\0\0\0\0" REST), "unknown types 11 and 7");
}
END_TEST

START_TEST(what_is_not_known_is_skipped)
{
	/* a struct with a string, a set of bool, a map of i32 to double, a field of a wrong type */
	ck_assert_msg(decode(BYTES("\x0c\0\x63\x0b\0\1\0\0\0\2hi\0\x0e\0\x64\2\0\0\0\2\1\0"
				   "\x0d\0\x65\x08\4\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\x06\0\3\0\1" REST)),
		"%s", error);
	ck_assert_uint_eq(spans->len, 1);
}
END_TEST

START_TEST(nesting_has_an_end)
{
	struct buffer bytes = {0};

	for (int i = 0; i < 10000; i++)
		buffer_put(&bytes, "\x0c\0\x63", 3);
	assert_not_decoded(bytes.data, bytes.size, "nested more than 16 deep");
	buffer_free(&bytes);
}
END_TEST

START_TEST(lists_have_an_end)
{
	struct buffer bytes = {0};

	buffer_put(&bytes, "\x0f\0\6\x0c\0\0\x27\x11", 8); /* 10,001 */
	for (int i = 0; i < 10001; i++)
		buffer_put(&bytes, "\0", 1);
	buffer_put(&bytes, REST, sizeof(REST) - 1);
	assert_not_decoded(bytes.data, bytes.size, "more than 10000");
	bytes.data[7] = 0x10;
	memmove(bytes.data + 8, bytes.data + 9, bytes.size - 9);
	ck_assert_msg(decode(bytes.data, bytes.size - 1), "%s", error);
	buffer_free(&bytes);
}
END_TEST

static bool decode_text(const char *text)
{
	g_ptr_array_set_size(spans, 0);
	return decode_message(text, strlen(text), spans, error, sizeof(error));
}

START_TEST(base64_may_be_broken_and_unpadded)
{
	/* REST is 23 bytes: 31 characters and one of padding */
	char *text = g_base64_encode(BYTES(REST)), *broken;

	ck_assert_int_eq(text[31], '=');
	ck_assert(decode_text(text));
	text[31] = '\0';
	ck_assert(decode_text(text));
	broken = g_strdup_printf("%.10s\r\n%s\n", text, text + 10);
	ck_assert(decode_text(broken));
	ck_assert_uint_eq(spans->len, 1);
	broken[5] = '-';
	ck_assert(!decode_text(broken));
	ck_assert_str_eq(error, "it is not base64: byte 5 is 0x2d");
	text[29] = '\0';
	ck_assert(!decode_text(text));
	ck_assert_str_eq(error, "it is not base64: it ends in the middle of a unit");
	ck_assert(!decode_text(""));
	g_free(broken);
	g_free(text);
}
END_TEST

/* A frame of a call of @method, with @args behind. */
static struct buffer make_call(
	bool strict, uint8_t type, const char *method, const void *args, size_t args_size)
{
	uint32_t length = GUINT32_TO_BE((uint32_t)strlen(method));
	struct buffer frame = {0};

	if (strict)
		buffer_put(&frame, (uint8_t[]){0x80, 1, 0, type}, 4);
	buffer_put(&frame, &length, 4);
	buffer_put(&frame, method, strlen(method));
	if (!strict)
		buffer_put(&frame, &type, 1);
	buffer_put(&frame, "\0\0\0\x2a", 4);
	buffer_put(&frame, args, args_size);
	return frame;
}

static struct scribe_service service = {.category = "zipkin", .alive_since = 7};

/* Makes the call. Returns what scribe_call_answer does; @reply gets the answer. */
static const char *ask(struct buffer *frame, struct scribe_call *call)
{
	const char *wrong;

	*call = (struct scribe_call){.spans = spans};
	wrong = scribe_call_answer(&service, frame->data, frame->size, call);
	if (wrong)
		g_strlcpy(error, wrong, sizeof(error));
	buffer_free(frame);
	return wrong ? error : NULL;
}

static void assert_reply(struct scribe_call *call, const char *bytes, size_t size)
{
	ck_assert_uint_eq(call->reply.size, size);
	ck_assert_mem_eq(call->reply.data, bytes, size);
	buffer_free(&call->reply);
}

START_TEST(both_headers_are_answered)
{
	struct buffer strict = make_call(true, 1, "getName", "", 1),
		      loose = make_call(false, 1, "getName", "", 1);
	static const char reply[] = "\0\0\0\x28\x80\1\0\2\0\0\0\7getName\0\0\0\x2a\x0b\0\0\0\0\0\x0d"
				    "blkin collect";
	struct scribe_call call;

	ck_assert_ptr_null(ask(&strict, &call));
	assert_reply(&call, reply, sizeof(reply));
	ck_assert_ptr_null(ask(&loose, &call));
	assert_reply(&call, reply, sizeof(reply));
}
END_TEST

START_TEST(unknown_methods_are_told_so)
{
	struct buffer frame = make_call(true, 1, "reinitiate", "", 1);
	struct scribe_call call;

	ck_assert_ptr_null(ask(&frame, &call));
	/* an exception, whose field 1 is text and field 2 the type: 1 */
	ck_assert_mem_eq(call.reply.data + 4, "\x80\1\0\3\0\0\0\x0areinitiate\0\0\0\x2a", 22);
	ck_assert_mem_eq(call.reply.data + call.reply.size - 8, "\x08\0\2\0\0\0\1\0", 8);
	buffer_free(&call.reply);
}
END_TEST

/* Log() with a message in @category for each of @messages, up to NULL. */
static struct buffer make_log(uint8_t type, const char *category, const char *const *messages)
{
	BlkinScribeLogArgs *args = g_object_new(blkin_scribe_log_args_get_type(), NULL);
	struct buffer bytes, frame;

	for (size_t i = 0; messages[i]; i++) {
		BlkinLogEntry *entry = g_object_new(BLKIN_TYPE_LOG_ENTRY, NULL);

		entry->category = g_strdup(category);
		entry->message = g_strdup(messages[i]);
		g_ptr_array_add(args->messages, entry);
	}
	args->__isset_messages = TRUE;
	bytes = v1_bytes(args);
	frame = make_call(true, type, "Log", bytes.data, bytes.size);
	buffer_free(&bytes);
	g_object_unref(args);
	return frame;
}

static const char ok[] = "\0\0\0\x17\x80\1\0\2\0\0\0\3Log\0\0\0\x2a\x08\0\0\0\0\0\0";

START_TEST(log_brings_spans)
{
	char *good = g_base64_encode(BYTES(REST));
	struct buffer frame = make_log(1, "zipkin", (const char *[]){good, good, NULL});
	struct scribe_call call;

	ck_assert_ptr_null(ask(&frame, &call));
	ck_assert_uint_eq(spans->len, 2);
	assert_reply(&call, ok, sizeof(ok));
	frame = make_log(4, "zipkin", (const char *[]){good, NULL});
	ck_assert_ptr_null(ask(&frame, &call));
	ck_assert_uint_eq(spans->len, 3);
	ck_assert_uint_eq(call.reply.size, 0);
	g_free(good);
}
END_TEST

START_TEST(one_bad_message_fails_the_call)
{
	char *good = g_base64_encode(BYTES(REST));
	struct buffer frame = make_log(1, "zipkin", (const char *[]){good, "%%%", good, NULL});
	struct scribe_call call;

	ck_assert_ptr_null(ask(&frame, &call));
	ck_assert_uint_eq(spans->len, 0);
	ck_assert_str_eq(call.refused, "message 2 of 3: it is not base64: byte 0 is 0x25");
	ck_assert_mem_eq(call.reply.data + 4, "\x80\1\0\3\0\0\0\3Log\0\0\0\x2a", 15);
	ck_assert_mem_eq(call.reply.data + call.reply.size - 8, "\x08\0\2\0\0\0\6\0", 8);
	buffer_free(&call.reply);
	g_free(good);
}
END_TEST

START_TEST(other_categories_are_left_alone)
{
	struct buffer frame = make_log(1, "web", (const char *[]){"anything at all", NULL});
	struct scribe_call call;

	ck_assert_ptr_null(ask(&frame, &call));
	ck_assert_uint_eq(spans->len, 0);
	ck_assert_str_eq(call.skipped, "web");
	assert_reply(&call, ok, sizeof(ok));
}
END_TEST

START_TEST(bad_frames_get_no_answer)
{
	char *good = g_base64_encode(BYTES(REST));
	struct buffer whole = make_log(1, "zipkin", (const char *[]){good, NULL}), frame;
	struct scribe_call call;

	for (size_t size = 1; size < whole.size; size++) {
		frame = (struct buffer){0};
		buffer_put(&frame, whole.data, size);
		ck_assert_ptr_nonnull(ask(&frame, &call));
		ck_assert_uint_eq(call.reply.size, 0);
		ck_assert_uint_eq(spans->len, 0);
	}
	frame = make_call(true, 2, "Log", "", 1);
	ck_assert_str_eq(ask(&frame, &call), "a message that is no call");
	frame = make_call(
		false, 1, "a method of a name that is longer than any that a service ever had", "", 1);
	ck_assert_ptr_nonnull(strstr(ask(&frame, &call), "a method's name of 66 bytes"));
	buffer_free(&whole);
	g_free(good);
}
END_TEST

TCase *collect_wire_cases(void)
{
	const TTest *const tests[] = {a_whole_span_is_read, every_truncation_is_noticed,
		no_mutation_gets_past_the_check, what_is_no_span_is_refused, what_is_not_known_is_skipped,
		nesting_has_an_end, lists_have_an_end, base64_may_be_broken_and_unpadded,
		both_headers_are_answered, unknown_methods_are_told_so, log_brings_spans,
		one_bad_message_fails_the_call, other_categories_are_left_alone, bad_frames_get_no_answer};
	TCase *cases = tcase_create("wire");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(cases, tests[i]);
	return cases;
}
