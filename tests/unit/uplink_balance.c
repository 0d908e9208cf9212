/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes share servers, and the addresses of a name, out among them: who prefers which, and comes back to it.
 */
#include "uplink_rig.h"

#include <stdlib.h>

#include <arpa/inet.h>

#include "base/rendezvous.h"
#include "names.h"
#include "net/ranking.h"

#define NODES 1000
#define NAME "collector.blkin.test"

/* Computed by another program: who changes this moves nodes to other servers. */
START_TEST(weights_stay)
{
	ck_assert_uint_eq(rendezvous_weight("node1", "collector-a.example.org:9411"), 0x22f6c0828bd8f658);
	ck_assert_uint_eq(rendezvous_weight("node1", "[2001:db8::1]:9411"), 0x367c9d93e3d8fd6);
}
END_TEST

/* The place in the list of the one that the node prefers. */
static int preferred(const char *before, int node, const char *list)
{
	struct address servers[ADDRESSES_MAX], sorted[ADDRESSES_MAX];
	size_t count = address_parse_list(list, servers);
	char name[64];
	int i = 0;

	snprintf(name, sizeof(name), "%s%d.example.org", before, node);
	memcpy(sorted, servers, sizeof(sorted));
	rendezvous_sort(name, sorted, count);
	while (memcmp(&servers[i], &sorted[0], sizeof(servers[0])) != 0)
		i++;
	return i;
}

static const struct {
	const char *before, *servers; /* of each name, the number of the node */
} fleets[] = {
	{"node", "a:9411, b:9411"},
	{"storage-", "collector-a.example.org:9411, collector-b.example.org:9411"},
	{"rack7-", "10.0.0.1:4318, 10.0.0.2:4318"},
	{"ip-10-0-0-", "[fd00::1]:9410, [fd00::2]:9410"},
};

/* Of 1,000 nodes each of two servers gets 45 to 55 %; a third takes its third from both, and moves nobody
 * else. */
START_TEST(shares)
{
	g_autofree char *three = g_strconcat(fleets[_i].servers, ", another.example.org:1", NULL);
	int first = 0, third = 0;

	for (int n = 0; n < NODES; n++) {
		int of_two = preferred(fleets[_i].before, n, fleets[_i].servers);
		int of_three = preferred(fleets[_i].before, n, three);

		first += of_two == 0;
		third += of_three == 2;
		ck_assert(of_three == 2 || of_three == of_two);
	}
	ck_assert_int_ge(first, NODES * 45 / 100);
	ck_assert_int_le(first, NODES * 55 / 100);
	ck_assert_int_ge(third, NODES * 28 / 100);
	ck_assert_int_le(third, NODES * 38 / 100);
}
END_TEST

/* In whichever order they are written. */
START_TEST(order_of_the_list_does_not_count)
{
	for (int n = 0; n < NODES; n++)
		ck_assert_int_eq(preferred("n", n, "a:1, b:1, c:1"), 2 - preferred("n", n, "c:1, b:1, a:1"));
}
END_TEST

/* Addresses */

static struct addrinfo *look_up(const char *const *hosts)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *first = NULL, **end = &first;

	for (; *hosts; hosts++, end = &(*end)->ai_next)
		ck_assert_int_eq(getaddrinfo(*hosts, "80", &hints, end), 0);
	return first;
}

static const struct ranked *at(const GArray *ranking, guint i)
{
	return &g_array_index(ranking, struct ranked, i);
}

