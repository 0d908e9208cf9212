/* SPDX-License-Identifier: BSD-2-Clause */
/* Zipkin's HTTP: what is posted, and what becomes of each answer. */
#include "uplink_web.h"

#include <stdlib.h>
#include <unistd.h>

#include "net/httpreply.h"
#include "net/otlpreply.h"

static unsigned int number_of(const char *span)
{
	return (unsigned int)strtoul(span + strlen("span "), NULL, 10);
}

/* Each once, in order. */
static void assert_in_web_order(struct web *web)
{
	ck_assert_uint_eq(web->peer->taken->len, web->rig.pushed);
	for (guint i = 0; i < web->rig.pushed; i++)
		ck_assert_uint_eq(number_of(g_ptr_array_index(web->peer->taken, i)), i);
}

/* Pipelined, once the server has shown that the connection stays. */
START_TEST(spans_are_posted)
{
	struct web web;

	open_web(&web, (enum squeeze_kind)_i);
	push(&web.rig, 40);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert_uint_eq(web.peer->connections, 1);
	ck_assert_uint_eq(web.peer->requests, 40);
	ck_assert_uint_gt(web.peer->open_max, 1);
	ck_assert_uint_le(web.peer->open_max, 4);
	ck_assert(state_of(&web.rig).up);
	ck_assert_str_eq(state_of(&web.rig).type, "http");
	close_web(&web);
}
END_TEST

/* With a balance, the next connection comes up while the old one serves: if the file of headers does not do
 * by then, the old one goes on with those that it had. */
START_TEST(headers_stay_with_a_connection)
{
	char path[] = "/tmp/blkin-headers-XXXXXX";
	int fd = mkstemp(path);
	struct web web;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "X-Token: mine\n", 14), 14);
	open_web(&web, SQUEEZE_GZIP);
	web.rig.is.headers_file = path;
	web.rig.options.node = "n1";
	web.rig.options.age_ns = web.rig.is.return_interval = 20 * NS_PER_MS;
	web.peer->header = "\r\nX-Token: mine\r\n";
	push(&web.rig, 1);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	if (_i)
		ck_assert_int_eq(pwrite(fd, "X-Token, mine\n", 14, 0), 14);
	else
		ck_assert_int_eq(unlink(path), 0);
	for (int i = 0; i < 1000 && web.peer->connections < 5; i++) {
		push(&web.rig, 1);
		run_ms(&web.rig, 5);
	}
	ck_assert_uint_ge(web.peer->connections, 5);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert(state_of(&web.rig).up);
	close_web(&web);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(another_path)
{
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	web.peer->path = web.rig.is.path = "/in%20here?tenant=1";
	push(&web.rig, 1);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	close_web(&web);
}
END_TEST

