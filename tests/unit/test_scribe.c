/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scribe's bytes: calls against Thrift's generated code, byte for byte; replies as Thrift writes them, and
 * every way in which they can be wrong.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/thrift_application_exception.h>
#include <thrift/c_glib/transport/thrift_framed_transport.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

#include "blkin_scribe.h"
#include "net/scribe.h"
#include "net/scribereply.h"
#include "run.h"
#include "thriftfix.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Thrift's own framed writer into memory. */
struct oracle {
	ThriftMemoryBuffer *memory;
	ThriftTransport *framed;
	ThriftProtocol *protocol;
};

static struct oracle oracle_create(void)
{
	struct oracle oracle;

	oracle.memory = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, "buf_size", 1 << 20, NULL);
	oracle.framed = g_object_new(THRIFT_TYPE_FRAMED_TRANSPORT, "transport", oracle.memory, NULL);
	oracle.protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", oracle.framed, NULL);
	return oracle;
}

static void oracle_destroy(struct oracle *oracle)
{
	g_object_unref(oracle->protocol);
	g_object_unref(oracle->framed);
	g_object_unref(oracle->memory);
}

static GPtrArray *make_entries(uint32_t count, const char *category, const char *message)
{
	GPtrArray *entries = g_ptr_array_new_with_free_func(g_object_unref);

	g_autofree char *text = g_base64_encode((const guchar *)message, strlen(message));

	for (uint32_t i = 0; i < count; i++)
		g_ptr_array_add(entries,
			g_object_new(BLKIN_TYPE_LOG_ENTRY, "category", category, "message", text, NULL));
	return entries;
}

static struct buffer put_call(int32_t seqid, uint32_t count, const char *category, const char *message)
{
	struct buffer entries = {0}, call = {0};
	uint8_t head[SCRIBE_HEAD_SIZE], tail[SCRIBE_TAIL_SIZE];

	for (uint32_t i = 0; i < count; i++)
		scribe_put_entry(
			&entries, category, strlen(category), (const uint8_t *)message, strlen(message));
	scribe_put_head(head, seqid, count, entries.size);
	scribe_put_tail(tail);
	buffer_put(&call, head, sizeof(head));
	if (entries.size)
		buffer_put(&call, entries.data, entries.size);
	buffer_put(&call, tail, sizeof(tail));
	buffer_free(&entries);
	return call;
}

static const struct {
	uint32_t count;
	const char *category, *message;
} calls[] = {
	{0, "", ""},
	{1, "zipkin", "a span"},
	{1, "", ""},
	{3, "zipkin", ""},
	{200, "a category with spaces, \xc3\xa9 and \x01", "line\nbreak"},
};

START_TEST(call_is_as_the_generated_client_writes_it)
{
	struct oracle oracle = oracle_create();
	BlkinScribeClient *client = g_object_new(BLKIN_TYPE_SCRIBE_CLIENT, "input_protocol", oracle.protocol,
		"output_protocol", oracle.protocol, NULL);
	GPtrArray *entries = make_entries(calls[_i].count, calls[_i].category, calls[_i].message);
	struct buffer call = put_call(0, calls[_i].count, calls[_i].category, calls[_i].message);

	ck_assert(blkin_scribe_client_send_log(BLKIN_SCRIBE_IF(client), entries, NULL));
	ck_assert_uint_eq(call.size, oracle.memory->buf->len);
	ck_assert_mem_eq(call.data, oracle.memory->buf->data, call.size);
	buffer_free(&call);
	g_ptr_array_unref(entries);
	g_object_unref(client);
	oracle_destroy(&oracle);
}
END_TEST

START_TEST(call_carries_its_seqid)
{
	const int32_t seqids[] = {1, 0x01020304, INT32_MAX, INT32_MIN, -1};

	for (size_t i = 0; i < LENGTH(seqids); i++) {
		struct oracle oracle = oracle_create();
		GPtrArray *entries = make_entries(2, "zipkin", "message");
		GObject *args = g_object_new(BLKIN_TYPE_SCRIBE_LOG_ARGS, "messages", entries, NULL);
		struct buffer call = put_call(seqids[i], 2, "zipkin", "message");

		thrift_protocol_write_message_begin(oracle.protocol, "Log", T_CALL, seqids[i], NULL);
		ck_assert_int_ge(thrift_struct_write(THRIFT_STRUCT(args), oracle.protocol, NULL), 0);
		thrift_transport_flush(oracle.framed, NULL);
		ck_assert_uint_eq(call.size, oracle.memory->buf->len);
		ck_assert_mem_eq(call.data, oracle.memory->buf->data, call.size);
		buffer_free(&call);
		g_object_unref(args);
		g_ptr_array_unref(entries);
		oracle_destroy(&oracle);
	}
}
END_TEST

