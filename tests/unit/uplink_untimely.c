/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP answers at the wrong time: before their call was sent, to no call, or not before a while is over. */
#include "uplink_web.h"

/* Nobody can take what was not sent yet. */
START_TEST(taken_before_the_call_is_sent)
{
	char *span = g_malloc(12 << 20);
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	memset(span, 'x', 12 << 20);
	memcpy(span, "span ", 5);
	web.peer->early = true;
	push_span(&web.rig, span, 12 << 20);
	push_batch(&web.rig);
	start(&web.rig);
	RUN_UNTIL(&web.rig, errors(&web.rig) > 0 || row(&web.rig, SPANS_SENT) > 0);
	ASSERT_ROW(&web.rig, OUTPUT_ERRORS_PROTOCOL, 1);
	ASSERT_ROW(&web.rig, SPANS_SENT, 0);
	ASSERT_ROW(&web.rig, SPANS_QUEUED, 1);
	ck_assert_uint_eq(in_log(&web.rig, "the peer answered a call before it was sent completely"), 1);
	web.peer->early = false;
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == 1);
	ck_assert_uint_eq(web.peer->taken->len, 1);
	ASSERT_ROW(&web.rig, SPANS_SENT_AGAIN, 0);
	g_free(span);
	close_web(&web);
}
END_TEST

static const struct {
	const char *answer;
	bool idle; /* no error */
} unasked[] = {
	{"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true},
	{"HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nbye", true},
	{"HTTP/1.0 408 Request Time-out\r\n\r\n<html>", true},
	{"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", true},
	{"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", false},
	{"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false},
};

/* A server may say that it waits no longer, and end the connection: as idle as one that just closes. */
START_TEST(said_to_nobody)
{
	bool idle = unasked[_i].idle;
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	push(&web.rig, 2);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	webpeer_say(web.peer, unasked[_i].answer);
	RUN_UNTIL(&web.rig, !state_of(&web.rig).up);
	ASSERT_ROW(&web.rig, OUTPUT_ERRORS_PROTOCOL, !idle);
	ck_assert_int_eq(errors(&web.rig), !idle);
	ck_assert_uint_eq(in_log(&web.rig, "spans wait"), !idle);
	ck_assert_ptr_nonnull(strstr(state_of(&web.rig).error, idle ? "HTTP status 4" : "without a call"));
	push(&web.rig, 2);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_uint_eq(web.peer->taken->len, web.rig.pushed);
	ck_assert_uint_eq(web.peer->connections, 2);
	close_web(&web);
}
END_TEST

/* Of two servers, too: the one that asked for a second is not tried before, and has the spans again then. */
START_TEST(retry_after_of_the_first)
{
	int64_t begin = clock_monotonic();
	struct webpeer *second;
	size_t used;
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	second = webpeer_create(web.rig.base);
	used = strlen(web.rig.server);
	snprintf(web.rig.server + used, sizeof(web.rig.server) - used, ",127.0.0.1:%u", second->port);
	web.rig.is.return_interval = 50 * NS_PER_MS;
	ANSWER(web.peer, "HTTP/1.1 429 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", WEB_GOOD);
	start(&web.rig);
	do {
		push(&web.rig, 1);
		run_ms(&web.rig, 10);
	} while (web.peer->requests < 2);
	ck_assert_int_ge(clock_monotonic() - begin, NS_PER_SECOND - EARLY_NS);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_uint_eq(web.peer->taken->len + second->taken->len, web.rig.pushed);
	ck_assert(state_of(&web.rig).servers[0].serving);
	ASSERT_ROW(&web.rig, OUTPUT_ERRORS_TRY_LATER, 1);
	webpeer_destroy(second);
	close_web(&web);
}
END_TEST

TCase *uplink_untimely(void)
{
	TCase *tests = tcase_create("untimely");

	tcase_add_test(tests, taken_before_the_call_is_sent);
	tcase_add_loop_test(tests, said_to_nobody, 0, (int)LENGTH(unasked));
	tcase_add_test(tests, retry_after_of_the_first);
	tcase_set_timeout(tests, 30);
	return tests;
}