/* All of these take the spans, and keep the connection or not. */
static const struct {
	const char *answer;
	bool stays;
} good_answers[] = {
	{WEB_GOOD, true},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello", true},
	{"HTTP/1.1 204 No Content\r\n\r\n", true},
	{"HTTP/1.1 202\r\ncontent-length:0\r\n\r\n", true},
	{"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: "
	 "x\r\n\r\n",
		true},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", true},
	{"HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false},
	{"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\nto the end", false},
	/* what a small collector says that calls all it says HTML */
	{"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 2\r\n\r\nOK", true},
	{"HTTP/1.1 202 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n", true},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 4\r\n\r\n<a/>", true},
};

START_TEST(good_answers_in_many_forms)
{
	const char *const answers[] = {good_answers[_i].answer, NULL};
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	webpeer_set_answers(web.peer, answers);
	push(&web.rig, 10);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert_uint_ge(web.peer->connections, good_answers[_i].stays ? 1 : 10);
	ck_assert_uint_le(web.peer->connections, good_answers[_i].stays ? 1 : 11);
	close_web(&web);
}
END_TEST

/* These wait; the reason is logged once. */
static const struct {
	const char *answer;
	enum account_row row;
	const char *words;
} bad_answers[] = {
	{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\nback soon", OUTPUT_ERRORS_TRY_LATER,
		"the server asks to try later: HTTP status 503 Service Unavailable: back soon"},
	{"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_TRY_LATER,
		"HTTP status 429 Too Many Requests"},
	{"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n", OUTPUT_ERRORS_TRY_LATER, "HTTP status 500 Oops"},
	{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"HTTP status 404 Not Found; is the output's `path` right?"},
	{"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"permission denied: put a token into a file, and name that in `headers-file`"},
	{"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"HTTP status 401 No; permission denied: put a token into a file, and name that in "
		"`headers-file`"},
	{"HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"HTTP status 415 No; it does not take spans in this form: see the output's `compression`, "
		"and "
		"`format`"},
	{"HTTP/1.1 415 No\r\nAccept-Encoding: gzip, identity\r\nContent-Length: 0\r\n\r\n",
		OUTPUT_ERRORS_REFUSED,
		"compressed like this: see the output's `compression`; it accepts gzip, identity"},
	{"HTTP/1.1 400 Bad Request\r\nContent-Length: 35\r\n\r\nunsupported Content-Encoding: zstd\n",
		OUTPUT_ERRORS_REFUSED, "see the output's `compression`: unsupported Content-Encoding: zstd"},
	{"HTTP/1.1 301 Moved\r\nLocation: https://there/\r\nContent-Length: 0\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"HTTP status 301 Moved; redirected to https://there/"},
	/* a web server, which took nothing */
	{"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 25\r\n\r\n\n<!DOCTYPE "
	 "html>\n<p>hello",
		OUTPUT_ERRORS_REFUSED,
		"HTTP status 200 OK; it is a web page, so this is not a collector, or the output's `path` is "
		"wrong: "},
	{"HTTP/1.1 200 OK\r\ncontent-type: Text/HTML\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n"
	 "0\r\n\r\n",
		OUTPUT_ERRORS_REFUSED, "it is a web page"},
	{"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n", OUTPUT_ERRORS_REFUSED,
		"it is a web page"},
	{"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", OUTPUT_ERRORS_REFUSED,
		"it is a web page"},
	/* of a page only what people read of it */
	{"HTTP/1.0 403 No\r\nContent-Type: text/html\r\n\r\n<html>\r\n<head><title>403 No</title></head>\r\n"
	 "<body>\r\n<center><h1>403 Forbidden</h1></center>\r\n<hr><center>nginx/1.22</center>\r\n",
		OUTPUT_ERRORS_REFUSED, "`headers-file`: 403 Forbidden nginx/1.22"},
	{"HTTP/1.0 403 No\r\n\r\n<!DOCTYPE HTML><style>p { color: red }</style><!-- <b>x --><p>go<b> "
	 "away</b><a",
		OUTPUT_ERRORS_REFUSED, "`headers-file`: go away"},
	{"HTTP/1.0 403 No\r\nContent-Type: text/html\r\n\r\n<html><script>a > b", OUTPUT_ERRORS_REFUSED,
		"permission denied: put a token into a file, and name that in `headers-file`"},
	{"SSH-2.0-OpenSSH_9.2\r\n", OUTPUT_ERRORS_PROTOCOL,
		"the peer answers \"SSH-2.0-OpenSSH_9.2\", which is not HTTP"},
	{"\x01\x02\x03\x04", OUTPUT_ERRORS_PROTOCOL, "the peer does not speak HTTP"},
	{"HTTP/1.1 abc\r\n\r\n", OUTPUT_ERRORS_PROTOCOL, "the peer's HTTP headers are malformed"},
	{"HTTP/1.1 202 OK\r\nContent-Length: -1\r\n\r\n", OUTPUT_ERRORS_PROTOCOL, "headers are malformed"},
	{"HTTP/1.1 202 OK\r\nno colon\r\n\r\n", OUTPUT_ERRORS_PROTOCOL, "headers are malformed"},
	{"HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", OUTPUT_ERRORS_PROTOCOL,
		"the peer's HTTP body is malformed"},
	{"HTTP/1.1 202 OK\r\nContent-Le", OUTPUT_ERRORS_TIMEOUT, "no answer within 0.25 s"},
	{"", OUTPUT_ERRORS_CLOSED, "the server closed the connection"},
};

START_TEST(bad_answers_make_spans_wait)
{
	const char *const answers[] = {bad_answers[_i].answer, NULL};
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	web.rig.is.window = 1;
	if (bad_answers[_i].row == OUTPUT_ERRORS_TIMEOUT)
		web.rig.is.timeout = SHORT_TIMEOUT;
	webpeer_set_answers(web.peer, answers);
	push(&web.rig, 3);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, bad_answers[_i].row) == 3);
	ck_assert_int_eq(errors(&web.rig), 3);
	ASSERT_ROW(&web.rig, SPANS_QUEUED, web.rig.pushed);
	ck_assert(!state_of(&web.rig).up);
	ck_assert_msg(strstr(state_of(&web.rig).error, bad_answers[_i].words) != NULL, "%s",
		state_of(&web.rig).error);
	ck_assert_uint_eq(in_log(&web.rig, bad_answers[_i].words), 1);
	ANSWER(web.peer, WEB_GOOD);
	g_ptr_array_set_size(web.peer->taken, 0);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	close_web(&web);
}
END_TEST

/* By what was sent: with headers of a file, or as OTLP. */
START_TEST(advice_goes_by_what_was_sent)
{
	static const char denied[] = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n",
			  unfit[] = "HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n";
	struct reply reply = {.sent = "/etc/blkin/token"}, other = {.sent = NULL};

	httpreply_read((const uint8_t *)denied, sizeof(denied) - 1, &reply);
	ck_assert_str_eq(reply.words, "HTTP status 401 No; permission denied: it refuses the headers in "
				      "/etc/blkin/token (`headers-file`)");
	otlpreply_read((const uint8_t *)unfit, sizeof(unfit) - 1, &other);
	ck_assert_str_eq(other.words, "HTTP status 415 No; it does not take spans in this form: see the "
				      "output's `compression`, and `path`");
}
END_TEST

static bool bad(const char *span)
{
	return number_of(span) % 50 == 7;
}

/* Refused in one way or other, with the connection kept or closed: the bad spans are found. */
static const char *const refusals[] = {
	"HTTP/1.1 400 Bad Request\r\nContent-Length: 8\r\n\r\nbad span",
	"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
	"HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n5\r\n span\r\n0\r\n\r\n",
	"HTTP/1.0 400 Bad Request\r\n\r\nbad span",
};

START_TEST(bad_spans_are_bisected_out)
{
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	web.peer->bad = bad;
	web.peer->refusal = refusals[_i];
	push(&web.rig, 100);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&web.rig, SPANS_DROPPED_REFUSED, 10);
	ASSERT_ROW(&web.rig, SPANS_SENT, 490);
	ck_assert_uint_ge(web.peer->taken->len, 490);
	ck_assert_int_le(web.peer->taken->len, 490 + row(&web.rig, SPANS_SENT_AGAIN));
	ck_assert_uint_eq(
		in_log(&web.rig,
			"the server refuses a span, which is set aside and counted: \"HTTP status 4"),
		1);
	close_web(&web);
}
END_TEST

