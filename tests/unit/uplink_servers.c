/* SPDX-License-Identifier: BSD-2-Clause */
/* Several servers: who gets the spans when one fails, comes back, or does not; and how fast they may go. */
#include "uplink_rig.h"

#define MANY 3

/* The rig's peer is the first; these are those after it. */
struct servers {
	struct rig rig;
	struct peer *peers[MANY];
};

static void open_servers(struct servers *servers, int count)
{
	struct rig *rig = &servers->rig;
	size_t used;

	rig_open(rig);
	servers->peers[0] = rig->peer;
	used = strlen(rig->server);
	for (int i = 1; i < count; i++) {
		servers->peers[i] = peer_create(rig->base, "127.0.0.1");
		used += (size_t)snprintf(rig->server + used, sizeof(rig->server) - used, ", 127.0.0.1:%u",
			servers->peers[i]->port);
	}
}

static void close_servers(struct servers *servers, int count)
{
	for (int i = 1; i < count; i++)
		peer_destroy(servers->peers[i]);
	rig_close(&servers->rig);
}

/* Every span arrived somewhere, and no more often than was counted. */
static void assert_arrived(struct servers *servers, int count)
{
	int64_t again = 0;
	char span[32];

	for (unsigned int i = 0; i < servers->rig.pushed; i++) {
		unsigned int times = 0;

		snprintf(span, sizeof(span), "span %u", i);
		for (int k = 0; k < count; k++)
			times += peer_count(servers->peers[k], span);
		ck_assert_msg(times >= 1, "%s did not arrive", span);
		again += times - 1;
	}
	ck_assert_int_le(again, row(&servers->rig, SPANS_SENT_AGAIN));
	ASSERT_ROW(&servers->rig, SPANS_SENT, servers->rig.pushed);
	ASSERT_ROW(&servers->rig, SPANS_QUEUED, 0);
}

static void deliver(struct servers *servers, int batches)
{
	struct rig *rig = &servers->rig;

	push(rig, batches);
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
}

static const char *serving(struct rig *rig)
{
	static struct uplink_state state;

	state = state_of(rig);
	for (uint32_t i = 0; i < state.server_count; i++)
		ck_assert_int_eq(state.servers[i].serving, !strcmp(state.server, state.servers[i].server));
	return strchr(state.server, ':') + 1;
}

static void assert_serving(struct servers *servers, int index)
{
	char port[8];

	snprintf(port, sizeof(port), "%u", servers->peers[index]->port);
	ck_assert_str_eq(serving(&servers->rig), port);
}

/* While the first works the others hear nothing. */
START_TEST(first_gets_all)
{
	struct servers servers;

	open_servers(&servers, 3);
	start(&servers.rig);
	for (int i = 0; i < 10; i++)
		deliver(&servers, 5);
	run_ms(&servers.rig, 300); /* longer than the interval */
	ck_assert_uint_eq(servers.peers[0]->connections, 1);
	ck_assert_uint_eq(servers.peers[1]->connections + servers.peers[2]->connections, 0);
	assert_serving(&servers, 0);
	ck_assert_uint_eq(state_of(&servers.rig).server_count, 3);
	ck_assert(state_of(&servers.rig).servers[0].up && !state_of(&servers.rig).servers[1].up);
	close_servers(&servers, 3);
}
END_TEST

static const enum peer_act failures[] = {
	PEER_CLOSE, PEER_GARBAGE, PEER_TRY_LATER, PEER_SILENT, PEER_HALF_AND_CLOSE};

