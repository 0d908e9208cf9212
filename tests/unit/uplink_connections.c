/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that fail, end, idle and drain; and where they lead. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include "uplink_rig.h"

static struct rig rig;

static void setup(void)
{
	rig_open(&rig);
}

static void teardown(void)
{
	rig_close(&rig);
}

START_TEST(server_down_then_up)
{
	peer_stop(rig.peer);
	push(&rig, 3);
	start(&rig);
	/* so often only if waits do not get longer than they may */
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) == 20);
	ck_assert_str_eq(state_of(&rig).error, "connection refused");
	ck_assert_uint_eq(in_log(&rig, "connection refused; spans wait, retrying"), 1);
	ck_assert_uint_eq(in_log(&rig, rig.server), 1);
	peer_start(rig.peer);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), row(&rig, OUTPUT_ERRORS_CONNECT));
	ASSERT_ROW(&rig, SPANS_SENT_AGAIN, 0);
	assert_in_order(&rig);
	ck_assert_uint_eq(in_log(&rig, "\n"), 2);
	/* The same with nothing to send: good when connected. */
	peer_stop(rig.peer);
	RUN_UNTIL(&rig, in_log(&rig, "connection refused") == 2);
	peer_start(rig.peer);
	RUN_UNTIL(&rig, in_log(&rig, "delivering again") == 2);
	ck_assert(state_of(&rig).up);
}
END_TEST

START_TEST(restarts_under_load)
{
	rig.peer->delay_ms = 2;
	start(&rig);
	for (int i = 0; i < 6; i++) {
		unsigned int calls = rig.peer->calls;

		push(&rig, 20);
		RUN_UNTIL(&rig, rig.peer->calls >= calls + 5 && state_of(&rig).calls_open > 0);
		peer_stop(rig.peer);
		run_ms(&rig, 15);
		peer_start(rig.peer);
	}
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	assert_all_arrived(&rig);
	ck_assert_int_ge(row(&rig, OUTPUT_ERRORS_CLOSED), 1);
	ck_assert_int_gt(row(&rig, SPANS_SENT_AGAIN), 0);
	ASSERT_ROW(&rig, OUTPUT_ERRORS_PROTOCOL, 0);
}
END_TEST

/* Tries come after a wait, the least at least, and not all after the same, until the batch is a suspect. */
START_TEST(backoff_is_random)
{
	int64_t shortest = INT64_MAX, longest = 0;
	GArray *at;

	rig.is.retry_min = 10 * NS_PER_MS;
	rig.is.retry_max = 80 * NS_PER_MS;
	ACT(rig.peer, PEER_CLOSE);
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, rig.peer->connections == ENTRY_FAILURES_MAX);
	at = rig.peer->connected_at;
	for (guint i = 1; i < at->len; i++) {
		int64_t gap = g_array_index(at, int64_t, i) - g_array_index(at, int64_t, i - 1);

		ck_assert_int_ge(gap, 8 * NS_PER_MS);
		if (i <= 2) /* the first ones are short: at most two and four times the least */
			continue;
		shortest = MIN(shortest, gap);
		longest = MAX(longest, gap);
	}
	ck_assert_int_gt(longest - shortest, 10 * NS_PER_MS);
}
END_TEST

/* Closed while nothing is open: no error, and back at once when there is something to send. */
START_TEST(idle_connection_may_close)
{
	rig.is.retry_min = rig.is.retry_max = 600 * NS_PER_SECOND; /* longer than anybody waits here */
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	peer_hang_up(rig.peer);
	RUN_UNTIL(&rig, !state_of(&rig).up);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(rig.peer->connections, 2);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
	assert_in_order(&rig);
}
END_TEST

/* Nothing to send for long: it comes back by itself, so that its state tells how the server is. */
START_TEST(idle_connection_is_made_again)
{
	start(&rig);
	for (unsigned int i = 1; i < 4; i++) {
		RUN_UNTIL(&rig, rig.peer->connections == i && state_of(&rig).up);
		peer_hang_up(rig.peer);
	}
	RUN_UNTIL(&rig, rig.peer->connections == 4 && state_of(&rig).up);
	ck_assert_int_eq(errors(&rig), 0);
	ck_assert_uint_eq(in_log(&rig, "\n"), 1);
}
END_TEST

