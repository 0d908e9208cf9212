/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that are refused, and what their clients are told. */
#include <check.h>
#include <string.h>

#include "grpc_cases.h"
#include "grpc_rig.h"
#include "net/base64read.h"
#include "net/protobuf.h"

static struct rig rig;

static void begin(void)
{
	rig_begin(&rig);
}

static void end(void)
{
	rig_end(&rig);
}

#define GRPC_TYPE "application/grpc"

static const struct {
	const char *method, *path, *type, *encoding, *body;
	size_t size;
	const char *http, *status, *words;
} wrong[] = {
#define BODY(bytes) bytes, sizeof(bytes) - 1
#define TRACES GRPCSERVER_OTLP_TRACES
	{"POST", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", GRPC_TYPE, "identity",
		BODY("\0\0\0\0\0"), "200", "12", RIG_UNKNOWN},
	{"POST", TRACES "x", GRPC_TYPE, "identity", BODY(""), "200", "12", RIG_UNKNOWN},
	{"POST", "/", GRPC_TYPE, "identity", BODY(""), "200", "12", RIG_UNKNOWN},
	{"POST", TRACES, "application/json", "identity", BODY("{}"), "415", "", ""},
	{"POST", TRACES, "application/grpc-web", "identity", BODY("{}"), "415", "", ""},
	{"GET", TRACES, GRPC_TYPE "+proto", "identity", BODY(""), "405", "", ""},
	{"POST", TRACES, GRPC_TYPE "+proto; x=y", "zstd", BODY("\0\0\0\0\0"), "200", "12",
		"the message's compression is none that is known here"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY(""), "200", "12", "the call has no message"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\0\0\0\0\0\0\0\0\0"), "200", "12",
		"the call has more than one message"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\0\0\0\1ab"), "200", "12",
		"the call has more than one message"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\0\0"), "200", "13", "the message is not whole"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\0\0\0\2a"), "200", "13", "the message is not whole"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\1\0\0\0\1a"), "200", "13",
		"the message is compressed in a way that is not told"},
	{"POST", TRACES, GRPC_TYPE, "gzip", BODY("\2\0\0\0\1a"), "200", "13",
		"the message is compressed in a way that is not told"},
	{"POST", TRACES, GRPC_TYPE, "gzip", BODY("\1\0\0\0\1a"), "200", "13",
		"the message is not what gzip makes"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\0\x10\0\1a"), "200", "8",
		"the message is too large"},
	{"POST", TRACES, GRPC_TYPE, "identity", BODY("\0\xff\xff\xff\xff"), "200", "8",
		"the message is too large"},
};

/* Each is refused, also if its request does not end; and others go on. */
START_TEST(wrong_calls_are_refused)
{
	const char *const headers[][2] = {{":method", wrong[_i].method}, {":scheme", "http"},
		{":authority", "localhost"}, {":path", wrong[_i].path}, {"content-type", wrong[_i].type},
		{"grpc-encoding", wrong[_i].encoding}, {NULL, NULL}};
	const struct rig_call *call;
	bool may_stay =
		wrong[_i].size != 0 && !strstr(wrong[_i].words, "whole") && !strstr(wrong[_i].words, "gzip");

	for (int stays = 0; stays <= may_stay; stays++)
		for (size_t step = 0; step < RIG_STEPS; step++) {
			struct buffer body = {0};

			rig.step = rig_steps[step];
			buffer_put(&body, wrong[_i].body, wrong[_i].size);
			call = rig_call_by(&rig, headers, body, stays);
			rig_pump(&rig);
			ck_assert_str_eq(call->http, wrong[_i].http);
			ck_assert_str_eq(call->status, wrong[_i].status);
			ck_assert_str_eq(call->words, wrong[_i].words);
			ck_assert_str_eq(call->details, "");
			ck_assert(call->closed);
			ck_assert_uint_eq(call->error, NGHTTP2_NO_ERROR);
			ck_assert_uint_eq(call->answer.size, 0);
		}
	ck_assert_uint_eq(rig.refused, (1 + may_stay) * RIG_STEPS);
	ck_assert_uint_eq(rig.taken->len, 0);
	rig.answers = true;
	call = rig_call(&rig, TRACES, NULL, NULL, rig_frame(false, "a", 1));
	rig_pump(&rig);
	rig_expect_echo(call, (const uint8_t *)"a", 1);
}
END_TEST