/* The first fails, in one way or other, or is not there (the last): the second has the spans at once. */
START_TEST(next_takes_over_and_first_returns)
{
	bool gone = _i == (int)LENGTH(failures);
	enum peer_act act = gone ? PEER_OK : failures[_i], good = PEER_OK;
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 2);
	/* only of the one that is silent: that the other's runs out too would make spans wait */
	rig->is.timeout = (act == PEER_SILENT ? 1 : 20) * NS_PER_SECOND;
	rig->is.retry_min = rig->is.retry_max = 600 * NS_PER_SECOND; /* longer than anybody waits here */
	start(rig);
	deliver(&servers, 5);
	peer_set_acts(servers.peers[0], &act, 1);
	if (gone)
		peer_stop(servers.peers[0]);
	deliver(&servers, 20);
	assert_serving(&servers, 1);
	ck_assert(state_of(rig).up);
	ck_assert(!state_of(rig).servers[0].up && *state_of(rig).servers[0].error);
	ck_assert_uint_eq(in_log(rig, "spans go to the next server"), 1);
	ck_assert_uint_eq(in_log(rig, "spans wait"), 0);
	/* Tried about every 200 ms, with one batch. */
	for (int i = 0; i < 30; i++) {
		push(rig, 1);
		run_ms(rig, 20);
	}
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	assert_serving(&servers, 1);
	if (gone)
		peer_start(servers.peers[0]);
	peer_set_acts(servers.peers[0], &good, 1);
	while (!state_of(rig).servers[0].serving) {
		push(rig, 1);
		run_ms(rig, 20);
	}
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	assert_serving(&servers, 0);
	ck_assert_uint_eq(in_log(rig, "delivering again after"), 1);
	ck_assert(state_of(rig).up && !state_of(rig).servers[1].up);
	RUN_UNTIL(rig, !servers.peers[1]->clients);
	assert_arrived(&servers, 2);
	close_servers(&servers, 2);
}
END_TEST

/* A first server that takes a batch and fails at the next costs one change an interval, not one a batch. */
START_TEST(flapping_server)
{
	static enum peer_act acts[400];
	struct servers servers;
	struct rig *rig = &servers.rig;
	int64_t begin;

	for (size_t i = 0; i < LENGTH(acts); i++)
		acts[i] = i % 2 ? PEER_CLOSE : PEER_OK;
	open_servers(&servers, 2);
	peer_set_acts(servers.peers[0], acts, LENGTH(acts));
	start(rig);
	begin = clock_monotonic();
	while (clock_monotonic() - begin < 2 * NS_PER_SECOND) {
		push(rig, 1);
		run_ms(rig, 2);
	}
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	/* At random from half the interval on; so about ten in two seconds, and twenty at the very most. */
	ck_assert_uint_ge(servers.peers[0]->connections, 4);
	ck_assert_uint_le(servers.peers[0]->connections, 21);
	assert_arrived(&servers, 2);
	close_servers(&servers, 2);
}
END_TEST

/* All are gone: the log says that spans wait. The second and the third come back before the first. */
START_TEST(all_gone_and_back_one_by_one)
{
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 3);
	for (int i = 0; i < 3; i++)
		peer_stop(servers.peers[i]);
	push(rig, 10);
	start(rig);
	RUN_UNTIL(rig, row(rig, OUTPUT_ERRORS_CONNECT) >= 9);
	ck_assert_uint_eq(in_log(rig, "spans go to the next server"), 2);
	ck_assert_uint_eq(in_log(rig, "spans wait, retrying"), 1);
	ASSERT_ROW(rig, SPANS_QUEUED, rig->pushed);
	for (int i = 2; i >= 0; i--) {
		peer_start(servers.peers[i]);
		do {
			push(rig, 1);
			run_ms(rig, 10);
		} while (!servers.peers[i]->taken->len);
		RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
		assert_serving(&servers, i);
	}
	assert_arrived(&servers, 3);
	close_servers(&servers, 3);
}
END_TEST

/* The second ends while the first is still away: spans wait again, for the first one that is back. */
START_TEST(second_goes_too)
{
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 2);
	rig->is.return_interval = 60 * NS_PER_SECOND;
	peer_stop(servers.peers[0]);
	start(rig);
	deliver(&servers, 5);
	assert_serving(&servers, 1);
	peer_stop(servers.peers[1]);
	push(rig, 5);
	run_ms(rig, 200);
	ASSERT_ROW(rig, SPANS_QUEUED, 5 * SPANS);
	peer_start(servers.peers[0]); /* no waiting for the interval, as nobody serves */
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	assert_serving(&servers, 0);
	assert_arrived(&servers, 2);
	close_servers(&servers, 2);
}
END_TEST

/* Servers come and go at random under load. */
START_TEST(all_come_and_go)
{
	bool on[MANY] = {true, true, true};
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 3);
	rig->is.return_interval = 30 * NS_PER_MS;
	for (int i = 0; i < 3; i++)
		servers.peers[i]->delay_ms = 1;
	start(rig);
	for (int round = 0; round < 60; round++) {
		int i = g_random_int_range(0, 3);

		push(rig, 3);
		run_ms(rig, 10);
		if (on[i])
			peer_stop(servers.peers[i]);
		else
			peer_start(servers.peers[i]);
		on[i] = !on[i];
	}
	for (int i = 0; i < 3; i++)
		if (!on[i])
			peer_start(servers.peers[i]);
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	assert_arrived(&servers, 3);
	close_servers(&servers, 3);
}
END_TEST

