/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of gRPC as a client of HTTP/2 makes them, whole, in pieces, wrong, and too many. */
#include <check.h>
#include <string.h>

#include "grpc_cases.h"
#include "grpc_rig.h"
#include "run.h"

static struct rig rig;

static void begin(void)
{
	rig_begin(&rig);
}

static void end(void)
{
	rig_end(&rig);
}

static uint8_t *make_message(size_t size, int seed)
{
	uint8_t *message = g_malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		message[i] = (uint8_t)((i * 7 + i / 1000 + (size_t)seed) % 251);
	return message;
}

static const size_t sizes[] = {0, 1, 400, 65530, 65531, 300000, RIG_MESSAGE_MAX};

/* Of each size, plain and compressed, in pieces of each size. */
START_TEST(calls_are_answered)
{
	rig.step = rig_steps[_i];
	rig.answers = true;
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autofree uint8_t *message = make_message(sizes[i], 0);
		struct buffer packed = rig_gzip(message, sizes[i]);
		const struct rig_call *plain = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL,
					      rig_frame(false, message, sizes[i])),
				      *squeezed = rig_call(&rig, GRPCSERVER_OTLP_LOGS, "grpc-encoding",
					      "gzip", rig_frame(true, packed.data, packed.size)),
				      *could_be = rig_call(&rig, GRPCSERVER_OTLP_LOGS, "grpc-encoding",
					      "gzip", rig_frame(false, message, sizes[i]));

		buffer_free(&packed);
		rig_pump(&rig);
		rig_expect_echo(plain, message, sizes[i]);
		rig_expect_echo(squeezed, message, sizes[i]);
		rig_expect_echo(could_be, message, sizes[i]);
	}
	ck_assert_uint_eq(rig.refused, 0);
	ck_assert(!grpcserver_wants_close(rig.server));
	ck_assert_uint_eq(grpcserver_state(rig.server).bytes, 0);
}
END_TEST

START_TEST(answers_in_any_order)
{
	struct rig_call *calls[3];

	for (int i = 0; i < 3; i++)
		calls[i] = rig_call(&rig, i % 2 ? GRPCSERVER_OTLP_LOGS : GRPCSERVER_OTLP_TRACES, NULL, NULL,
			rig_frame(false, "abc", (size_t)i));
	rig_pump(&rig);
	ck_assert_uint_eq(rig.taken->len, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(rig_taken(&rig, i)->method, i % 2);
		ck_assert_uint_eq(rig_taken(&rig, i)->message.size, i);
	}
	ck_assert_uint_eq(grpcserver_state(rig.server).unanswered, 3);
	rig_answer(&rig, 2, GRPCSERVER_OK, NULL);
	rig_answer(&rig, 0, GRPCSERVER_UNAVAILABLE, "later");
	rig_pump(&rig);
	rig_expect_echo(calls[2], (const uint8_t *)"ab", 2);
	ck_assert_str_eq(calls[0]->status, "14");
	ck_assert_str_eq(calls[0]->words, "later");
	ck_assert(!calls[1]->closed);
	rig_answer(&rig, 1, GRPCSERVER_INVALID_ARGUMENT, NULL);
	rig_pump(&rig);
	ck_assert_str_eq(calls[1]->status, "3");
	ck_assert_str_eq(calls[1]->words, "");
	ck_assert_uint_eq(grpcserver_state(rig.server).unanswered, 0);
}
END_TEST

/* Large ones at the same time get their room in turn, and what is held is bounded. */
START_TEST(large_calls_share_the_room)
{
	g_autofree uint8_t *message = make_message(RIG_MESSAGE_MAX, 5);
	size_t large = 0;

	rig_pump(&rig);
	rig.step = 5000;
	for (int i = 0; i < RIG_CALLS; i++)
		rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL,
			rig_frame(false, message, i % 3 ? RIG_MESSAGE_MAX : 100000));
	rig_pump(&rig);
	ck_assert_uint_eq(rig.taken->len, RIG_CALLS);
	for (size_t i = 0; i < RIG_CALLS; i++) {
		const struct buffer *taken = &rig_taken(&rig, i)->message;

		large += taken->size == RIG_MESSAGE_MAX;
		ck_assert(taken->size == RIG_MESSAGE_MAX || taken->size == 100000);
		ck_assert(!memcmp(taken->data, message, taken->size));
	}
	ck_assert_uint_eq(large, 5);
	ck_assert_uint_gt(rig.most_bytes, RIG_MESSAGE_MAX - GRPCSERVER_WINDOW);
	ck_assert_uint_le(rig.most_bytes, RIG_MESSAGE_MAX + RIG_CALLS * 2 * GRPCSERVER_WINDOW);
	ck_assert_uint_le(grpcserver_state(rig.server).bytes, RIG_CALLS * 1024); /* nobody has answered */
}
END_TEST