/* NUL bytes, which a C string of the generated code cannot carry: the lengths tell, and what lies between is
 * ours. */
START_TEST(entry_carries_any_bytes)
{
	static const uint8_t want[] = {
		11, 0, 1, 0, 0, 0, 2, 'a', 0, 11, 0, 2, 0, 0, 0, 4, 'A', 'P', '9', 'i', 0};
	struct buffer entries = {0};

	scribe_put_entry(&entries, "a\0", 2, (const uint8_t[]){0, 0xff, 'b'}, 3);
	ck_assert_uint_eq(entries.size, sizeof(want));
	ck_assert_mem_eq(entries.data, want, sizeof(want));
	buffer_free(&entries);
}
END_TEST

/* Replies */

struct answer {
	enum reply_kind reply;
	struct reply is;
};

/* Reads from a block of exactly that size, so that the sanitizer sees a step beyond it. */
static struct answer read_bytes(const void *data, size_t size)
{
	struct answer answer = {.is.number = -77};
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	answer.reply = scribereply_read(copy, size, &answer.is);
	ck_assert_ptr_nonnull(memchr(answer.is.words, 0, sizeof(answer.is.words)));
	free(copy);
	return answer;
}

static struct buffer oracle_take(struct oracle *oracle)
{
	struct buffer bytes = {0};

	thrift_transport_flush(oracle->framed, NULL);
	buffer_put(&bytes, oracle->memory->buf->data, oracle->memory->buf->len);
	oracle_destroy(oracle);
	return bytes;
}

/* As Thrift writes them. */
static struct buffer make_result(int32_t seqid, BlkinResultCode code)
{
	struct oracle oracle = oracle_create();
	GObject *result = g_object_new(BLKIN_TYPE_SCRIBE_LOG_RESULT, "success", code, NULL);

	thrift_protocol_write_message_begin(oracle.protocol, "Log", T_REPLY, seqid, NULL);
	ck_assert_int_gt(thrift_struct_write(THRIFT_STRUCT(result), oracle.protocol, NULL), 0);
	g_object_unref(result);
	return oracle_take(&oracle);
}

static struct buffer make_exception(int32_t seqid, const char *words, int32_t type)
{
	struct oracle oracle = oracle_create();
	GObject *exception =
		g_object_new(THRIFT_TYPE_APPLICATION_EXCEPTION, "message", words, "type", type, NULL);

	thrift_protocol_write_message_begin(oracle.protocol, "Log", T_EXCEPTION, seqid, NULL);
	ck_assert_int_gt(thrift_struct_write(THRIFT_STRUCT(exception), oracle.protocol, NULL), 0);
	g_object_unref(exception);
	return oracle_take(&oracle);
}

/* Puts a frame's length before @size bytes. */
static struct buffer make_frame(const void *data, size_t size)
{
	uint8_t length[4] = {
		(uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size};
	struct buffer frame = {0};

	buffer_put(&frame, length, 4);
	buffer_put(&frame, data, size);
	return frame;
}

#define STRICT_REPLY "\x80\x01\x00\x02\x00\x00\x00\x03Log\x00\x00\x00\x2a"
#define STRICT_EXCEPTION "\x80\x01\x00\x03\x00\x00\x00\x03Log\x00\x00\x00\x2a"
#define OLD_REPLY "\x00\x00\x00\x03Log\x02\x00\x00\x00\x2a"
#define OLD_EXCEPTION "\x00\x00\x00\x03Log\x03\x00\x00\x00\x2a"
#define RESULT(code) "\x08\x00\x00\x00\x00\x00" code "\x00"
#define BYTES(text) text, sizeof(text) - 1

static struct answer read_frame(const void *data, size_t size)
{
	struct buffer frame = make_frame(data, size);
	struct answer answer = read_bytes(frame.data, frame.size);

