/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that are not known, whose servers do not answer, that move, and that have several addresses. */
#include "uplink_rig.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <netinet/in.h>

/* A name server in the test's loop. */
struct names {
	struct rig rig;
	struct evdns_server_port *server;
	int socket;
	char conf[32]; /* the resolver's configuration */
	/* What it answers; changed by the test. */
	int error;              /* of the name server; 0: none */
	bool deaf;              /* drops questions */
	bool deaf_ipv6;         /* those for IPv6 addresses */
	in_addr_t addresses[4]; /* IPv4, to 0 */
	unsigned int questions; /* for IPv4 addresses */
};

static void answer(
	struct names *names, struct evdns_server_request *request, struct evdns_server_question *question)
{
	int count = 0;

	if (question->type == EVDNS_TYPE_A) {
		while (count < 4 && names->addresses[count])
			count++;
		names->questions++;
	}
	if (count && !names->error)
		evdns_server_request_add_a_reply(request, question->name, count, names->addresses, 60);
	evdns_server_request_respond(request, names->error);
}

static void on_question(struct evdns_server_request *request, void *data)
{
	struct names *names = data;
	struct evdns_server_question *question = request->questions[0];

	ck_assert_int_eq(request->nquestions, 1);
	if (names->deaf || (names->deaf_ipv6 && question->type == EVDNS_TYPE_AAAA))
		evdns_server_request_drop(request);
	else
		answer(names, request, question);
}

static void open_names(struct names *names, const char *first)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	FILE *file;

	memset(names, 0, sizeof(*names));
	rig_open(&names->rig);
	names->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(names->socket, (struct sockaddr *)&address, size), 0);
	getsockname(names->socket, (struct sockaddr *)&address, &size);
	names->server =
		evdns_add_server_port_with_base(names->rig.base, names->socket, 0, on_question, names);
	strcpy(names->conf, "/tmp/blkin-resolv-XXXXXX");
	file = fdopen(mkstemp(names->conf), "w");
	fprintf(file, "nameserver 127.0.0.1:%u\n", ntohs(address.sin_port));
	fclose(file);
	inet_pton(AF_INET, first, &names->addresses[0]);
	names->rig.options.resolv_conf = names->conf;
	snprintf(names->rig.server, sizeof(names->rig.server), "collector.blkin.test:%u",
		names->rig.peer->port);
}

static void close_names(struct names *names)
{
	evdns_close_server_port(names->server);
	unlink(names->conf);
	rig_close(&names->rig);
}

/* Asked once for each connection, and not for each call. */
START_TEST(name_is_found)
{
	struct names names;

	open_names(&names, "127.0.0.1");
	push(&names.rig, 20);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	assert_in_order(&names.rig);
	ck_assert_int_eq(errors(&names.rig), 0);
	ck_assert_uint_eq(names.questions, 1);
	peer_hang_up(names.rig.peer);
	push(&names.rig, 1);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	ck_assert_uint_eq(names.questions, 2);
	close_names(&names);
}
END_TEST

static const struct {
	int error;
	bool deaf;
	const char *words;
} failures[] = {
	{3, false, "no address for collector.blkin.test: the name is not known"},
	{2, false, "no address for collector.blkin.test: "},
	{0, true, "no answer from DNS about collector.blkin.test"},
	{0, false, "no address for collector.blkin.test: "}, /* it has none */
};

/* Spans wait, and go when the name is known. */
START_TEST(name_server_fails)
{
	struct names names;

	open_names(&names, "127.0.0.1");
	names.error = failures[_i].error;
	names.deaf = failures[_i].deaf;
	if (!names.error && !names.deaf)
		names.addresses[0] = 0;
	push(&names.rig, 3);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, OUTPUT_ERRORS_CONNECT) == 2);
	ck_assert_int_eq(errors(&names.rig), 2);
	ck_assert_msg(in_log(&names.rig, failures[_i].words) == 1, "%s", names.rig.log);
	ASSERT_ROW(&names.rig, SPANS_QUEUED, names.rig.pushed);
	names.error = 0;
	names.deaf = false;
	inet_pton(AF_INET, "127.0.0.1", &names.addresses[0]);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	assert_in_order(&names.rig);
	close_names(&names);
}
END_TEST