START_TEST(bombs_are_refused)
{
	static uint8_t zeroes[RIG_MESSAGE_MAX + 1];
	struct buffer packed = rig_gzip(zeroes, sizeof(zeroes));
	struct rig_call *call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, "grpc-encoding", "gzip",
		rig_frame(true, packed.data, packed.size));

	rig_pump(&rig);
	ck_assert_str_eq(call->status, "8");
	ck_assert_str_eq(call->words, "the message is too large once it is unpacked");
	buffer_free(&packed);
}
END_TEST

START_TEST(large_headers_are_refused)
{
	const char *headers[30][2] = {{":method", "POST"}, {":scheme", "http"}, {":authority", "localhost"},
		{":path", GRPCSERVER_OTLP_TRACES}, {"content-type", "application/grpc"}};
	char value[2001] = "";
	struct rig_call *call;

	/* one that is long, and then is known to both: the block is small */
	memset(value, 'v', sizeof(value) - 1);
	for (int i = 5; i < 24; i++) {
		headers[i][0] = "name";
		headers[i][1] = value;
	}
	call = rig_call_by(&rig, headers, rig_frame(false, NULL, 0), false);
	rig_pump(&rig);
	ck_assert_str_eq(call->status, "8");
	ck_assert_str_eq(call->words, "the call's headers are too large");
}
END_TEST

/* The details of a status, as google.rpc.Status: returns the words, and the pause in ms. */
static uint64_t read_details(const char *details, char *words)
{
	struct buffer bytes = {0};
	struct protobuf_field status, any = {0}, info = {0}, duration = {0}, part;
	struct protobuf_reader in;
	uint64_t ms = 0;

	ck_assert(base64_read(&bytes, details, strlen(details)));
	in = protobuf_read(bytes.data, bytes.size);
	while (protobuf_next(&in, &status))
		if (status.number == 1)
			ck_assert_uint_eq(status.value, GRPCSERVER_RESOURCE_EXHAUSTED);
		else if (status.number == 2)
			memcpy(words, status.bytes, status.size);
		else
			any = status;
	in = protobuf_read(any.bytes, any.size);
	ck_assert(protobuf_next(&in, &part));
	ck_assert_uint_eq(part.size, strlen("type.googleapis.com/google.rpc.RetryInfo"));
	ck_assert_mem_eq(part.bytes, "type.googleapis.com/google.rpc.RetryInfo", part.size);
	ck_assert(protobuf_next(&in, &info));
	in = protobuf_read(info.bytes, info.size);
	ck_assert(protobuf_next(&in, &duration));
	in = protobuf_read(duration.bytes, duration.size);
	while (protobuf_next(&in, &part))
		ms += part.number == 1 ? part.value * 1000 : part.value / 1000000;
	ck_assert(!in.failed);
	buffer_free(&bytes);
	return ms;
}

START_TEST(clients_are_told_when)
{
	static const uint32_t pauses[] = {1, 999, 1000, 61001, 4294967295};
	struct rig_call *call;

	for (size_t i = 0; i < G_N_ELEMENTS(pauses); i++) {
		const struct grpcserver_answer answer = {.status = GRPCSERVER_RESOURCE_EXHAUSTED,
			.words = "100 % of it is full\303\251\n",
			.retry_after = pauses[i]};
		char words[64] = "";

		call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, NULL, 0));
		rig_pump(&rig);
		grpcserver_answer(rig.server, rig_taken(&rig, i)->call, &answer);
		rig_pump(&rig);
		ck_assert_str_eq(call->status, "8");
		ck_assert_str_eq(call->words, "100 %25 of it is full%C3%A9");
		ck_assert_ptr_null(strchr(call->details, '='));
		ck_assert_uint_eq(read_details(call->details, words), pauses[i]);
		ck_assert_str_eq(words, "100 % of it is full\303\251");
	}
}
END_TEST

TCase *grpc_refusals(void)
{
	TCase *tests = tcase_create("grpc refusals");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_loop_test(tests, wrong_calls_are_refused, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tests, bombs_are_refused);
	tcase_add_test(tests, large_headers_are_refused);
	tcase_add_test(tests, clients_are_told_when);
	return tests;
}
