/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that refuse calls: the bad spans are found and set aside, and no other is. */
#include "uplink_rig.h"

#include <stdlib.h>

static unsigned int number_of(const char *span)
{
	return (unsigned int)strtoul(span + strlen("span "), NULL, 10);
}

static bool every_200th(const char *span)
{
	return number_of(span) % 200 == 77;
}

static bool first_100(const char *span)
{
	return number_of(span) < 100;
}

static bool third(const char *span)
{
	return number_of(span) == 3;
}

static bool all(const char *span)
{
	(void)span;
	return true;
}

/* Every span but the bad ones arrived, and once. */
static void assert_all_but_bad(struct rig *rig, bool (*bad)(const char *span))
{
	char span[32];

	for (unsigned int i = 0; i < rig->pushed; i++) {
		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_msg(peer_count(rig->peer, span) == (bad(span) ? 0 : 1), "%s came %u times", span,
			peer_count(rig->peer, span));
	}
}

static const struct {
	bool (*bad)(const char *span);
	int batches, spans;
	unsigned int refused, calls_max;
} sifts[] = {
	{third, 4, 500, 1, 4 + 2 * 9},
	{every_200th, 10, 500, 25, 10 + 25 * 2 * 9},
	{first_100, 4, 500, 100, 4 + 2 * 130},
	{every_200th, 100, 10, 5, 100 + 5 * 2 * 4},
};

START_TEST(bad_spans_are_bisected_out)
{
	struct rig rig;

	rig_open(&rig);
	rig.is.window = _i < (int)LENGTH(sifts) ? 4 : 1;
	_i %= (int)LENGTH(sifts);
	rig.peer->bad = sifts[_i].bad;
	for (int i = 0; i < sifts[_i].batches; i++)
		push_many(&rig, sifts[_i].spans);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, sifts[_i].refused);
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed - sifts[_i].refused);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_REFUSED, rig.peer->refused);
	ck_assert_int_eq(errors(&rig), rig.peer->refused);
	assert_all_but_bad(&rig, sifts[_i].bad);
	ck_assert_uint_le(rig.peer->calls, sifts[_i].calls_max);
	ck_assert_uint_eq(rig.peer->connections, 1);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	ck_assert(state_of(&rig).up);
	/* The first in its words, the others within ten seconds. */
	ck_assert_uint_eq(in_log(&rig, "\"bad span span "), 1);
	ck_assert_uint_eq(in_log(&rig, "\n"), 2);
	rig_close(&rig);
}
END_TEST

/* While a batch of nothing but bad spans is bisected, others are not held up by it. */
START_TEST(others_keep_flowing)
{
	unsigned int good = 0;
	struct rig rig;

	rig_open(&rig);
	rig.is.window = 1;
	rig.peer->bad = first_100;
	push_many(&rig, 100);
	for (; good < 100; good += 5)
		push_many(&rig, 5);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 100);
	/* At every other call, so by the fortieth; a hundred bad spans take two hundred. */
	ck_assert_uint_le(rig.peer->calls, 45);
	for (; row(&rig, SPANS_DROPPED_REFUSED) < 100; good++) {
		push_many(&rig, 1);
		RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == good + 1);
	}
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 100);
	ck_assert_uint_eq(rig.peer->connections, 1);
	assert_all_but_bad(&rig, first_100);
	rig_close(&rig);
}
END_TEST

/* It took spans, and then refuses everything: no more than a few are set aside before it is left alone. */
START_TEST(server_that_comes_to_refuse_everything)
{
	int64_t aside;
	struct rig rig;

	rig_open(&rig);
	push_many(&rig, 50);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 50);
	rig.peer->bad = all;
	for (int i = 0; i < 20; i++)
		push_many(&rig, 500);
	RUN_UNTIL(&rig, in_log(&rig, "refuses everything") == 1);
	aside = row(&rig, SPANS_DROPPED_REFUSED);
	ck_assert_int_le(aside, 50);
	ck_assert(!state_of(&rig).up);
	ck_assert_ptr_nonnull(
		strstr(state_of(&rig).error, "the server refuses everything: \"bad span span "));
	/* From then on it is asked again, after rests, and nothing more is set aside. */
	RUN_UNTIL(&rig, rig.peer->connections >= 5);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, aside);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed - 50 - aside);
	ck_assert_uint_eq(in_log(&rig, "refuses everything"), 1);
	/* In each try, no more calls than it takes to see it. */
	ck_assert_uint_le(rig.peer->refused, 64 + 4 + 5 * 25);
	rig.peer->bad = NULL;
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed - aside);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 1);
	rig_close(&rig);
}
END_TEST