/* The family that the system puts first stays first, and what was avoided comes last, but keeps its rank. */
START_TEST(addresses_in_order)
{
	static const char *const hosts[] = {
		"10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1", "2001:db8::2", NULL};
	struct addrinfo *addresses = look_up(hosts);
	GArray *plain = ranking_create(addresses, NULL, NULL, NULL),
	       *ranking = ranking_create(addresses, "n1", NULL, NULL);
	struct avoided avoided = {0};
	GArray *other;

	for (guint i = 0; i < 5; i++)
		ck_assert_ptr_eq(strstr(at(plain, i)->text, hosts[i]), at(plain, i)->text + (i > 2));
	for (guint i = 0; i < 5; i++) {
		ck_assert_uint_eq(at(ranking, i)->rank, i);
		ck_assert(strchr(at(ranking, i)->text, '[') ? i >= 3 : i < 3);
		ck_assert(!i || i == 3 || at(ranking, i - 1)->weight > at(ranking, i)->weight);
		ck_assert_uint_eq(at(ranking, i)->weight, rendezvous_weight("n1", at(ranking, i)->text));
	}
	avoided_add(&avoided, at(ranking, 0)->weight, 7);
	avoided_add(&avoided, at(ranking, 2)->weight, 8);
	ck_assert_int_eq(avoided.until, 7);
	other = ranking_create(addresses, "n1", &avoided, NULL);
	ck_assert_uint_eq(at(other, 0)->rank, 1);
	ck_assert_uint_eq(at(other, 3)->rank, 0);
	ck_assert_uint_eq(at(other, 4)->rank, 2);
	avoided_add(&avoided, at(ranking, 0)->weight, 9); /* again: all have had their turn */
	ck_assert_uint_eq(avoided.count, 1);
	ck_assert_int_eq(avoided.until, 9);
	g_array_unref(plain);
	g_array_unref(ranking);
	g_array_unref(other);
	freeaddrinfo(addresses);
}
END_TEST

/* Real servers: 127.0.0.1 to 127.0.0.3, at one port, which a list or a name has. */

#define MANY 3

struct fleet {
	struct rig rig;
	struct names names;
	struct peer *peers[MANY]; /* in the order in which the node prefers them */
	char node[16];
};

static void open_fleet(struct fleet *fleet, bool named)
{
	struct rig *rig = &fleet->rig;
	struct address servers[MANY];
	char list[sizeof(rig->server)];

	if (named)
		names_isolate();
	rig_open(rig);
	snprintf(list, sizeof(list), "127.0.0.1:%u, 127.0.0.2:%u, 127.0.0.3:%u", rig->peer->port,
		rig->peer->port, rig->peer->port);
	address_parse_list(list, servers);
	/* the rig's own peer, which comes first without a balance, is to be the last one with it */
	for (int n = 0; n == 0 || strcmp(servers[MANY - 1].host, "127.0.0.1") != 0; n++) {
		snprintf(fleet->node, sizeof(fleet->node), "node%d", n);
		rendezvous_sort(fleet->node, servers, MANY);
	}
	for (int i = 0; i < MANY - 1; i++)
		fleet->peers[i] =
			peer_create_on(rig->base, g_intern_string(servers[i].host), rig->peer->port);
	fleet->peers[MANY - 1] = rig->peer;
	rig->options.node = fleet->node;
	rig->options.age_ns = 3600 * NS_PER_SECOND;
	if (named) {
		names_open(&fleet->names, rig->base, "127.0.0.1");
		inet_pton(AF_INET, "127.0.0.2", &fleet->names.addresses[1]);
		inet_pton(AF_INET, "127.0.0.3", &fleet->names.addresses[2]);
		snprintf(rig->server, sizeof(rig->server), NAME ":%u", rig->peer->port);
	} else {
		memcpy(rig->server, list, sizeof(list));
	}
}

static void close_fleet(struct fleet *fleet, bool named)
{
	if (named)
		names_close(&fleet->names);
	for (int i = 0; i < MANY - 1; i++)
		peer_destroy(fleet->peers[i]);
	rig_close(&fleet->rig);
}

static void deliver(struct fleet *fleet, int batches)
{
	push(&fleet->rig, batches);
	RUN_UNTIL(&fleet->rig, row(&fleet->rig, SPANS_QUEUED) == 0);
}

/* Pushes, a batch at a time, until that peer takes spans. */
static void push_until(struct fleet *fleet, int index)
{
	const guint before = fleet->peers[index]->taken->len;
	const int64_t end = clock_monotonic() + 30 * NS_PER_SECOND;

	while (fleet->peers[index]->taken->len == before && clock_monotonic() < end) {
		push(&fleet->rig, 1);
		run_ms(&fleet->rig, 5);
	}
	ck_assert_uint_gt(fleet->peers[index]->taken->len, before);
}

