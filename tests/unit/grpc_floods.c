/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames by hand: floods of each kind, and what is none of HTTP/2. */
#include "grpc_cases.h"

#include <string.h>

#include "base/clock.h"
#include "base/pack.h"
#include "grpc_rig.h"

static struct rig rig;

static void begin(void)
{
	rig_begin(&rig);
}

static void end(void)
{
	rig_end(&rig);
}

static void put_frame(
	struct buffer *out, uint8_t type, uint8_t flags, uint32_t stream, const char *data, size_t size)
{
	pack_number(out, size, 3);
	pack_u8(out, type);
	pack_u8(out, flags);
	pack_u32(out, stream);
	buffer_put(out, data, size);
}

static void put_preface(struct buffer *out)
{
	buffer_put(out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
	put_frame(out, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

/* HEADERS of a call: literal, never indexed, but for the method (3) and the scheme (6). */
static void put_headers(struct buffer *out, uint32_t stream, uint8_t flags)
{
	struct buffer block = {0};

	buffer_put(&block, "\x83\x86\x04", 3);
	pack_u8(&block, (uint8_t)strlen(GRPCSERVER_OTLP_TRACES));
	buffer_put(&block, GRPCSERVER_OTLP_TRACES, strlen(GRPCSERVER_OTLP_TRACES));
	buffer_put(&block,
		"\x01\x01"
		"a",
		3);
	buffer_put(&block,
		"\x0f\x10\x10"
		"application/grpc",
		19);
	put_frame(out, NGHTTP2_HEADERS, flags, stream, (const char *)block.data, block.size);
	buffer_free(&block);
}

static void feed(const struct buffer *in)
{
	for (size_t at = 0; at < in->size; at += 333) {
		struct buffer out = {0};

		grpcserver_feed(rig.server, in->data + at, MIN(333, in->size - at), rig.now);
		grpcserver_take_output(rig.server, &out, SIZE_MAX);
		buffer_free(&out);
	}
}

enum flood {
	SETTINGS,
	PINGS,
	PRIORITIES,
	WINDOWS,
	EMPTY_DATA,
	LITTLE_DATA,
	RESETS,
	REFUSED_RESETS,
	UNKNOWN,
	CONTINUATIONS,
	ENDLESS_CALLS,
	FLOODS
};

static void put_flood(struct buffer *out, enum flood kind, uint32_t number)
{
	static const uint8_t types[] = {[SETTINGS] = NGHTTP2_SETTINGS,

		[PINGS] = NGHTTP2_PING,
		[PRIORITIES] = NGHTTP2_PRIORITY,
		[WINDOWS] = NGHTTP2_WINDOW_UPDATE,
		[UNKNOWN] = 0xbb};
	uint32_t stream = 2 * number + 3;

	if (kind == EMPTY_DATA) {
		put_frame(out, NGHTTP2_DATA, 0, 1, NULL, 0);
	} else if (kind == LITTLE_DATA) {
		put_frame(out, NGHTTP2_DATA, 0, 1, number ? "a" : "\0\0\1\0\0", number ? 1 : 5);
	} else if (kind == RESETS || kind == REFUSED_RESETS) {
		put_headers(out, stream,
			NGHTTP2_FLAG_END_HEADERS | (kind == RESETS ? 0 : NGHTTP2_FLAG_END_STREAM));
		put_frame(out, NGHTTP2_RST_STREAM, 0, stream, "\0\0\0\x08", 4);
	} else if (kind == CONTINUATIONS) {
		if (!number)
			put_headers(out, 3, 0);
		put_frame(out, NGHTTP2_CONTINUATION, 0, 3, NULL, 0);
	} else if (kind == ENDLESS_CALLS) {
		put_headers(out, stream, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM);
	} else {
		put_frame(out, types[kind], 0, 0, kind == WINDOWS ? "\0\0\0\1" : "\0\0\0\5\0\0\0\0",
			kind == PINGS        ? 8
			: kind == WINDOWS    ? 4
			: kind == PRIORITIES ? 5
					     : 0);
		if (kind == PRIORITIES)
			out->data[out->size - 6] = 1; /* of stream 1 */
	}
}

static struct buffer make_flood(enum flood kind, uint32_t from, uint32_t count)
{
	struct buffer in = {0};

	if (!from) {
		put_preface(&in);
		put_headers(&in, 1, NGHTTP2_FLAG_END_HEADERS);
	}
	for (uint32_t i = 0; i < count; i++)
		put_flood(&in, kind, from + i);
	return in;
}

/* Of the GOAWAY that ends what the server says. */
static uint32_t last_error(const struct buffer *out)
{
	struct unpacker in = unpacker_of(out->data, out->size), payload = {0};
	uint8_t type = 0;

	while (in.at < in.end) {
		size_t size = (size_t)unpack_number(&in, 3);

		type = unpack_u8(&in);
		unpack_number(&in, 5);
		payload = unpacker_of(unpack_run(&in, size), size);
	}
	ck_assert_uint_eq(type, NGHTTP2_GOAWAY);
	unpack_u32(&payload);
	return unpack_u32(&payload);
}

/* In one piece, and bit by bit. */
START_TEST(floods_end)
{
	struct buffer in = make_flood((enum flood)(_i / 2), 0, 3000), out = {0};
	size_t step = _i % 2 ? 17 : in.size;

	for (size_t at = 0; at < in.size; at += step) {
		grpcserver_feed(rig.server, in.data + at, MIN(step, in.size - at), rig.now);
		grpcserver_take_output(rig.server, &out, SIZE_MAX);
	}
	ck_assert_str_eq(grpcserver_why(rig.server), "it sends frames that bring nothing, without an end");
	ck_assert_uint_eq(last_error(&out), NGHTTP2_ENHANCE_YOUR_CALM);
	ck_assert(grpcserver_wants_close(rig.server));
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* What comes slowly is none. */
START_TEST(time_gives_back)
{
	for (uint32_t i = 0; i < 20; i++) {
		struct buffer in = make_flood(PINGS, i, 500);

		feed(&in);
		buffer_free(&in);
		rig.now += 12 * NS_PER_SECOND;
	}
	ck_assert_ptr_null(grpcserver_why(rig.server));
	ck_assert(!grpcserver_wants_close(rig.server));
}
END_TEST

static const struct {
	const char *data;
	size_t size;
	const char *why;
} foreign[] = {
#define CASE(data) data, sizeof(data) - 1
	{CASE("POST /v1/traces HTTP/1.1\r\n"),
		"it does not speak HTTP/2; for HTTP/1, OTLP has another port (4318)"},
	{CASE("PRI * HTTP/1.1\r\n"), "it does not speak HTTP/2; for HTTP/1, OTLP has another port (4318)"},
	{CASE("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"), "it speaks TLS, and this port does not"},
	{CASE("\x80\1\0\1\0\0\0\3Log"), "it does not speak HTTP/2, as gRPC does"},
};

START_TEST(others_are_told_apart)
{
	for (size_t i = 0; i < foreign[_i].size; i++)
		grpcserver_feed(rig.server, (const uint8_t *)foreign[_i].data + i, 1, rig.now);
	ck_assert_str_eq(grpcserver_why(rig.server), foreign[_i].why);
	ck_assert(grpcserver_wants_close(rig.server));
	ck_assert(!grpcserver_state(rig.server).greeted);
}
END_TEST

/* Against the rules: each ends the connection. */
START_TEST(rules_are_kept)
{
	struct buffer in = {0}, out = {0};

	put_preface(&in);
	feed(&in);
	ck_assert(grpcserver_state(rig.server).greeted);
	in.size = 0;
	if (_i == 0)
		put_frame(&in, NGHTTP2_DATA, 0, 0, "a", 1);
	else if (_i == 1)
		put_frame(&in, NGHTTP2_SETTINGS, 0, 0, "a", 1);
	else if (_i == 2)
		put_frame(
			&in, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff\xff", 7);
	else
		put_frame(&in, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 2, "\x83", 1);
	grpcserver_feed(rig.server, in.data, in.size, rig.now);
	grpcserver_take_output(rig.server, &out, SIZE_MAX);
	ck_assert_uint_ne(last_error(&out), NGHTTP2_NO_ERROR);
	ck_assert_str_eq(grpcserver_why(rig.server), "it breaks the rules of HTTP/2");
	ck_assert(grpcserver_wants_close(rig.server));
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* As nghttp2's clients go, and as grpc-go's do. */
START_TEST(peers_leave)
{
	struct buffer in = {0};

	put_preface(&in);
	put_frame(&in, NGHTTP2_GOAWAY, 0, 0, _i ? "\x7f\xff\xff\xff\0\0\0\0bye" : "\0\0\0\0\0\0\0\0bye", 11);
	feed(&in);
	ck_assert_ptr_null(grpcserver_why(rig.server));
	ck_assert(grpcserver_wants_close(rig.server));
	buffer_free(&in);
}
END_TEST

/* More than the windows allow. */
START_TEST(windows_are_kept)
{
	static char data[16384] = "\0\0\xf\xff\xff";
	struct buffer in = {0};

	put_preface(&in);
	put_headers(&in, 1, NGHTTP2_FLAG_END_HEADERS);
	put_headers(&in, 3, NGHTTP2_FLAG_END_HEADERS);
	put_frame(&in, NGHTTP2_DATA, 0, 3, data, sizeof(data)); /* it has all the room */
	for (int i = 0; i < 5; i++)
		put_frame(&in, NGHTTP2_DATA, 0, 1, data, sizeof(data));
	feed(&in);
	ck_assert_uint_le(grpcserver_state(rig.server).bytes, 2 * GRPCSERVER_WINDOW);
	ck_assert_uint_eq(rig.taken->len, 0);
	buffer_free(&in);
}
END_TEST

/* What calls take before there is anything of their messages counts, too, as long as they do. */
START_TEST(headers_count)
{
	static char block[16000] = "\x83\x86\0\1x\x7f\x81\xfe\3"; /* a header of 64,000 bytes begins */
	struct buffer in = {0};
	size_t before;

	put_preface(&in);
	feed(&in);
	before = grpcserver_state(rig.server).bytes;
	in.size = 0;
	put_frame(&in, NGHTTP2_HEADERS, 0, 1, block, sizeof(block));
	memset(block, 'x', sizeof(block));
	put_frame(&in, NGHTTP2_CONTINUATION, 0, 1, block, 8000);
	in.size -= 1000;
	feed(&in);
	ck_assert_ptr_null(grpcserver_why(rig.server));
	ck_assert_uint_ge(grpcserver_state(rig.server).bytes, before + 2 * 23000);
	in.size = 0;
	buffer_put(&in, block, 1000);
	put_frame(&in, NGHTTP2_CONTINUATION, 0, 1, block, sizeof(block));
	feed(&in);
	ck_assert_str_eq(grpcserver_why(rig.server), "it sends frames that bring nothing, without an end");
	buffer_free(&in);
}
END_TEST

START_TEST(calls_count)
{
	struct buffer in = {0};

	put_preface(&in);
	for (uint32_t i = 0; i < RIG_CALLS; i++)
		put_headers(&in, 2 * i + 1, NGHTTP2_FLAG_END_HEADERS);
	feed(&in);
	ck_assert_uint_eq(grpcserver_state(rig.server).unfinished, RIG_CALLS);
	ck_assert_uint_ge(grpcserver_state(rig.server).bytes, RIG_CALLS * 512);
	ck_assert_uint_lt(grpcserver_state(rig.server).bytes, RIG_CALLS * 1024);
	in.size = 0;
	for (uint32_t i = 0; i < RIG_CALLS; i++)
		put_frame(&in, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\x08", 4);
	feed(&in);
	ck_assert_uint_eq(grpcserver_state(rig.server).bytes, 0);
	buffer_free(&in);
}
END_TEST

TCase *grpc_floods(void)
{
	TCase *tests = tcase_create("grpc floods");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_loop_test(tests, floods_end, 0, 2 * FLOODS);
	tcase_add_test(tests, time_gives_back);
	tcase_add_loop_test(tests, others_are_told_apart, 0, G_N_ELEMENTS(foreign));
	tcase_add_loop_test(tests, rules_are_kept, 0, 4);
	tcase_add_loop_test(tests, peers_leave, 0, 2);
	tcase_add_test(tests, windows_are_kept);
	tcase_add_test(tests, headers_count);
	tcase_add_test(tests, calls_count);
	return tests;
}