	buffer_free(&frame);
	return answer;
}

START_TEST(results_of_thrift)
{
	const BlkinResultCode codes[] = {BLKIN_RESULT_CODE_OK, BLKIN_RESULT_CODE_TRY_LATER};
	const enum reply_kind replies[] = {REPLY_GOOD, REPLY_PUT_OFF};

	for (int i = 0; i < 2; i++) {
		struct buffer bytes = make_result(0x01020304, codes[i]);
		struct answer answer = read_bytes(bytes.data, bytes.size);

		ck_assert_int_eq(answer.reply, replies[i]);
		ck_assert_int_eq(answer.is.number, 0x01020304);
		ck_assert_uint_eq(answer.is.used, bytes.size);
		/* The next reply behind it is left alone. */
		buffer_put(&bytes, "\x00\x00\x00", 3);
		answer = read_bytes(bytes.data, bytes.size);
		ck_assert_int_eq(answer.reply, replies[i]);
		ck_assert_uint_eq(answer.is.used, bytes.size - 3);
		buffer_free(&bytes);
	}
}
END_TEST

START_TEST(exceptions_of_thrift)
{
	struct buffer bytes = make_exception(-5, "bad \xc3\xa9 base64\r\nin\tentry\x1b[31m 7", 6);
	struct answer answer = read_bytes(bytes.data, bytes.size);

	ck_assert_int_eq(answer.reply, REPLY_REFUSED);
	ck_assert_int_eq(answer.is.number, -5);
	ck_assert_uint_eq(answer.is.used, bytes.size);
	ck_assert_str_eq(answer.is.words, "bad \xc3\xa9 base64  in entry?[31m 7");
	buffer_free(&bytes);
}
END_TEST

START_TEST(exception_words_are_cut_to_fit)
{
	char words[301];
	struct buffer bytes;
	struct answer answer;

	memset(words, 'x', sizeof(words) - 1);
	words[300] = '\0';
	bytes = make_exception(1, words, 0);
	answer = read_bytes(bytes.data, bytes.size);
	ck_assert_int_eq(answer.reply, REPLY_REFUSED);
	ck_assert_uint_eq(strlen(answer.is.words), sizeof(answer.is.words) - 1);
	buffer_free(&bytes);
	/* Not in the middle of a character. */
	strcpy(words + sizeof(answer.is.words) - 2, "\xc3\xa9");
	bytes = make_exception(1, words, 0);
	answer = read_bytes(bytes.data, bytes.size);
	ck_assert_int_eq(answer.reply, REPLY_REFUSED);
	ck_assert_uint_eq(strlen(answer.is.words), sizeof(answer.is.words) - 2);
	buffer_free(&bytes);
}
END_TEST

START_TEST(exception_without_words_gives_its_type)
{
	struct answer answer = read_frame(BYTES(STRICT_EXCEPTION "\x08\x00\x02\x00\x00\x00\x06\x00"));

	ck_assert_int_eq(answer.reply, REPLY_REFUSED);
	ck_assert_ptr_nonnull(strstr(answer.is.words, "6"));
	/* Invalid UTF-8 is not let through. */
	answer = read_frame(BYTES(STRICT_EXCEPTION "\x0b\x00\x01\x00\x00\x00\x04"
						   "a\xff\xc3z\x00"));
	ck_assert_int_eq(answer.reply, REPLY_REFUSED);
	ck_assert_str_eq(answer.is.words, "a??z");
}
END_TEST

static const struct {
	const char *what, *data;
	size_t size;
	enum reply_kind reply;
} frames[] = {
	{"strict OK", BYTES(STRICT_REPLY RESULT("\x00")), REPLY_GOOD},
	{"strict TRY_LATER", BYTES(STRICT_REPLY RESULT("\x01")), REPLY_PUT_OFF},
	{"non-strict OK, of the classic server", BYTES(OLD_REPLY RESULT("\x00")), REPLY_GOOD},
	{"non-strict TRY_LATER", BYTES(OLD_REPLY RESULT("\x01")), REPLY_PUT_OFF},
	{"non-strict exception", BYTES(OLD_EXCEPTION "\x0b\x00\x01\x00\x00\x00\x02no\x00"), REPLY_REFUSED},
	{"exception with nothing in it", BYTES(STRICT_EXCEPTION "\x00"), REPLY_REFUSED},
	{"exception to another name", BYTES("\x80\x01\x00\x03\x00\x00\x00\x00\x00\x00\x00\x2a\x00"),
		REPLY_REFUSED},
	{"unknown fields before the result",
		BYTES(STRICT_REPLY
			"\x02\x00\x05\x01"                             /* bool */
			"\x03\x00\x05\x01"                             /* byte */
			"\x06\x00\x05\x01\x02"                         /* i16 */
			"\x08\x00\x05\x01\x02\x03\x04"                 /* i32 */
			"\x0a\x00\x05\x01\x02\x03\x04\x05\x06\x07\x08" /* i64 */
			"\x04\x00\x05\x01\x02\x03\x04\x05\x06\x07\x08" /* double */
			"\x0b\x00\x05\x00\x00\x00\x02hi"               /* string */
			"\x0c\x00\x05\x08\x00\x00\x00\x00\x00\x01\x00" /* struct with an i32 as field 0 */
			"\x0d\x00\x05\x0b\x03\x00\x00\x00\x01\x00\x00\x00\x01k\x07" /* map */
			"\x0d\x00\x05\x00\x00\x00\x00\x00\x00"                      /* map, empty */
			"\x0e\x00\x05\x06\x00\x00\x00\x02\x00\x01\x00\x02"          /* set */
			"\x0f\x00\x05\x0c\x00\x00\x00\x02\x00\x00"                  /* list of structs */
			RESULT("\x00")),
		REPLY_GOOD},
	{"field 0 of another type", BYTES(STRICT_REPLY "\x0b\x00\x00\x00\x00\x00\x00" RESULT("\x01")),
		REPLY_PUT_OFF},
	{"no result", BYTES(STRICT_REPLY "\x00"), REPLY_GARBAGE},
	{"result 2", BYTES(STRICT_REPLY RESULT("\x02")), REPLY_GARBAGE},
	{"result -1", BYTES(STRICT_REPLY "\x08\x00\x00\xff\xff\xff\xff\x00"), REPLY_GARBAGE},
	{"another call's name", BYTES("\x80\x01\x00\x02\x00\x00\x00\x03Get\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"a longer name", BYTES("\x80\x01\x00\x02\x00\x00\x00\x04Logs\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"a call", BYTES("\x80\x01\x00\x01\x00\x00\x00\x03Log\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"a oneway call", BYTES("\x00\x00\x00\x03Log\x04\x00\x00\x00\x2a" RESULT("\x00")), REPLY_GARBAGE},
	{"version 2", BYTES("\x80\x02\x00\x02\x00\x00\x00\x03Log\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"a name of -1 bytes", BYTES("\x80\x01\x00\x02\xff\xff\xff\xffLog\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"a name of 2 GB", BYTES("\x80\x01\x00\x02\x7f\xff\xff\xffLog\x00\x00\x00\x2a" RESULT("\x00")),
		REPLY_GARBAGE},
	{"words of -1 bytes", BYTES(STRICT_EXCEPTION "\x0b\x00\x01\xff\xff\xff\xffno\x00"), REPLY_GARBAGE},
	{"words of 2 GB", BYTES(STRICT_EXCEPTION "\x0b\x00\x01\x7f\xff\xff\xffno\x00"), REPLY_GARBAGE},
	{"a list of -1 bytes", BYTES(STRICT_REPLY "\x0f\x00\x05\x03\xff\xff\xff\xff\x00"), REPLY_GARBAGE},
	{"a list of 2 G structs", BYTES(STRICT_REPLY "\x0f\x00\x05\x0c\x7f\xff\xff\xff\x00"), REPLY_GARBAGE},
	{"a map of 2 G elements without a type",
		BYTES(STRICT_REPLY "\x0d\x00\x05\x00\x00\x7f\xff\xff\xff\x00"), REPLY_GARBAGE},
	{"a field of a type that is none", BYTES(STRICT_REPLY "\x01\x00\x05\x00" RESULT("\x00")),
		REPLY_GARBAGE},
	{"no struct", BYTES(STRICT_REPLY), REPLY_GARBAGE},
	{"one byte", BYTES("\x80"), REPLY_GARBAGE},
};

START_TEST(frames_by_hand)
{
	struct answer answer = read_frame(frames[_i].data, frames[_i].size);

	ck_assert_msg(answer.reply == frames[_i].reply, "%s: %d, and not %d: %s", frames[_i].what,
		answer.reply, frames[_i].reply, answer.is.words);
	if (answer.reply != REPLY_GARBAGE) {
		ck_assert_int_eq(answer.is.number, 0x2a);
		ck_assert_uint_eq(answer.is.used, frames[_i].size + 4);
	} else {
		ck_assert_msg(answer.is.words[0], "%s: no message", frames[_i].what);
	}
}
END_TEST

/* Cut short, with the frame's length left as it was: more is needed. With a length that fits: malformed. */
START_TEST(every_truncation)
{
	for (size_t size = 0; size < frames[_i].size; size++) {
		struct buffer frame = make_frame(frames[_i].data, frames[_i].size);
		struct answer answer;

		for (size_t cut = 0; cut < 4 + size; cut++)
			ck_assert_int_eq(read_bytes(frame.data, cut).reply, REPLY_PARTIAL);
		answer = read_frame(frames[_i].data, size);
		/* Nothing that is cut is complete: the last byte is the struct's end. */
		ck_assert_msg(answer.reply == REPLY_GARBAGE, "%s cut to %zu: %d", frames[_i].what, size,
			answer.reply);
		buffer_free(&frame);
	}
}
END_TEST

START_TEST(bytes_behind_the_struct)
{
	ck_assert_int_eq(read_frame(BYTES(STRICT_REPLY RESULT("\x00") "\x00")).reply, REPLY_GARBAGE);
	ck_assert_int_eq(read_frame(BYTES(STRICT_EXCEPTION "\x00\x00")).reply, REPLY_GARBAGE);
}
END_TEST

/* A reply to Log() that is good but for an unknown field of structs in structs. */
static enum reply_kind read_nested(int depth)
{
	struct buffer bytes = {0};
	struct answer answer;

	buffer_put(&bytes, BYTES(STRICT_REPLY));
	for (int i = 0; i < depth; i++)
		buffer_put(&bytes, "\x0c\x00\x05", 3);
	for (int i = 0; i < depth; i++)
		buffer_put(&bytes, "\x00", 1);
	buffer_put(&bytes, BYTES(RESULT("\x00")));
	answer = read_frame(bytes.data, bytes.size);
	buffer_free(&bytes);
	return answer.reply;
}

START_TEST(nested_structs_are_skipped_within_reason)
{
	ck_assert_int_eq(read_nested(1), REPLY_GOOD);
	ck_assert_int_eq(read_nested(16), REPLY_GOOD);
	ck_assert_int_eq(read_nested(17), REPLY_GARBAGE);
	ck_assert_int_eq(read_nested(16000), REPLY_GARBAGE);
}
END_TEST

START_TEST(deep_structs_end)
{
	struct buffer bytes = {0};
	struct answer answer;

	buffer_put(&bytes, BYTES(STRICT_REPLY));
	while (bytes.size < REPLY_MAX - 3)
		buffer_put(&bytes, "\x0c\x00\x05", 3);
	answer = read_frame(bytes.data, bytes.size);
	ck_assert_int_eq(answer.reply, REPLY_GARBAGE);
	buffer_free(&bytes);
	/* Lists of lists. */
	buffer_put(&bytes, BYTES(STRICT_REPLY "\x0f\x00\x05"));
	while (bytes.size < REPLY_MAX - 5)
		buffer_put(&bytes, "\x0f\x00\x00\x00\x01", 5);
	answer = read_frame(bytes.data, bytes.size);
	ck_assert_int_eq(answer.reply, REPLY_GARBAGE);
	buffer_free(&bytes);
}
END_TEST

START_TEST(frame_lengths)
{
	static const struct {
		const char *data;
		enum reply_kind reply;
	} heads[] = {
		{"\x00\x00\x00\x00", REPLY_GARBAGE},
		{"\xff\xff\xff\xff", REPLY_GARBAGE},
		{"\x80\x01\x00\x02", REPLY_GARBAGE}, /* a reply without a frame */
		{"\x00\x01\x00\x01", REPLY_GARBAGE}, /* REPLY_MAX and one */
		{"\x00\x01\x00\x00", REPLY_PARTIAL},
		{"\x00\x00\x00\x01", REPLY_PARTIAL},
		{"\x7f\xff\xff\xff", REPLY_GARBAGE},
	};

	for (size_t i = 0; i < LENGTH(heads); i++) {
		struct answer answer = read_bytes(heads[i].data, 4);

		ck_assert_int_eq(answer.reply, heads[i].reply);
		ck_assert(answer.reply == REPLY_PARTIAL || answer.is.words[0]);
	}
}
END_TEST

START_TEST(other_services_are_named)
{
	struct answer answer = read_bytes(BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"));

	ck_assert_int_eq(answer.reply, REPLY_GARBAGE);
	ck_assert_str_eq(answer.is.words, "the peer speaks HTTP, not Scribe");
	ck_assert_int_eq(read_bytes(BYTES("HTTP")).reply, REPLY_GARBAGE);
	answer = read_bytes(BYTES("SSH-2.0-OpenSSH_9.2p1\r\n"));
	ck_assert_int_eq(answer.reply, REPLY_GARBAGE);
	ck_assert_ptr_nonnull(strstr(answer.is.words, "\"SSH-2.0-OpenSSH_9.2p1\""));
	/* As Zipkin answers a header that it cannot read. */
	answer = read_frame(BYTES("Bad request: no such protocol\n"));
	ck_assert_int_eq(answer.reply, REPLY_GARBAGE);
	ck_assert_ptr_nonnull(strstr(answer.is.words, "\"Bad request: no such protocol\""));
}
END_TEST

/* Any bytes: an answer or none, and never a step outside. The seed is fixed, so that a failure comes again.
 */
START_TEST(random_mutations)
{
	unsigned int seed = 12345;
	const int never = REPLY_UNFIT; /* Scribe has no such answer */
	int kinds[REPLY_GARBAGE + 1] = {0};

	for (int round = 0; round < 100000; round++) {
		struct buffer frame;
		struct answer answer;
		size_t which = (size_t)rand_r(&seed) % LENGTH(frames);

		frame = make_frame(frames[which].data, frames[which].size);
		for (int change = rand_r(&seed) % 4; change > 0; change--)
			frame.data[4 + (size_t)rand_r(&seed) % (frame.size - 4)] = (uint8_t)rand_r(&seed);
		if (rand_r(&seed) % 8 == 0)
			frame.data[rand_r(&seed) % 4] ^= (uint8_t)(1 << rand_r(&seed) % 8);
		answer = read_bytes(frame.data, frame.size);
		ck_assert_int_le(answer.reply, REPLY_GARBAGE);
		if (answer.reply == REPLY_GOOD || answer.reply == REPLY_REFUSED ||
			answer.reply == REPLY_PUT_OFF)
			ck_assert(answer.is.used > 4 && answer.is.used <= frame.size);
		kinds[answer.reply]++;
		buffer_free(&frame);
	}
	for (int kind = 0; kind <= REPLY_GARBAGE; kind++)
		ck_assert_msg(
			(kinds[kind] > 0) == (kind != never), "%d answers of kind %d", kinds[kind], kind);
}
END_TEST

/* What Thrift's objects leak would hide what else does. */
static void fix_types(void)
{
	const GType types[] = {BLKIN_TYPE_LOG_ENTRY, BLKIN_TYPE_SCRIBE_LOG_ARGS, BLKIN_TYPE_SCRIBE_LOG_RESULT,
		THRIFT_TYPE_APPLICATION_EXCEPTION, THRIFT_TYPE_BINARY_PROTOCOL, THRIFT_TYPE_FRAMED_TRANSPORT,
		THRIFT_TYPE_MEMORY_BUFFER};

	for (size_t i = 0; i < LENGTH(types); i++)
		thrift_fix_type(types[i]);
}

int main(void)
{
	Suite *suite = suite_create("scribe");
	TCase *call = tcase_create("call"), *reply = tcase_create("reply");

	fix_types();
	tcase_add_loop_test(call, call_is_as_the_generated_client_writes_it, 0, (int)LENGTH(calls));
	tcase_add_test(call, call_carries_its_seqid);
	tcase_add_test(call, entry_carries_any_bytes);
	suite_add_tcase(suite, call);
	tcase_add_test(reply, results_of_thrift);
	tcase_add_test(reply, exceptions_of_thrift);
	tcase_add_test(reply, exception_words_are_cut_to_fit);
	tcase_add_test(reply, exception_without_words_gives_its_type);
	tcase_add_loop_test(reply, frames_by_hand, 0, (int)LENGTH(frames));
	tcase_add_loop_test(reply, every_truncation, 0, (int)LENGTH(frames));
	tcase_add_test(reply, bytes_behind_the_struct);
	tcase_add_test(reply, nested_structs_are_skipped_within_reason);
	tcase_add_test(reply, deep_structs_end);
	tcase_add_test(reply, frame_lengths);
	tcase_add_test(reply, other_services_are_named);
	tcase_add_test(reply, random_mutations);
	suite_add_tcase(suite, reply);
	tcase_set_timeout(reply, 60);
	return run_all(srunner_create(suite));
}