/* Every span came: once, but for those that are counted. */
static void assert_arrived(struct fleet *fleet)
{
	int64_t again = 0;
	char span[32];

	RUN_UNTIL(&fleet->rig, row(&fleet->rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&fleet->rig, SPANS_SENT, fleet->rig.pushed);
	for (unsigned i = 0; i < fleet->rig.pushed; i++) {
		unsigned times = 0;

		snprintf(span, sizeof(span), "span %u", i);
		for (int k = 0; k < MANY; k++)
			times += peer_count(fleet->peers[k], span);
		ck_assert_msg(times >= 1, "%s did not arrive", span);
		again += times - 1;
	}
	ck_assert_int_le(again, row(&fleet->rig, SPANS_SENT_AGAIN));
}

/* Whether they are servers of a list or addresses of a name: the preferred one, then the next by weight, and
 * back, with nothing sent twice on the way back. */
START_TEST(flees_and_returns)
{
	const bool named = _i;
	struct uplink_state state;
	struct fleet fleet;
	int64_t again;

	open_fleet(&fleet, named);
	start(&fleet.rig);
	deliver(&fleet, 10);
	ck_assert_uint_eq(fleet.peers[0]->taken->len, fleet.rig.pushed);
	state = state_of(&fleet.rig);
	ck_assert_str_eq(state.node, fleet.node);
	ck_assert_uint_eq(state.reached.count, named ? MANY : 1);
	ck_assert_uint_eq(state.reached.rank, 0);
	peer_stop(fleet.peers[0]);
	push_until(&fleet, 1);
	peer_stop(fleet.peers[1]);
	push_until(&fleet, 2);
	state = state_of(&fleet.rig);
	if (named) {
		ck_assert_uint_eq(state.reached.rank, 2);
		ck_assert(strstr(state.reached.preferred, fleet.peers[0]->address));
		ck_assert(strstr(state.reached.address, "127.0.0.1:"));
		/* it was not tried yet, as it had failed; and then it was */
		ck_assert(*state.reached.why);
		RUN_UNTIL(&fleet.rig, !strcmp(state_of(&fleet.rig).reached.why, "connection refused"));
	} else {
		ck_assert(strstr(state.server, "127.0.0.1:"));
	}
	RUN_UNTIL(&fleet.rig, row(&fleet.rig, SPANS_QUEUED) == 0);
	again = row(&fleet.rig, SPANS_SENT_AGAIN);
	peer_start(fleet.peers[0]);
	push_until(&fleet, 0);
	assert_arrived(&fleet);
	ASSERT_ROW(&fleet.rig, SPANS_SENT_AGAIN, again);
	ck_assert_uint_eq(state_of(&fleet.rig).reached.rank, 0);
	RUN_UNTIL(&fleet.rig, !fleet.peers[2]->clients);
	close_fleet(&fleet, named);
}
END_TEST

/* While the preferred one stays away, the connection to another one lasts. */
START_TEST(stays_while_preferred_is_away)
{
	struct fleet fleet;

	open_fleet(&fleet, true);
	fleet.rig.is.return_interval = 40 * NS_PER_MS;
	peer_stop(fleet.peers[0]);
	start(&fleet.rig);
	for (int i = 0; i < 40; i++) {
		push(&fleet.rig, 1);
		run_ms(&fleet.rig, 10);
	}
	/* asked at each try for the preferred one */
	RUN_UNTIL(&fleet.rig, fleet.names.questions >= 5);
	assert_arrived(&fleet);
	ck_assert_uint_eq(fleet.peers[1]->taken->len, fleet.rig.pushed);
	/* a try may have got there a moment ago, and is given up */
	RUN_UNTIL(&fleet.rig, g_list_length(fleet.peers[1]->clients) == 1);
	ASSERT_ROW(&fleet.rig, SPANS_SENT_AGAIN, 0);
	close_fleet(&fleet, true);
}
END_TEST

/* It takes connections, and fails on each batch: another address gets the spans. */
START_TEST(failing_address_is_avoided)
{
	static const enum peer_act failures[] = {PEER_CLOSE, PEER_GARBAGE, PEER_SILENT};
	struct fleet fleet;

	open_fleet(&fleet, true);
	fleet.rig.is.return_interval = 3600 * NS_PER_SECOND;
	if (failures[_i] == PEER_SILENT)
		fleet.rig.is.timeout = SHORT_TIMEOUT;
	peer_set_acts(fleet.peers[0], &failures[_i], 1);
	peer_set_acts(fleet.peers[1], &failures[_i], 1);
	start(&fleet.rig);
	push(&fleet.rig, 10);
	RUN_UNTIL(&fleet.rig, row(&fleet.rig, SPANS_QUEUED) == 0);
	ck_assert_uint_eq(fleet.peers[2]->taken->len, fleet.rig.pushed);
	ck_assert_uint_eq(fleet.peers[0]->connections, 1);
	ck_assert_uint_eq(state_of(&fleet.rig).reached.rank, 2);
	ck_assert(*state_of(&fleet.rig).reached.why);
	close_fleet(&fleet, true);
}
END_TEST

static bool is_third(const char *span)
{
	return !strcmp(span, "span 3");
}

/* A batch that is set aside is tried where others are taken: the preferred address, which is back, but fails
 * on all, says nothing of its spans. */
START_TEST(suspects_go_where_others_are_taken)
{
	struct fleet fleet;

	open_fleet(&fleet, true);
	fleet.rig.is.return_interval = 3600 * NS_PER_SECOND;
	ACT(fleet.peers[0], PEER_CLOSE);
	peer_stop(fleet.peers[0]);
	for (int i = 0; i < MANY; i++) {
		fleet.peers[i]->bad = is_third;
		fleet.peers[i]->bad_act = PEER_CLOSE;
	}
	start(&fleet.rig);
	push_many(&fleet.rig, 40);
	RUN_UNTIL(&fleet.rig, state_of(&fleet.rig).suspects.spans > 0);
	push(&fleet.rig, 1);
	RUN_UNTIL(&fleet.rig, row(&fleet.rig, SPANS_SENT) >= SPANS);
	peer_start(fleet.peers[0]);
	while (row(&fleet.rig, SPANS_DROPPED_REFUSED) == 0) {
		push(&fleet.rig, 1);
		run_ms(&fleet.rig, 10);
	}
	RUN_UNTIL(&fleet.rig, row(&fleet.rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&fleet.rig, SPANS_DROPPED_REFUSED, 1);
	ASSERT_ROW(&fleet.rig, SPANS_SENT, fleet.rig.pushed - 1);
	close_fleet(&fleet, true);
}
END_TEST

/* What is under way is answered first, on the old connection, and nothing is sent twice; slow answers or
 * quick. */
START_TEST(old_connection_is_replaced)
{
	struct fleet fleet;

	open_fleet(&fleet, false);
	fleet.rig.options.age_ns = 20 * NS_PER_MS;
	fleet.rig.is.timeout = 30 * NS_PER_SECOND;
	fleet.peers[0]->delay_ms = _i * 10;
	start(&fleet.rig);
	while (fleet.peers[0]->connections < 10) {
		push(&fleet.rig, 2);
		run_ms(&fleet.rig, 2);
	}
	assert_arrived(&fleet);
	ASSERT_ROW(&fleet.rig, SPANS_SENT_AGAIN, 0);
	ck_assert_int_eq(errors(&fleet.rig), 0);
	ck_assert_uint_eq(fleet.peers[0]->taken->len, fleet.rig.pushed);
	ck_assert(!_i || fleet.peers[0]->open_max > 1);
	ck_assert_uint_eq(in_log(&fleet.rig, "output"), 1); /* that it is connected */
	close_fleet(&fleet, false);
}
END_TEST

/* A connection that cannot be replaced stays. */
START_TEST(old_connection_stays)
{
	struct fleet fleet;

	open_fleet(&fleet, true);
	fleet.rig.options.age_ns = fleet.rig.is.return_interval = 20 * NS_PER_MS;
	start(&fleet.rig);
	deliver(&fleet, 1);
	fleet.names.error = 3;
	for (int i = 0; i < 20; i++) {
		push(&fleet.rig, 1);
		run_ms(&fleet.rig, 10);
	}
	assert_arrived(&fleet);
	ck_assert_int_eq(errors(&fleet.rig), 0);
	ck_assert_uint_eq(fleet.peers[0]->taken->len, fleet.rig.pushed);
	ck_assert(state_of(&fleet.rig).up);
	close_fleet(&fleet, true);
}
END_TEST

/* Ends at any moment of a replacement. */
START_TEST(destroyed_while_replacing)
{
	struct fleet fleet;

	open_fleet(&fleet, false);
	fleet.rig.options.age_ns = NS_PER_MS;
	for (int i = 0; i < 30; i++) {
		start(&fleet.rig);
		push(&fleet.rig, 2);
		run_ms(&fleet.rig, i % 10);
		uplink_destroy(fleet.rig.uplink);
		fleet.rig.uplink = NULL;
	}
	start(&fleet.rig);
	assert_arrived(&fleet);
	close_fleet(&fleet, false);
}
END_TEST

/* All come and go, while connections are replaced all the time. */
START_TEST(all_come_and_go)
{
	bool on[MANY] = {true, true, true};
	struct fleet fleet;

	open_fleet(&fleet, _i);
	fleet.rig.is.return_interval = fleet.rig.options.age_ns = 15 * NS_PER_MS;
	for (int i = 0; i < MANY; i++)
		fleet.peers[i]->delay_ms = 1;
	start(&fleet.rig);
	for (int round = 0; round < 60; round++) {
		int i = g_random_int_range(0, MANY);

		push(&fleet.rig, 3);
		run_ms(&fleet.rig, 10);
		if (on[i])
			peer_stop(fleet.peers[i]);
		else
			peer_start(fleet.peers[i]);
		on[i] = !on[i];
	}
	for (int i = 0; i < MANY; i++)
		if (!on[i])
			peer_start(fleet.peers[i]);
	push_until(&fleet, 0);
	assert_arrived(&fleet);
	close_fleet(&fleet, _i);
}
END_TEST

/* Without it: the first address that works, and no other as long as it does. */
START_TEST(without_it_a_connection_stays)
{
	struct fleet fleet;

	open_fleet(&fleet, true);
	fleet.rig.options.node = NULL;
	fleet.rig.is.return_interval = fleet.rig.options.age_ns = 5 * NS_PER_MS;
	peer_stop(fleet.peers[0]);
	peer_stop(fleet.peers[1]);
	start(&fleet.rig);
	deliver(&fleet, 1);
	peer_start(fleet.peers[0]);
	peer_start(fleet.peers[1]);
	for (int i = 0; i < 20; i++) {
		push(&fleet.rig, 1);
		run_ms(&fleet.rig, 10);
	}
	assert_arrived(&fleet);
	ck_assert_uint_eq(fleet.peers[2]->taken->len, fleet.rig.pushed);
	ck_assert_uint_eq(fleet.names.questions, 1);
	ck_assert_ptr_null(state_of(&fleet.rig).node);
	close_fleet(&fleet, true);
}
END_TEST

TCase *uplink_balance(void)
{
	TCase *tests = tcase_create("balance");
	const bool names = names_possible();

	tcase_add_test(tests, weights_stay);
	tcase_add_loop_test(tests, shares, 0, (int)LENGTH(fleets));
	tcase_add_test(tests, order_of_the_list_does_not_count);
	tcase_add_test(tests, addresses_in_order);
	tcase_add_loop_test(tests, flees_and_returns, 0, 1 + names);
	tcase_add_loop_test(tests, old_connection_is_replaced, 0, 2);
	tcase_add_test(tests, destroyed_while_replacing);
	tcase_add_loop_test(tests, all_come_and_go, 0, 1 + names);
	if (names) {
		tcase_add_test(tests, stays_while_preferred_is_away);
		tcase_add_loop_test(tests, failing_address_is_avoided, 0, 3);
		tcase_add_test(tests, suspects_go_where_others_are_taken);
		tcase_add_test(tests, old_connection_stays);
		tcase_add_test(tests, without_it_a_connection_stays);
	} else {
		fprintf(stderr, "uplink: this system allows no namespaces: names are not looked up\n");
	}
	tcase_set_timeout(tests, 60);
	return tests;
}