static void on_drained(void *data)
{
	(void)data;
	rig.drained++;
	/* As a program that ends would. */
	uplink_destroy(rig.uplink);
	rig.uplink = NULL;
}

START_TEST(drained_when_all_is_answered)
{
	rig.peer->delay_ms = 20;
	ACT(rig.peer, PEER_OK, PEER_TRY_LATER, PEER_OK);
	push(&rig, 6);
	start(&rig);
	uplink_when_drained(rig.uplink, on_drained, NULL);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == 5 * SPANS);
	ck_assert_int_eq(rig.drained, 0);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	run_ms(&rig, 20);
	ck_assert_int_eq(rig.drained, 0); /* more might come */
	queue_close(rig.queue);
	RUN_UNTIL(&rig, rig.drained == 1);
	run_ms(&rig, 20);
	ck_assert_int_eq(rig.drained, 1);
}
END_TEST

START_TEST(drained_from_the_start)
{
	start(&rig);
	queue_close(rig.queue);
	uplink_when_drained(rig.uplink, on_drained, NULL);
	ck_assert_int_eq(rig.drained, 0); /* not from within */
	RUN_UNTIL(&rig, rig.drained == 1);
}
END_TEST

/* The first numbers after these seeds are all close to 0, and to 1: waits are as short, and as long, as they
 * may be. */
#define SEED_SHORT 1599823
#define SEED_LONG 57967

/* A stop during a long wait is not held up by it: the twelfth lasts longer than anybody waits here. */
START_TEST(drain_cuts_a_long_wait)
{
	rig.is.retry_max = 3600 * NS_PER_SECOND;
	peer_stop(rig.peer);
	push(&rig, 2);
	start(&rig);
	for (int tries = 1; tries <= 12; tries++) {
		g_random_set_seed(tries < 12 ? SEED_SHORT : SEED_LONG);
		RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) == tries);
	}
	peer_start(rig.peer);
	run_ms(&rig, 500);
	ASSERT_ROW(&rig, SPANS_SENT, 0);
	queue_close(rig.queue);
	uplink_when_drained(rig.uplink, on_drained, NULL);
	RUN_UNTIL(&rig, rig.drained == 1);
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed);
}
END_TEST

START_TEST(destroy_gives_back)
{
	struct entry *entry;

	rig.is.window = 2;
	ACT(rig.peer, PEER_SILENT);
	push(&rig, 3);
	start(&rig);
	RUN_UNTIL(&rig, rig.peer->calls == 2);
	uplink_destroy(rig.uplink);
	rig.uplink = NULL;
	for (int i = 0; i < 3; i++) {
		entry = queue_take(rig.queue);
		ck_assert_ptr_nonnull(entry);
		ck_assert_int_eq(entry->sent_before, i < 2);
		account_move(rig.account, SPANS_QUEUED, SPANS_DROPPED_SHUTDOWN, entry->batch->count);
		queue_release(rig.queue, entry);
	}
	ck_assert_ptr_null(queue_take(rig.queue));
}
END_TEST

/* Addresses */

static bool can_listen(const char *address)
{
	struct sockaddr_storage storage;
	int size = sizeof(storage), fd;
	bool can = false;

	if (evutil_parse_sockaddr_port(address, (struct sockaddr *)&storage, &size) < 0)
		return false;
	fd = socket(storage.ss_family, SOCK_STREAM, 0);
	can = fd >= 0 && bind(fd, (struct sockaddr *)&storage, (socklen_t)size) == 0;
	if (fd >= 0)
		close(fd);
	return can;
}

