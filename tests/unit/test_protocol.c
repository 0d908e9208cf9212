/* SPDX-License-Identifier: BSD-2-Clause */
/* What `blkin status` and the agent say to each other: it comes through as it was, and nothing else does. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"
#include "status/discardtalk.h"
#include "status/protocol.h"

#include "run.h"

/* Whatever a terminal obeys, in UTF-8 or not, is gone; all else stays as it is. */
START_TEST(controls_are_cleaned)
{
	static const struct {
		const char *text, *clean;
	} cases[] = {{"plain, ä, \xf0\x9f\x99\x82", "plain, ä, \xf0\x9f\x99\x82"},
		{"a\x1b[2J\nb\x7f", "a?[2J?b?"},
		{"C1 \xc2\x80 \xc2\x9b\x32J \xc2\x9f \xc2\xa0", "C1 ?? ??2J ?? \xc2\xa0"},
		{"\x9b\x32J \xc2", "?2J ?"}, {"\xe2\x82", "??"}, {"\xc0\x9b", "??"}, {"", ""}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup(cases[i].text);

		words_clean(text, strlen(text));
		ck_assert_str_eq(text, cases[i].clean);
	}
}
END_TEST

START_TEST(session_comes_through)
{
	const struct protocol_session sessions[] = {
		{.protocol = 1, .agent = "0.1.0", .name = "blkin", .tracing_group = "tracing"},
		{.protocol = 99, .agent = "7.0 rc", .name = "a session of words"},
	};
	struct protocol_session read;

	for (size_t i = 0; i < G_N_ELEMENTS(sessions); i++) {
		struct buffer text = {0};

		protocol_put_session(&text, &sessions[i]);
		buffer_put(&text, "unknown line\n", 14);
		ck_assert(protocol_get_session((const char *)text.data, &read));
		ck_assert_mem_eq(&read, &sessions[i], sizeof(read));
		buffer_free(&text);
	}
}
END_TEST

START_TEST(sessions_that_are_none_are_refused)
{
	g_autofree char *filler = g_strnfill(256, 'x'),
			*long_name = g_strconcat("session ", filler, "\n", NULL);
	struct protocol_session read;

	ck_assert(!protocol_get_session("", &read));
	ck_assert(!protocol_get_session("session \nprotocol 1\n", &read));
	ck_assert(!protocol_get_session("protocol 1\n", &read));
	ck_assert(!protocol_get_session("session s\nprotocol x\n", &read));
	ck_assert(!protocol_get_session("session s\nprotocol -1\n", &read));
	ck_assert(!protocol_get_session(long_name, &read));
	/* an agent from before there were versions */
	ck_assert(protocol_get_session("session blkin\ntracing-group tracing\n", &read));
	ck_assert_int_eq(read.protocol, 0);
}
END_TEST

static void assert_order(const char *output, int64_t before)
{
	struct discard_question question = {.before = before}, read;
	struct buffer query = {0};

	g_strlcpy(question.output, output, sizeof(question.output));
	discardtalk_put_question(&query, &question);
	buffer_put(&query, "", 1);
	ck_assert(discardtalk_get_question((const char *)query.data, &read));
	ck_assert_str_eq(read.output, output);
	ck_assert_int_eq(read.before, before);
	buffer_free(&query);
}

START_TEST(orders_come_through)
{
	struct discard_state state = {7, true, 3, INT64_MAX, 2, "the disk is full"}, read;
	struct buffer answer = {0};

	assert_order("default", INT64_MAX);
	assert_order("west-2", 0);
	assert_order("a", 1700000000000000000);
	discardtalk_put_answer(&answer, &state);
	buffer_put(&answer, "", 1);
	ck_assert(discardtalk_get_answer((const char *)answer.data, &read));
	ck_assert(read.order == 7 && read.over && read.batches == 3 && read.spans == INT64_MAX);
	ck_assert_int_eq(read.under_way, 2);
	ck_assert_str_eq(read.error, state.error);
	buffer_free(&answer);
}
END_TEST

/* What is not understood to the last word is no order. */
START_TEST(orders_that_are_none_are_refused)
{
	static const char *const garbage[] = {"", "protocol=6", "output=west", "protocol=7&output=west",
		"protocol=6&output=", "protocol=6&output=../x", "protocol=6&output=a%2fb",
		"protocol=6&output=west&before=", "protocol=6&output=west&before=-1",
		"protocol=6&output=west&before=3h", "protocol=6&output=west&before=9223372036854775808",
		"protocol=6&output=west&after=3", "protocol=6&output=west&before=3&dry=1"};
	static const char *const answers[] = {"", "ok\n", "order 1\nover 1\n",
		"order 1\nover 1\nbatches x\nspans 1\nunder-way 0\nerror \n",
		"order 1\nover 1\nbatches -1\nspans 1\nunder-way 0\nerror \n"};
	struct discard_question question;
	struct discard_state state;

	ck_assert(!discardtalk_get_question(NULL, &question));
	for (size_t i = 0; i < G_N_ELEMENTS(garbage); i++) {
		ck_assert_msg(!discardtalk_get_question(garbage[i], &question), "%s", garbage[i]);
		ck_assert_str_eq(question.output, "");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(answers); i++)
		ck_assert_msg(!discardtalk_get_answer(answers[i], &state), "%s", answers[i]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {controls_are_cleaned, session_comes_through,
		sessions_that_are_none_are_refused, orders_come_through, orders_that_are_none_are_refused};
	TCase *cases = tcase_create("protocol");

	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(cases, tests[i]);
	return run_cases("protocol", cases);
}