/* A server need not read what it does not want. */
START_TEST(refusal_before_the_call_is_sent)
{
	char *span = g_malloc(12 << 20);
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	memset(span, 'x', 12 << 20);
	memcpy(span, "span ", 5);
	web.rig.is.timeout = 20 * NS_PER_SECOND;
	web.peer->early = true;
	ANSWER(web.peer, "HTTP/1.1 429 Slowly\r\nContent-Length: 0\r\n\r\n");
	push_span(&web.rig, span, 12 << 20);
	push_batch(&web.rig);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, OUTPUT_ERRORS_TRY_LATER) == 3);
	ck_assert_int_eq(errors(&web.rig), 3);
	ASSERT_ROW(&web.rig, SPANS_SENT_AGAIN, 0);
	ck_assert_uint_ge(web.peer->connections, 3);
	web.peer->early = false;
	ANSWER(web.peer, WEB_GOOD);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == 1);
	g_free(span);
	close_web(&web);
}
END_TEST

START_TEST(retry_after_is_minded)
{
	int64_t begin = clock_monotonic();
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	ANSWER(web.peer, "HTTP/1.1 503 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", WEB_GOOD);
	push(&web.rig, 1);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_int_ge(clock_monotonic() - begin, NS_PER_SECOND - EARLY_NS);
	close_web(&web);
}
END_TEST