/* By IPv6, and by a name whose other address nobody listens on. */
START_TEST(server_by_name_and_ipv6)
{
	static const struct {
		const char *listen, *format;
	} cases[] = {{"::1", "[::1]:%u"}, {"127.0.0.1", "localhost:%u"}, {"::1", "localhost:%u"}};
	bool ipv6 = cases[_i].listen[0] == ':';

	/* A machine without IPv6, or whose /etc/hosts does not know localhost by it, cannot tell. */
	if (ipv6 && !can_listen("[::1]"))
		return;
	if (ipv6 && _i == 2 && system("getent -s files ahostsv6 localhost | grep -q '^::1 '") != 0)
		return;
	peer_destroy(rig.peer);
	rig.peer = peer_create(rig.base, cases[_i].listen);
	snprintf(rig.server, sizeof(rig.server), cases[_i].format, rig.peer->port);
	push(&rig, 2);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	assert_in_order(&rig);
}
END_TEST

/* A port whose backlog is full takes no connection, and does not refuse it either. */
START_TEST(connecting_times_out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fillers[4];

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(listener, 0), 0);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (size_t i = 0; i < LENGTH(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&address, size);
	}
	snprintf(rig.server, sizeof(rig.server), "127.0.0.1:%u", ntohs(address.sin_port));
	rig.is.timeout = SHORT_TIMEOUT;
	push(&rig, 1);
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, OUTPUT_ERRORS_CONNECT) == 2);
	ck_assert_str_eq(state_of(&rig).error, "connection timed out");
	ASSERT_ROW(&rig, SPANS_QUEUED, SPANS);
	for (size_t i = 0; i < LENGTH(fillers); i++)
		close(fillers[i]);
	close(listener);
}
END_TEST

START_TEST(create_refuses_what_is_no_server)
{
	snprintf(rig.server, sizeof(rig.server), "nowhere");
	ck_assert_ptr_null(uplink_create(rig.base, rig.queue, &rig.options));
}
END_TEST

/* Fed by a thread into a queue that is too small, while the server comes and goes: dropped or sent, and
 * counted. */

static atomic_bool feeding;

static void *feed(void *data)
{
	(void)data;
	for (int i = 0; i < 400; i++) {
		push(&rig, 1);
		usleep(1000);
	}
	atomic_store(&feeding, false);
	return NULL;
}

START_TEST(fed_by_a_thread)
{
	pthread_t thread;

	rig_resize(&rig, 8 * 1024);
	rig.peer->delay_ms = 1;
	start(&rig);
	atomic_store(&feeding, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, feed, NULL), 0);
	while (atomic_load(&feeding)) {
		run_ms(&rig, 30);
		peer_stop(rig.peer);
		run_ms(&rig, 30);
		peer_start(rig.peer);
	}
	pthread_join(thread, NULL);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ck_assert_uint_eq(rig.pushed, 400 * SPANS);
	ck_assert_int_eq(row(&rig, SPANS_SENT) + row(&rig, SPANS_DROPPED_QUEUE_FULL), rig.pushed);
	ck_assert_int_gt(row(&rig, SPANS_SENT), 0);
	ck_assert_int_gt(row(&rig, SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_ge(rig.peer->taken->len, row(&rig, SPANS_SENT));
}
END_TEST

TCase *uplink_connections(void)
{
	TCase *tests = tcase_create("connections");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, server_down_then_up);
	tcase_add_test(tests, restarts_under_load);
	tcase_add_test(tests, backoff_is_random);
	tcase_add_test(tests, idle_connection_may_close);
	tcase_add_test(tests, idle_connection_is_made_again);
	tcase_add_test(tests, drained_when_all_is_answered);
	tcase_add_test(tests, drained_from_the_start);
	tcase_add_test(tests, drain_cuts_a_long_wait);
	tcase_add_test(tests, destroy_gives_back);
	tcase_add_loop_test(tests, server_by_name_and_ipv6, 0, 3);
	tcase_add_test(tests, connecting_times_out);
	tcase_add_test(tests, create_refuses_what_is_no_server);
	tcase_add_test(tests, fed_by_a_thread);
	tcase_set_timeout(tests, 30);
	return tests;
}
