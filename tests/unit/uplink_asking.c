/* SPDX-License-Identifier: BSD-2-Clause */
/* Which traces are wanted, as an agent in the place of the server is told, and asked: output/server/asking.c.
 */
#include "queue/wanted.h"

#include "uplink_rig.h"

static struct rig rig;
static struct wanted_place here;
static struct wanted_reader sender; /* who is told what the server says */

static void setup(void)
{
	rig_open(&rig);
	rig.options.wanted = wanted_create();
	rig.options.number = wanted_number(rig.options.wanted);
	here = (struct wanted_place){WANTED_HERE, rig.options.number};
	sender = (struct wanted_reader){.place = {WANTED_BELOW, wanted_number(rig.options.wanted)}};
	rig.peer->hears = true;
}

static void teardown(void)
{
	rig_close(&rig);
	wanted_unref(rig.options.wanted);
}

static void want(uint64_t id)
{
	ck_assert(wanted_add(
		rig.options.wanted, &(struct trace_id){id << 32, id}, &here, here.number, clock_monotonic()));
}

static void wait_here(void)
{
	wanted_note(rig.options.wanted, WANTED_HERE, clock_monotonic());
}

/* The peer was told of these, in this order. */
static void assert_told(size_t count, const uint64_t *ids)
{
	ck_assert_uint_eq(rig.peer->told->len, count);
	for (guint i = 0; i < count; i++) {
		const struct trace_id *id = &g_array_index(rig.peer->told, struct trace_id, i);

		ck_assert(id->low == ids[i] && id->high == ids[i] << 32);
	}
}

static void start_up(void)
{
	start(&rig);
	RUN_UNTIL(&rig, state_of(&rig).up);
}

START_TEST(nobody_waits)
{
	push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 3 * SPANS);
	uplink_ask(rig.uplink);
	run_ms(&rig, 20);
	ck_assert_uint_eq(rig.peer->calls, 3);
	ck_assert_uint_eq(rig.peer->asked, 0);
}
END_TEST

START_TEST(told_with_spans)
{
	want(1);
	want(2);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	want(3);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 2 * SPANS);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 3 * SPANS);
	assert_told(3, (const uint64_t[]){1, 2, 3});
	ck_assert_uint_eq(rig.peer->asked, 3);
	ck_assert_uint_eq(rig.peer->calls, 3);
}
END_TEST

/* There is nothing to send. */
START_TEST(told_without_spans)
{
	start_up();
	uplink_ask(rig.uplink);
	want(7);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->told->len == 1);
	assert_told(1, (const uint64_t[]){7});
	ck_assert_uint_eq(rig.peer->calls, 1);
}
END_TEST

START_TEST(asks_while_spans_wait)
{
	static const struct trace_id says[] = {{0, 5}, {0, 0}, {6, 7}};
	struct trace_id ids[4];

	rig.peer->says = says;
	rig.peer->says_count = LENGTH(says);
	start_up();
	wait_here();
	uplink_ask(rig.uplink);
	uplink_ask(rig.uplink); /* once in a second */
	RUN_UNTIL(&rig, wanted_has_more(rig.options.wanted, &sender));
	run_ms(&rig, 20);
	ck_assert_uint_eq(rig.peer->calls, 1);
	ck_assert_uint_eq(wanted_read(rig.options.wanted, &sender, ids, NULL, 4, clock_monotonic()), 2);
	ck_assert(ids[0].low == 5 && ids[1].high == 6 && ids[1].low == 7);
	/* it is not told its own, */
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	assert_told(0, NULL);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	/* and is asked again */
	run_ms(&rig, 950);
	wait_here();
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->calls == 3);
	ck_assert_int_eq(errors(&rig), 0);
}
END_TEST