/* It never took any: nothing is set aside at all. */
START_TEST(server_that_always_refused_everything)
{
	struct rig rig;

	rig_open(&rig);
	rig.peer->bad = all;
	for (int i = 0; i < 1 + 19 * _i; i++)
		push_many(&rig, _i ? 500 : 1);
	start(&rig);
	RUN_UNTIL(&rig, in_log(&rig, "refuses everything") == 1 && rig.peer->connections == 4);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, rig.pushed);
	rig.peer->bad = NULL;
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_uint_eq(in_log(&rig, "delivering again"), 1);
	rig_close(&rig);
}
END_TEST

/* A bad span alone, and first of all: it waits until the server has taken another one. */
START_TEST(bad_span_before_all_others)
{
	struct rig rig;

	rig_open(&rig);
	rig.peer->bad = first_100;
	push_many(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, rig.peer->refused == 3);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	push_many(&rig, 150);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 100);
	ASSERT_ROW(&rig, SPANS_SENT, 51);
	assert_all_but_bad(&rig, first_100);
	rig_close(&rig);
}
END_TEST

/* The connection goes while a batch is bisected: what was settled stays settled, and the rest goes again. */
START_TEST(lost_while_bisecting)
{
	struct rig rig;

	rig_open(&rig);
	rig.peer->bad = every_200th;
	rig.peer->delay_ms = 1;
	for (int i = 0; i < 5; i++)
		push_many(&rig, 400);
	start(&rig);
	for (int64_t sent = 1; row(&rig, SPANS_QUEUED) > 0;) {
		RUN_UNTIL(&rig, row(&rig, SPANS_SENT) >= sent || row(&rig, SPANS_QUEUED) == 0);
		sent = row(&rig, SPANS_SENT) + 100;
		peer_hang_up(rig.peer);
	}
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 10);
	ASSERT_ROW(&rig, SPANS_SENT, 1990);
	ck_assert_int_ge(row(&rig, OUTPUT_ERRORS_CLOSED), 3);
	for (unsigned int i = 0, again = 0; i < rig.pushed; i++) {
		char span[32];

		snprintf(span, sizeof(span), "span %u", i);
		ck_assert_uint_eq(peer_count(rig.peer, span) > 0, !every_200th(span));
		again += MAX(peer_count(rig.peer, span), 1) - 1;
		ck_assert_uint_le(again, row(&rig, SPANS_SENT_AGAIN));
	}
	rig_close(&rig);
}
END_TEST

/* Put off in the middle of it: the same. */
START_TEST(put_off_while_bisecting)
{
	struct rig rig;

	rig_open(&rig);
	rig.peer->bad = third;
	ACT(rig.peer, PEER_OK, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push_many(&rig, 1000);
	push_many(&rig, 1000);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_TRY_LATER, 1);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 1);
	ASSERT_ROW(&rig, SPANS_SENT, 1999);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	assert_all_but_bad(&rig, third);
	rig_close(&rig);
}
END_TEST

TCase *uplink_refusals(void)
{
	TCase *tests = tcase_create("refusals");

	tcase_add_loop_test(tests, bad_spans_are_bisected_out, 0, 2 * (int)LENGTH(sifts));
	tcase_add_test(tests, others_keep_flowing);
	tcase_add_test(tests, server_that_comes_to_refuse_everything);
	tcase_add_loop_test(tests, server_that_always_refused_everything, 0, 2);
	tcase_add_test(tests, bad_span_before_all_others);
	tcase_add_test(tests, lost_while_bisecting);
	tcase_add_test(tests, put_off_while_bisecting);
	tcase_set_timeout(tests, 30);
	return tests;
}
