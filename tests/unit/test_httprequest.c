/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the agent over HTTP/1, whole, in pieces and wrong; and its answers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "net/httpanswer.h"
#include "net/httprequest.h"
#include "run.h"

#define MOST 1000
#define HOST "Host: a\r\n"

/* What came of all the bytes, a line for each request: "METHOD PATH BODY" or "! STATUS". */
static char *tell(struct httprequest *request, const char *data, size_t size, size_t step)
{
	GString *told = g_string_new("");
	enum httprequest_state state = HTTPREQUEST_MORE;

	for (size_t at = 0; at < size && state != HTTPREQUEST_BAD;) {
		size_t piece = MIN(step, size - at), used;
		uint8_t *copy = g_memdup2(data + at, piece), *from = copy;

		at += piece;
		do {
			state = httprequest_feed(request, from, piece, &used);
			from += used;
			piece -= used;
			if (state == HTTPREQUEST_WHOLE) {
				g_string_append_printf(told, "%s %s %.*s\n", request->head.method,
					request->head.path, (int)request->body.size,
					request->body.data ? (const char *)request->body.data : "");
				httprequest_next(request);
			}
			if (state == HTTPREQUEST_BAD) {
				ck_assert_ptr_nonnull(request->why);
				g_string_append_printf(told, "! %d\n", request->status);
			}
		} while (state == HTTPREQUEST_HEAD || state == HTTPREQUEST_WHOLE);
		ck_assert(state == HTTPREQUEST_BAD || !piece);
		g_free(copy);
	}
	return g_string_free(told, FALSE);
}

static const struct {
	const char *data, *told;
} cases[] = {
	{"POST /v1/traces HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", "POST /v1/traces abc\n"},
	{"POST /v1/traces?x=y HTTP/1.1\r\n" HOST "Content-Length:3\r\n\r\nabc", "POST /v1/traces abc\n"},
	{"POST http://b:1/v1/traces HTTP/1.1\r\n" HOST "\r\n", "POST /v1/traces \n"},
	{"POST http://b:1 HTTP/1.1\r\n" HOST "\r\n", "POST / \n"},
	{"GET / HTTP/1.0\r\n\r\n", "GET / \n"},
	{"\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "GET / \n"},
	/* one after the other */
	{"POST /a HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nAPOST /b HTTP/1.1\r\n" HOST
	 "Transfer-Encoding: chunked\r\n\r\n2\r\nBB\r\n0\r\n\r\nGET /c HTTP/1.1\r\n" HOST "\r\n",
		"POST /a A\nPOST /b BB\nGET /c \n"},
	/* chunks */
	{"POST / HTTP/1.1\r\n" HOST
	 "Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0B \r\n0123456789\n\r\n"
	 "000\r\nA: b\r\nC: d\r\n\r\n",
		"POST / abc0123456789\n\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "POST / \n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3;a\rb\r\nabc\r\n0\r\n\r\n",
		"! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n000000003\r\nabc\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3e9\r\n", "! 413\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", "! 413\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n3e8\r\n", "! 413\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nGET / HTTP/1.1\r\n\r\n",
		"! 400\n"},
	/* what others may read in another way */
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3 3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551616\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Content-Length : 3\r\n\r\nabc", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A: b\r\n Content-Length: 3\r\n\r\nabc", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n " HOST "\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A: b\rContent-Length: 3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A: b\nContent-Length: 3\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST ": b\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "A\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", "! 501\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n", "! 501\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n", "! 501\n"},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"! 400\n"},
	{"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n" HOST HOST "\r\n", "! 400\n"},
	{"POST / HTTP/1.1\r\n\r\n", "! 400\n"},
	/* other first lines */
	{"POST  / HTTP/1.1\r\n" HOST "\r\n", "! 400\n"},
	{"POST / HTTP/1.1 \r\n" HOST "\r\n", "! 400\n"},
	{"POST / HTTP/1.12\r\n" HOST "\r\n", "! 400\n"},
	{"POST / HTTP/3.0\r\n" HOST "\r\n", "! 505\n"},
	{"POST /\r\n" HOST "\r\n", "! 400\n"},
	{"POST / HTTP/1.1\n" HOST "\r\n", "! 400\n"},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "! 505\n"},
	{"ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n" HOST "\r\n", "! 501\n"},
	{"\x16\x03\x01", "! 400\n"},
	{"\x80\x01", "! 400\n"},
	{"P\x80ST / HTTP/1.1\r\n\r\n", "! 400\n"},
	/* more than may be */
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", "! 413\n"},
	{"POST / HTTP/1.1\r\n" HOST "Expect: 200-maybe\r\n\r\n", "! 417\n"},
};