/* A reply in pieces is read once it is whole, and what follows it is not touched. */
START_TEST(every_prefix_is_partial)
{
	const char *answer = good_answers[_i].answer;
	size_t size = strlen(answer);
	char *two = g_strconcat(answer, "HTTP/1.1 400 the next", NULL);
	struct reply reply;

	for (size_t part = 0; part < size; part++) {
		uint8_t *copy = g_memdup2(answer, part); /* of its size, for the sanitizer */
		enum reply_kind kind;

		memset(&reply, 0, sizeof(reply));
		kind = httpreply_read(copy, part, &reply);
		/* One that ends with the connection is read as soon as its head is there. */
		ck_assert(kind == REPLY_PARTIAL || (kind == REPLY_GOOD && reply.last && reply.used == part));
		g_free(copy);
	}
	reply = (struct reply){.ended = true};
	ck_assert_int_eq(httpreply_read((uint8_t *)two, strlen(two), &reply), REPLY_GOOD);
	ck_assert_int_eq(reply.last, !good_answers[_i].stays);
	if (strstr(answer, "Content-Length") || good_answers[_i].stays)
		ck_assert_uint_eq(reply.used, size);
	g_free(two);
}
END_TEST

/* Broken in any way, it is read within its bounds, and its words fit into a line of the log. */
START_TEST(broken_replies_do_no_harm)
{
	static const char alphabet[] = "\0\n\r :;,0129aAfFxz\xff\x80-/HTP";
	const char *answer = _i < (int)LENGTH(good_answers)
				     ? good_answers[_i].answer
				     : bad_answers[_i - (int)LENGTH(good_answers)].answer;
	size_t size = strlen(answer);

	for (int round = 0; round < 3000; round++) {
		size_t part = (size_t)g_random_int_range(0, (int)size + 1);
		uint8_t *copy = g_memdup2(answer, part);
		struct reply reply = {0};
		enum reply_kind kind;

		for (int i = g_random_int_range(0, 6); part > 0 && i > 0; i--)
			copy[g_random_int_range(0, (int)part)] =
				(uint8_t)alphabet[g_random_int_range(0, sizeof(alphabet))];
		kind = httpreply_read(copy, part, &reply);
		ck_assert_uint_le(reply.used, part);
		ck_assert(kind == REPLY_PARTIAL || kind == REPLY_GARBAGE || reply.used > 0);
		ck_assert(memchr(reply.words, '\0', sizeof(reply.words)) != NULL);
		ck_assert(!strchr(reply.words, '\n'));
		ck_assert(reply.wait_ns >= 0);
		g_free(copy);
	}
}
END_TEST

/* Larger than an answer should be: not waited for, or not an answer. */
START_TEST(endless_replies)
{
	static const struct {
		const char *head;
		enum reply_kind kind;
	} cases[] = {
		{"HTTP/1.1 202 OK\r\nX: ", REPLY_GARBAGE},
		{"HTTP/1.1 400 No\r\nContent-Length: 99999999\r\n\r\n", REPLY_REFUSED},
		{"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n", REPLY_REFUSED},
		{"HTTP/1.1 202 OK\r\n\r\n", REPLY_GOOD},
		{"HTTP/1.0 202 OK\r\n\r\n", REPLY_GOOD},
	};
	size_t size = REPLY_MAX + 4096, head;
	uint8_t *bytes = g_malloc(size);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct reply reply = {0};

		head = strlen(cases[i].head);
		memset(bytes, 'x', size);
		memcpy(bytes, cases[i].head, head);
		ck_assert_int_eq(httpreply_read(bytes, size, &reply), cases[i].kind);
		ck_assert(cases[i].kind == REPLY_GARBAGE || reply.last);
	}
	g_free(bytes);
}
END_TEST

