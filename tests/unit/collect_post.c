/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of HTTP, in chunks. */
#include <string.h>

#include "collect_cases.h"
#include "http/post.h"
#include "status/trace/span2.h"

#define HEAD                                                                                                 \
	"POST /api/v2/spans HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"                       \
	"Transfer-Encoding: chunked\r\n\r\n"
/* The body is [{"id":"1","traceId":"2"}]. */
#define FIRST "4;x=y\r\n[{\"i\r\n"
#define SECOND "16 \r\nd\":\"1\",\"traceId\":\"2\"}]\r\n"
#define LAST "0\r\nTrailer: x\r\n\r\n"

static struct evbuffer *input;
static struct post post;

static void setup(void)
{
	input = evbuffer_new();
	post_begin(&post);
	post.spans = g_ptr_array_new_with_free_func(span2_free);
}

static void teardown(void)
{
	evbuffer_free(input);
	g_ptr_array_unref(post.spans);
	post_end(&post);
}

static bool take(const char *bytes)
{
	evbuffer_add(input, bytes, strlen(bytes));
	return post_take(input, &post);
}

static void assert_answer(const char *status, size_t spans)
{
	buffer_put(&post.reply, "", 1);
	ck_assert_msg(g_str_has_prefix((const char *)post.reply.data, status), "%s", post.reply.data);
	ck_assert_uint_eq(post.spans->len, spans);
	ck_assert(!post_is_unfinished(&post));
	post.reply.size = 0;
}

/* What has come is taken at once, however little it is. */
START_TEST(in_pieces)
{
	static const char whole[] = HEAD FIRST SECOND LAST;
	char piece[2] = "";

	for (size_t round = 1; round <= 2; round++) {
		for (size_t i = 0; i + 2 < sizeof(whole); i++) {
			*piece = whole[i];
			ck_assert(!take(piece));
			ck_assert_uint_eq(evbuffer_get_length(input), 0);
			ck_assert(post_is_unfinished(&post));
		}
		ck_assert(take("\n"));
		assert_answer("HTTP/1.1 202 ", round);
		ck_assert(!post.close);
	}
}
END_TEST

/* A client that waits for it before it sends a large body, as curl does, is told to go on. */
START_TEST(waits_for_its_body)
{
	ck_assert(!take("POST /api/v2/spans HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
			"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
	buffer_put(&post.reply, "", 1);
	ck_assert_str_eq((const char *)post.reply.data, "HTTP/1.1 100 Continue\r\n\r\n");
	post.reply.size = 0;
	ck_assert(take("[]"));
	assert_answer("HTTP/1.1 202 ", 0);
}
END_TEST

/* What is behind one is the next one's. */
START_TEST(one_after_another)
{
	ck_assert(take(HEAD FIRST SECOND LAST HEAD FIRST SECOND LAST));
	assert_answer("HTTP/1.1 202 ", 1);
	ck_assert(take(""));
	assert_answer("HTTP/1.1 202 ", 2);
}
END_TEST

/* Where nothing is there is no address of it either. */
START_TEST(nothing)
{
	ck_assert(!take(""));
	ck_assert(take(HEAD "0\r\n\r\n"));
	assert_answer("HTTP/1.1 400 ", 0);
	ck_assert(!take(""));
	ck_assert(!post.close);
}
END_TEST

START_TEST(refused)
{
	static const char *const wrong[] = {"\r\n[]\r\n", "z\r\n[]\r\n", "2\r\n[]x", "2x\r\n[]\r\n",
		"-2\r\n[]\r\n", "000000002\r\n[]\r\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		teardown();
		setup();
		ck_assert(!take(HEAD FIRST));
		ck_assert_msg(take(wrong[i]) || take("\n"), "%s", wrong[i]);
		assert_answer("HTTP/1.1 400 ", 0);
		ck_assert(post.close);
	}
}
END_TEST

/* Also in chunks, however small they are. */
START_TEST(too_large)
{
	GString *piece = g_string_new(NULL);
	size_t pieces = 0;

	for (int i = 0; i < 1000; i++)
		g_string_append_printf(piece, "64\r\n%0100d\r\n", i);
	ck_assert(!take(HEAD));
	while (!take(piece->str))
		pieces++;
	assert_answer("HTTP/1.1 413 ", 0);
	ck_assert(post.close);
	ck_assert_uint_eq(pieces, 15 * 1024 * 1024 / 100000);
	g_string_free(piece, TRUE);
}
END_TEST

TCase *collect_post_cases(void)
{
	TCase *cases = tcase_create("post");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, in_pieces);
	tcase_add_test(cases, waits_for_its_body);
	tcase_add_test(cases, one_after_another);
	tcase_add_test(cases, nothing);
	tcase_add_test(cases, refused);
	tcase_add_test(cases, too_large);
	return cases;
}