/* What the first refuses as a whole goes to the second, and nothing is set aside. */
START_TEST(refusing_server_is_replaced)
{
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 2);
	ACT(servers.peers[0], PEER_EXCEPTION);
	push(rig, 40);
	start(rig);
	RUN_UNTIL(rig, row(rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(rig, SPANS_DROPPED_REFUSED, 0);
	assert_serving(&servers, 1);
	ck_assert_uint_eq(in_log(rig, "refuses everything"), 1);
	assert_arrived(&servers, 2);
	close_servers(&servers, 2);
}
END_TEST

static void on_drained(void *data)
{
	struct rig *rig = data;

	rig->drained++;
}

START_TEST(drained_by_the_second)
{
	struct servers servers;
	struct rig *rig = &servers.rig;

	open_servers(&servers, 2);
	rig->is.timeout = SHORT_TIMEOUT;
	ACT(servers.peers[0], PEER_SILENT);
	push(rig, 10);
	start(rig);
	queue_close(rig->queue);
	uplink_when_drained(rig->uplink, on_drained, rig);
	RUN_UNTIL(rig, rig->drained == 1);
	assert_arrived(&servers, 2);
	close_servers(&servers, 2);
}
END_TEST

START_TEST(too_many_servers)
{
	struct rig rig;

	rig_open(&rig);
	rig.is.server = "a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1";
	ck_assert_ptr_null(uplink_create(rig.base, rig.queue, &rig.options));
	rig_close(&rig);
}
END_TEST

/* Eleven calls of one such span; returns how long that took. */
static int64_t send_eleven(struct rig *rig, const char *span, size_t size)
{
	int64_t begin = clock_monotonic();

	for (int i = 0; i < 11; i++) {
		push_span(rig, span, size);
		push_batch(rig);
	}
	RUN_UNTIL(rig, row(rig, SPANS_SENT) == rig->pushed);
	return clock_monotonic() - begin;
}

/* Ten calls of a known size at so many bytes a second; the first is free. A busy machine may make them late
 * now and then, but not always. */
START_TEST(rate_is_kept)
{
	static const int windows[] = {1, 8};
	char span[1000];
	struct rig rig;
	int64_t took;
	size_t call;

	rig_open(&rig);
	memset(span, 'x', sizeof(span));
	call = 27 + 1 + 15 + strlen("zipkin") + (sizeof(span) + 2) / 3 * 4;
	rig.is.window = (uint32_t)windows[_i];
	rig.is.rate_limit = 20 * call;
	start(&rig);
	for (int tries = 0; tries == 0 || (took > 1500 * NS_PER_MS && tries < 10); tries++) {
		took = send_eleven(&rig, span, sizeof(span));
		ck_assert_int_ge(took, 500 * NS_PER_MS - EARLY_NS);
	}
	ck_assert_int_le(took, 1500 * NS_PER_MS);
	ck_assert_int_eq(errors(&rig), 0);
	rig_close(&rig);
}
END_TEST

/* A call that alone takes longer than the time-out is no failure. */
START_TEST(rate_and_timeout)
{
	struct rig rig;

	rig_open(&rig);
	rig.is.timeout = NS_PER_SECOND;
	rig.is.rate_limit = 100;
	push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	assert_in_order(&rig);
	rig_close(&rig);
}
END_TEST

TCase *uplink_servers(void)
{
	TCase *tests = tcase_create("servers");

	tcase_add_test(tests, first_gets_all);
	tcase_add_loop_test(tests, next_takes_over_and_first_returns, 0, (int)LENGTH(failures) + 1);
	tcase_add_test(tests, flapping_server);
	tcase_add_test(tests, all_gone_and_back_one_by_one);
	tcase_add_test(tests, second_goes_too);
	tcase_add_test(tests, all_come_and_go);
	tcase_add_test(tests, refusing_server_is_replaced);
	tcase_add_test(tests, drained_by_the_second);
	tcase_add_test(tests, too_many_servers);
	tcase_add_loop_test(tests, rate_is_kept, 0, 2);
	tcase_add_test(tests, rate_and_timeout);
	tcase_set_timeout(tests, 30);
	return tests;
}