/* At once, byte by byte, and in pieces of each size between. */
START_TEST(requests_are_read)
{
	for (size_t step = 1; step < strlen(cases[_i].data) + 2; step++) {
		struct httprequest request = {.most = MOST};
		g_autofree char *told = tell(&request, cases[_i].data, strlen(cases[_i].data), step);

		ck_assert_msg(!strcmp(told, cases[_i].told), "in pieces of %zu: %s", step, told);
		httprequest_free(&request);
	}
}
END_TEST

/* A head without an end takes 16 KiB, in few lines or in many; and so does what is behind chunks. */
START_TEST(heads_have_a_limit)
{
	static const char *const begins[] = {"POST / HTTP/1.1\r\n" HOST,
		"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n", "GET /", ""};
	static const char *const goes_on[] = {"A: b\r\n", "A:b", "x", "\r\n"};
	struct httprequest request = {.most = MOST};
	GString *data = g_string_new(begins[_i]);
	g_autofree char *told = NULL;

	while (data->len < 3 * HTTPREQUEST_HEAD_MAX)
		g_string_append(data, goes_on[_i]);
	told = tell(&request, data->str, data->len, 999);
	ck_assert_str_eq(told, "! 431\n");
	ck_assert_uint_eq(httprequest_room(&request), 0);
	httprequest_free(&request);
	g_string_free(data, TRUE);
}
END_TEST