/* One that has the room, and goes away, or one that waits for it, holds up nobody. */
START_TEST(room_comes_back)
{
	static const char *const headers[][2] = {{":method", "POST"}, {":scheme", "http"},
		{":authority", "localhost"}, {":path", GRPCSERVER_OTLP_TRACES},
		{"content-type", "application/grpc"}, {NULL, NULL}};
	g_autofree uint8_t *message = make_message(RIG_MESSAGE_MAX, 1);
	struct rig_call *stuck[3], *call;

	for (int i = 0; i < 3; i++) {
		struct buffer frame = rig_frame(false, message, RIG_MESSAGE_MAX);

		frame.size = i ? 10 : 500000;
		stuck[i] = rig_call_by(&rig, headers, frame, true);
	}
	call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, message, 200000));
	rig.answers = true;
	rig_pump(&rig);
	ck_assert(!call->closed);
	ck_assert_uint_eq(grpcserver_state(rig.server).unfinished, 4);
	for (int i = 0; i < 3; i++) {
		ck_assert(!call->closed);
		nghttp2_submit_rst_stream(rig.client, NGHTTP2_FLAG_NONE, stuck[i]->stream, NGHTTP2_CANCEL);
		rig_pump(&rig);
	}
	rig_expect_echo(call, message, 200000);
}
END_TEST

/* Before the peer knows how many there may be, it sends more: those it may repeat. */
START_TEST(calls_are_limited)
{
	struct rig_call *calls[RIG_CALLS + 3];
	unsigned refused = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		calls[i] = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1));
	rig_pump(&rig);
	ck_assert_uint_eq(rig.taken->len, RIG_CALLS);
	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		refused += calls[i]->closed && calls[i]->error == NGHTTP2_REFUSED_STREAM;
	ck_assert_uint_eq(refused, 3);
	ck_assert(!grpcserver_wants_close(rig.server));
}
END_TEST

/* Those that were taken back count until they are answered. */
START_TEST(orphans_count)
{
	struct rig_call *call;

	for (int i = 0; i < RIG_CALLS; i++)
		rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1));
	rig_pump(&rig);
	for (int i = 0; i < RIG_CALLS; i++)
		nghttp2_submit_rst_stream(rig.client, NGHTTP2_FLAG_NONE,
			((struct rig_call *)rig.calls->pdata[i])->stream, NGHTTP2_CANCEL);
	rig_pump(&rig);
	ck_assert_uint_eq(grpcserver_state(rig.server).unanswered, RIG_CALLS);
	call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1));
	rig_pump(&rig);
	ck_assert_uint_eq(call->error, NGHTTP2_REFUSED_STREAM);
	rig_answer(&rig, 3, GRPCSERVER_OK, NULL);
	rig_answer(&rig, 0, GRPCSERVER_UNAVAILABLE, "gone");
	ck_assert_uint_eq(grpcserver_state(rig.server).unanswered, RIG_CALLS - 2);
	rig.answers = true;
	call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1));
	rig_pump(&rig);
	rig_expect_echo(call, (const uint8_t *)"a", 1);
}
END_TEST

/* What was begun is finished, what comes then is not, and it is over. */
START_TEST(stop_is_graceful)
{
	struct rig_call *call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1)),
			*late;

	rig_pump(&rig);
	grpcserver_stop(rig.server);
	late = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "b", 1));
	rig_pump(&rig);
	ck_assert_int_eq(rig.goaway, NGHTTP2_NO_ERROR);
	ck_assert(late->closed && late->error == NGHTTP2_REFUSED_STREAM);
	ck_assert_uint_eq(rig.taken->len, 1);
	ck_assert(!grpcserver_wants_close(rig.server));
	rig_answer(&rig, 0, GRPCSERVER_OK, NULL);
	rig_pump(&rig);
	rig_expect_echo(call, (const uint8_t *)"a", 1);
	ck_assert(grpcserver_wants_close(rig.server));
	ck_assert_ptr_null(grpcserver_why(rig.server));
}
END_TEST

/* An answer goes to whoever reads it, as far as they let it. */
START_TEST(answers_wait_for_the_peer)
{
	const nghttp2_settings_entry none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
	struct rig_call *call;

	nghttp2_submit_settings(rig.client, NGHTTP2_FLAG_NONE, &none, 1);
	rig_pump(&rig);
	rig.answers = true;
	call = rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "abc", 3));
	rig_pump(&rig);
	ck_assert_str_eq(call->http, "200");
	ck_assert_str_eq(call->status, "");
	ck_assert_uint_lt(grpcserver_state(rig.server).bytes, 1024);
	for (int i = 0; i < 8; i++)
		nghttp2_submit_window_update(rig.client, NGHTTP2_FLAG_NONE, call->stream, 1), rig_pump(&rig);
	rig_expect_echo(call, (const uint8_t *)"abc", 3);
}
END_TEST

START_TEST(thousands_of_calls_are_fine)
{
	rig.answers = true;
	for (int i = 0; i < 3000; i++) {
		rig_call(&rig, GRPCSERVER_OTLP_TRACES, NULL, NULL, rig_frame(false, "a", 1));
		nghttp2_submit_ping(rig.client, NGHTTP2_FLAG_NONE, NULL);
		rig_pump(&rig);
	}
	ck_assert_uint_eq(rig.taken->len, 3000);
	ck_assert_ptr_null(grpcserver_why(rig.server));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("grpc");
	Suite *suite = suite_create("grpc");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_loop_test(tests, calls_are_answered, 0, RIG_STEPS);
	tcase_add_test(tests, answers_in_any_order);
	tcase_add_test(tests, large_calls_share_the_room);
	tcase_add_test(tests, room_comes_back);
	tcase_add_test(tests, calls_are_limited);
	tcase_add_test(tests, orphans_count);
	tcase_add_test(tests, stop_is_graceful);
	tcase_add_test(tests, answers_wait_for_the_peer);
	tcase_add_test(tests, thousands_of_calls_are_fine);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, grpc_refusals());
	suite_add_tcase(suite, grpc_floods());
	return run_all(srunner_create(suite));
}