/* One that knows nothing of this is asked once, and gets calls as ever from then on. */
START_TEST(another_server)
{
	rig.peer->hears = false;
	start_up();
	wait_here();
	want(1);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->asked == 1);
	run_ms(&rig, 950);
	wait_here();
	want(2);
	uplink_ask(rig.uplink);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	peer_hang_up(rig.peer);
	RUN_UNTIL(&rig, !state_of(&rig).up);
	uplink_ask(rig.uplink);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 2 * SPANS);
	ck_assert_uint_eq(rig.peer->asked, 1);
	ck_assert_uint_eq(rig.peer->calls, 3);
	ck_assert_int_eq(errors(&rig), 0);
}
END_TEST

/* What has no answer is told again, and the question is no span. What was heard a moment ago is told once
 * more, as who heard it may have died before it told others. */
START_TEST(lost_connection)
{
	ACT(rig.peer, PEER_CLOSE, PEER_OK);
	start_up();
	want(1);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CLOSED) == 1);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	assert_told(2, (const uint64_t[]){1, 1});
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	peer_hang_up(rig.peer);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 2 * SPANS);
	assert_told(3, (const uint64_t[]){1, 1, 1});
	assert_all_arrived(&rig);
}
END_TEST

/* What was heard for long enough is not told again. */
START_TEST(passed_on)
{
	start_up();
	want(1);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->calls == 1);
	run_ms(&rig, 3100);
	want(2);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->calls == 2);
	run_ms(&rig, 20);
	peer_hang_up(rig.peer);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	assert_told(3, (const uint64_t[]){1, 2, 2});
}
END_TEST

static const enum peer_act refusals[] = {PEER_TRY_LATER, PEER_EXCEPTION, PEER_SILENT, PEER_GARBAGE};

/* No answer to a question, or one that is no use, is none to a span. */
START_TEST(bad_answers)
{
	const enum peer_act acts[] = {refusals[_i], PEER_OK};

	if (refusals[_i] == PEER_SILENT)
		rig.is.timeout = SHORT_TIMEOUT;
	peer_set_acts(rig.peer, acts, 2);
	start_up();
	want(1);
	uplink_ask(rig.uplink);
	/* what comes behind it on a link that fails is sent again, of course */
	RUN_UNTIL(&rig, _i < 2 ? rig.peer->calls == 1 : errors(&rig) > 0);
	push(&rig, 2);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 2 * SPANS);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 0);
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_REFUSED, 0);
	assert_all_arrived(&rig);
}
END_TEST

/* It is over while a question is open. */
START_TEST(ends_with_a_question)
{
	ACT(rig.peer, PEER_SILENT);
	start_up();
	want(1);
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, rig.peer->calls == 1);
}
END_TEST

START_TEST(a_liar)
{
	static struct trace_id says[2500];
	static struct trace_id ids[LENGTH(says)];
	struct ledger rows;

	for (uint64_t i = 0; i < LENGTH(says); i++)
		says[i].low = i + 1;
	rig.peer->says = says;
	rig.peer->says_count = LENGTH(says);
	start_up();
	wait_here();
	uplink_ask(rig.uplink);
	RUN_UNTIL(&rig, wanted_has_more(rig.options.wanted, &sender));
	ck_assert_uint_eq(wanted_read(rig.options.wanted, &sender, ids, NULL, LENGTH(ids), clock_monotonic()),
		WANTED_TOLD_MAX);
	ledger_read(&rows);
	ck_assert_int_eq(rows.row[TRACES_NOT_TOLD], LENGTH(says) - WANTED_TOLD_MAX);
}
END_TEST

TCase *uplink_asking(void)
{
	TCase *cases = tcase_create("asking");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, nobody_waits);
	tcase_add_test(cases, told_with_spans);
	tcase_add_test(cases, told_without_spans);
	tcase_add_test(cases, asks_while_spans_wait);
	tcase_add_test(cases, another_server);
	tcase_add_test(cases, lost_connection);
	tcase_add_test(cases, passed_on);
	tcase_add_loop_test(cases, bad_answers, 0, LENGTH(refusals));
	tcase_add_test(cases, ends_with_a_question);
	tcase_add_test(cases, a_liar);
	tcase_set_timeout(cases, 60);
	return cases;
}