/* Those behind a body do not count together with those between its chunks. */
START_TEST(trailers_have_a_limit)
{
	static const char *const goes_on[] = {"A: b\r\n", "A:b"};
	struct httprequest request = {.most = 20000};
	GString *data = g_string_new("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	g_autofree char *told = NULL;

	for (int i = 0; i < 4000; i++)
		g_string_append(data, "1\r\nx\r\n");
	g_string_append(data, "0\r\n");
	for (size_t end = data->len + 3 * HTTPREQUEST_HEAD_MAX; data->len < end;)
		g_string_append(data, goes_on[_i]);
	told = tell(&request, data->str, data->len, 999);
	ck_assert(g_str_has_suffix(told, "! 431\n"));
	ck_assert_uint_eq(httprequest_room(&request), 0);
	httprequest_free(&request);
	g_string_free(data, TRUE);
}
END_TEST

/* Lines between chunks come with each of them, and are forgotten. */
START_TEST(many_chunks)
{
	struct httprequest request = {.most = 20000};
	GString *data = g_string_new("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	g_autofree char *told = NULL;

	for (int i = 0; i < 20000; i++)
		g_string_append(data, "1;some=extension\r\nx\r\n");
	g_string_append(data, "0\r\n\r\n");
	told = tell(&request, data->str, data->len, 7777);
	ck_assert_uint_eq(strlen(told), 20000 + strlen("POST / \n"));
	ck_assert_uint_le(httprequest_room(&request), 1024);
	httprequest_free(&request);
	g_string_free(data, TRUE);
}
END_TEST

static struct httprequest read_head(const char *data)
{
	struct httprequest request = {.most = MOST};
	size_t used;

	ck_assert_int_eq(
		httprequest_feed(&request, (const uint8_t *)data, strlen(data), &used), HTTPREQUEST_HEAD);
	ck_assert_uint_eq(used, (size_t)(strstr(data, "\r\n\r\n") + 4 - data));
	return request;
}

START_TEST(heads_say)
{
	struct httprequest request = read_head(
		"POST /v1/logs HTTP/1.1\r\nhost: a\r\nCONTENT-TYPE:\t Application/JSON ; charset=utf-8 \r\n"
		"Content-Encoding: GZIP\r\nContent-Length: 1000\r\nExpect: 100-Continue\r\n\r\n");
	const struct httphead *head = &request.head;

	ck_assert_str_eq(head->type, "application/json");
	ck_assert_str_eq(head->encoding, "gzip");
	ck_assert(head->has_length && head->length == 1000 && head->minor == 1);
	ck_assert(httprequest_wants_continue(&request));
	ck_assert(httprequest_is_unfinished(&request));
	httprequest_free(&request);
	request = read_head(
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
	ck_assert(!httprequest_wants_continue(&request));
	httprequest_free(&request);
	request = read_head("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
	ck_assert(!httprequest_wants_continue(&request));
	httprequest_free(&request);
}
END_TEST

/* What is cut is none that is known. */
START_TEST(long_words_are_cut)
{
	GString *data = g_string_new("POST /v1/traces");
	struct httprequest request;

	for (int i = 0; i < 200; i++)
		g_string_append(data, "/v1/traces");
	g_string_append(data, " HTTP/1.1\r\n" HOST "Content-Type: application/x-protobuf");
	for (int i = 0; i < 200; i++)
		g_string_append(data, "application/x-protobuf");
	g_string_append(data, "\r\n\r\n");
	request = read_head(data->str);
	ck_assert_uint_eq(strlen(request.head.path), sizeof(request.head.path) - 1);
	ck_assert_uint_eq(strlen(request.head.type), sizeof(request.head.type) - 1);
	httprequest_free(&request);
	g_string_free(data, TRUE);
}
END_TEST

static const struct {
	const char *head;
	bool close, keep;
} ends[] = {
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false, false},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true, false},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n", true, false},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nConnection: close\r\n\r\n", true, false},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", false, false},
	{"GET / HTTP/1.0\r\n\r\n", true, false},
	{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, true},
	{"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", true, false},
};

START_TEST(connections_end)
{
	struct httprequest request = read_head(ends[_i].head);

	ck_assert_int_eq(request.head.close, ends[_i].close);
	ck_assert_int_eq(request.head.keep, ends[_i].keep);
	httprequest_free(&request);
}
END_TEST

/* A body that nobody wants is passed by, within the same bounds. */
START_TEST(bodies_are_skipped)
{
	static const char data[] =
		"POST /x HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabcGET /y HTTP/1.1\r\n";
	struct httprequest request = {.most = MOST};
	const uint8_t *at = (const uint8_t *)data;
	size_t size = strlen(data), used;

	ck_assert_int_eq(httprequest_feed(&request, at, size, &used), HTTPREQUEST_HEAD);
	httprequest_skip(&request);
	at += used;
	size -= used;
	ck_assert_int_eq(httprequest_feed(&request, at, size, &used), HTTPREQUEST_WHOLE);
	ck_assert_uint_eq(used, 3);
	ck_assert_uint_eq(request.body.size, 0);
	httprequest_next(&request);
	ck_assert(!httprequest_is_unfinished(&request));
	ck_assert_int_eq(httprequest_feed(&request, at + used, size - used, &used), HTTPREQUEST_MORE);
	ck_assert(httprequest_is_unfinished(&request));
	httprequest_free(&request);
}
END_TEST

START_TEST(answers)
{
	static const struct httpanswer
		good = {.status = 200, .type = "application/json", .body = "{}", .size = 2},
		later = {.status = 503, .retry_after = 7, .more = "A: b\r\n", .close = true};
	struct httphead head = {.method = "POST", .minor = 1}, old = {.method = "HEAD", .keep = true},
			bad = {.close = true};
	struct buffer out = {0};

	httpanswer_put(&out, &head, &good);
	httpanswer_put(&out, &old, &good);
	httpanswer_put(&out, &head, &later);
	httpanswer_put(&out, &bad, &good);
	httpanswer_put_continue(&out);
	buffer_put(&out, "", 1);
	ck_assert_str_eq((const char *)out.data,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
		"Connection: keep-alive\r\n\r\n"
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 7\r\nA: b\r\n"
		"Connection: close\r\n\r\n"
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
		"Connection: close\r\n\r\n{}"
		"HTTP/1.1 100 Continue\r\n\r\n");
	buffer_free(&out);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("httprequest");

	tcase_add_loop_test(tests, requests_are_read, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, heads_have_a_limit, 0, 4);
	tcase_add_loop_test(tests, trailers_have_a_limit, 0, 2);
	tcase_add_test(tests, many_chunks);
	tcase_add_test(tests, heads_say);
	tcase_add_test(tests, long_words_are_cut);
	tcase_add_loop_test(tests, connections_end, 0, G_N_ELEMENTS(ends));
	tcase_add_test(tests, bodies_are_skipped);
	tcase_add_test(tests, answers);
	return run_cases("httprequest", tests);
}