/* An answer that ends with the connection is whole when that has ended, or when nothing has come for long. */
START_TEST(answers_to_the_end)
{
	static const struct {
		const char *answer;
		enum reply_kind open, ended;
	} cases[] = {
		{"HTTP/1.0 202 OK\r\n\r\n", REPLY_PARTIAL, REPLY_GOOD},
		{"HTTP/1.0 202 OK\r\n\r\nabc", REPLY_PARTIAL, REPLY_GOOD},
		{"HTTP/1.1 202 OK\r\nConnection: close\r\n\r\nabc", REPLY_PARTIAL, REPLY_GOOD},
		{"HTTP/1.1 400 No\r\nConnection: close\r\n\r\nabc", REPLY_PARTIAL, REPLY_REFUSED},
		{"HTTP/1.1 202 OK\r\n\r\n", REPLY_PARTIAL, REPLY_GOOD}, /* it says of no end */
		{"HTTP/1.0 202 OK\r\nContent-Length: 0\r\n\r\n", REPLY_GOOD, REPLY_GOOD},
		{"HTTP/1.0 204 OK\r\n\r\n", REPLY_GOOD, REPLY_GOOD},
		/* cut short: what the server did with the call is in the head */
		{"HTTP/1.0 202 OK\r\nContent-Length: 4\r\n\r\nabc", REPLY_PARTIAL, REPLY_GOOD},
		{"HTTP/1.0 503 No\r\nContent-Length: 4\r\n\r\nabc", REPLY_PARTIAL, REPLY_PUT_OFF},
		{"HTTP/1.0 202 OK\r\n", REPLY_PARTIAL, REPLY_PARTIAL},
		{"HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", REPLY_PARTIAL, REPLY_GOOD},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const size_t size = strlen(cases[i].answer);

		for (int ended = 0; ended < 2; ended++) {
			struct reply reply = {.ended = ended};
			enum reply_kind kind = httpreply_read((const uint8_t *)cases[i].answer, size, &reply);

			ck_assert_msg(kind == (ended ? cases[i].ended : cases[i].open), "%zu %d: %d", i,
				ended, kind);
			ck_assert(kind == REPLY_PARTIAL || reply.used == size);
		}
	}
}
END_TEST

/* A server that says it closes, and does not: its answer counts when the time is over. */
START_TEST(answer_without_its_end)
{
	struct web web;

	open_web(&web, SQUEEZE_NONE);
	web.rig.is.timeout = NS_PER_SECOND;
	web.peer->lingers = true;
	ANSWER(web.peer, "HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\nabc");
	push(&web.rig, 2);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	assert_in_web_order(&web);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert_uint_eq(web.peer->requests, 2);
	close_web(&web);
}
END_TEST

/* What servers of gRPC begin with, and what comes of it. */
START_TEST(grpc_is_said)
{
	static const char *const frames[] = {"\0\0\6\4\0\0\0\0\0\0\5\0\0\x40\0", "\0\0\0\4\0\0\0\0\0",
		"\0\0\x8\7\0\0\0\0\0\0\0\0\0\0\0\0\1"};
	static const size_t sizes[] = {15, 9, 17};

	for (size_t i = 0; i < LENGTH(frames); i++) {
		struct reply reply = {0};

		ck_assert_int_eq(httpreply_read((const uint8_t *)frames[i], sizes[i], &reply), REPLY_GARBAGE);
		ck_assert_int_eq(reply.fault, FAULT_IS_GRPC);
		ck_assert_str_eq(reply.words,
			"the peer speaks HTTP/2 only, as gRPC does: OTLP has port 4317 for "
			"gRPC, and 4318 for HTTP");
	}
}
END_TEST

TCase *uplink_http(void)
{
	TCase *tests = tcase_create("http");

	tcase_add_loop_test(tests, spans_are_posted, SQUEEZE_NONE, SQUEEZE_ZSTD + 1);
	tcase_add_test(tests, another_path);
	tcase_add_loop_test(tests, headers_stay_with_a_connection, 0, 2);
	tcase_add_loop_test(tests, good_answers_in_many_forms, 0, (int)LENGTH(good_answers));
	tcase_add_loop_test(tests, bad_answers_make_spans_wait, 0, (int)LENGTH(bad_answers));
	tcase_add_test(tests, advice_goes_by_what_was_sent);
	tcase_add_loop_test(tests, bad_spans_are_bisected_out, 0, (int)LENGTH(refusals));
	tcase_add_test(tests, refusal_before_the_call_is_sent);
	tcase_add_test(tests, retry_after_is_minded);
	tcase_add_loop_test(tests, every_prefix_is_partial, 0, (int)LENGTH(good_answers));
	tcase_add_loop_test(
		tests, broken_replies_do_no_harm, 0, (int)(LENGTH(good_answers) + LENGTH(bad_answers)));
	tcase_add_test(tests, endless_replies);
	tcase_add_test(tests, answers_to_the_end);
	tcase_add_test(tests, answer_without_its_end);
	tcase_add_test(tests, grpc_is_said);
	tcase_set_timeout(tests, 30);
	return tests;
}