/* Nobody at all at the name server's address. */
START_TEST(name_server_is_gone)
{
	struct names names;

	open_names(&names, "127.0.0.1");
	evdns_close_server_port(names.server);
	close(names.socket);
	names.server = NULL;
	push(&names.rig, 1);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, OUTPUT_ERRORS_CONNECT) == 2);
	ASSERT_ROW(&names.rig, SPANS_QUEUED, names.rig.pushed);
	unlink(names.conf);
	rig_close(&names.rig);
}
END_TEST

/* No answer about IPv6 does not hold up a name that has an IPv4 address. */
START_TEST(half_an_answer)
{
	int64_t begin = clock_monotonic();
	struct names names;

	open_names(&names, "127.0.0.1");
	names.rig.options.timeout_ns = 4 * NS_PER_SECOND;
	names.deaf_ipv6 = true;
	push(&names.rig, 1);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	ck_assert_int_lt(clock_monotonic() - begin, NS_PER_SECOND);
	close_names(&names);
}
END_TEST

/* The collector moves to another address: found there with the next connection. */
START_TEST(name_moves)
{
	struct names names;
	struct peer *other;

	open_names(&names, "127.0.0.1");
	push(&names.rig, 5);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	peer_stop(names.rig.peer);
	other = peer_create_on(names.rig.base, "127.0.0.2", names.rig.peer->port);
	push(&names.rig, 5);
	RUN_UNTIL(&names.rig, row(&names.rig, OUTPUT_ERRORS_CONNECT) >= 2);
	ck_assert_uint_eq(other->taken->len, 0);
	inet_pton(AF_INET, "127.0.0.2", &names.addresses[0]);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	ck_assert_uint_eq(other->taken->len, 5 * SPANS);
	ck_assert_uint_eq(names.rig.peer->taken->len, 5 * SPANS);
	peer_destroy(other);
	close_names(&names);
}
END_TEST

/* Of its addresses only the last has a server: each is tried. */
START_TEST(all_addresses_are_tried)
{
	struct names names;

	open_names(&names, "127.0.0.3");
	inet_pton(AF_INET, "127.0.0.4", &names.addresses[1]);
	inet_pton(AF_INET, "127.0.0.1", &names.addresses[2]);
	push(&names.rig, 5);
	start(&names.rig);
	RUN_UNTIL(&names.rig, row(&names.rig, SPANS_SENT) == names.rig.pushed);
	ck_assert_int_eq(errors(&names.rig), 0);
	assert_in_order(&names.rig);
	close_names(&names);
}
END_TEST

/* The uplink goes while a question is open. */
START_TEST(given_up_while_asking)
{
	struct names names;

	open_names(&names, "127.0.0.1");
	names.deaf = true;
	push(&names.rig, 1);
	start(&names.rig);
	run_ms(&names.rig, 20);
	uplink_destroy(names.rig.uplink);
	names.rig.uplink = NULL;
	ASSERT_ROW(&names.rig, SPANS_QUEUED, names.rig.pushed);
	run_ms(&names.rig, 20);
	close_names(&names);
}
END_TEST

TCase *uplink_dns(void)
{
	TCase *tests = tcase_create("dns");

	tcase_add_test(tests, name_is_found);
	tcase_add_loop_test(tests, name_server_fails, 0, (int)LENGTH(failures));
	tcase_add_test(tests, name_server_is_gone);
	tcase_add_test(tests, half_an_answer);
	tcase_add_test(tests, name_moves);
	tcase_add_test(tests, all_addresses_are_tried);
	tcase_add_test(tests, given_up_while_asking);
	tcase_set_timeout(tests, 30);
	return tests;
}
