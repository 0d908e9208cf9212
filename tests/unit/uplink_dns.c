/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that are not known, whose servers do not answer, that move, and that have several addresses. */
#include "uplink_rig.h"

#include <dirent.h>
#include <stdlib.h>

#include <arpa/inet.h>

#include "names.h"
#include "net/question.h"

struct dns {
	struct rig rig;
	struct names names;
};

static void open_dns(struct dns *dns, const char *first)
{
	names_isolate();
	rig_open(&dns->rig);
	names_open(&dns->names, dns->rig.base, first);
	snprintf(dns->rig.server, sizeof(dns->rig.server), "collector.blkin.test:%u", dns->rig.peer->port);
}

static void close_dns(struct dns *dns)
{
	names_close(&dns->names);
	rig_close(&dns->rig);
}

/* Asked once for each connection, and not for each call. */
START_TEST(name_is_found)
{
	struct dns dns;

	open_dns(&dns, "127.0.0.1");
	push(&dns.rig, 20);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	assert_in_order(&dns.rig);
	ck_assert_int_eq(errors(&dns.rig), 0);
	ck_assert_uint_eq(dns.names.questions, 1);
	peer_hang_up(dns.rig.peer);
	push(&dns.rig, 1);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	ck_assert_uint_eq(dns.names.questions, 2);
	close_dns(&dns);
}
END_TEST

static const struct {
	int error;
	bool deaf;
	const char *words;
} failures[] = {
	{3, false, "no address for collector.blkin.test: the name is not known"},
	{2, false, "no address for collector.blkin.test: no name server answers"},
	{0, true, "no address for collector.blkin.test: the name service does not answer within 0.25 s"},
	{0, false, "no address for collector.blkin.test: the name has none"},
};

/* Spans wait, and go when the name is known. */
START_TEST(name_server_fails)
{
	struct dns dns;

	open_dns(&dns, "127.0.0.1");
	dns.names.error = failures[_i].error;
	dns.names.deaf = failures[_i].deaf;
	if (dns.names.deaf)
		dns.rig.is.timeout = SHORT_TIMEOUT;
	if (!dns.names.error && !dns.names.deaf)
		dns.names.addresses[0] = 0;
	push(&dns.rig, 3);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, OUTPUT_ERRORS_CONNECT) == 2);
	ck_assert_int_eq(errors(&dns.rig), 2);
	ck_assert_msg(in_log(&dns.rig, failures[_i].words) == 1, "%s", dns.rig.log);
	ASSERT_ROW(&dns.rig, SPANS_QUEUED, dns.rig.pushed);
	dns.names.error = 0;
	dns.names.deaf = false;
	inet_pton(AF_INET, "127.0.0.1", &dns.names.addresses[0]);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	assert_in_order(&dns.rig);
	close_dns(&dns);
}
END_TEST

/* Nobody at all at the name server's address. */
START_TEST(name_server_is_gone)
{
	struct dns dns;

	open_dns(&dns, "127.0.0.1");
	names_close(&dns.names);
	push(&dns.rig, 1);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, OUTPUT_ERRORS_CONNECT) == 2);
	ASSERT_ROW(&dns.rig, SPANS_QUEUED, dns.rig.pushed);
	rig_close(&dns.rig);
}
END_TEST

/* No answer about IPv6 does not hold up a name that has an IPv4 address. */
START_TEST(half_an_answer)
{
	struct dns dns;

	setenv("RES_OPTIONS", "timeout:30", 1); /* so long the C library waits for it */
	open_dns(&dns, "127.0.0.1");
	dns.rig.is.timeout = 600 * NS_PER_SECOND;
	dns.names.deaf_ipv6 = true;
	push(&dns.rig, 1);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	close_dns(&dns);
}
END_TEST

/* The collector moves to another address: found there with the next connection. */
START_TEST(name_moves)
{
	struct dns dns;
	struct peer *other;

	open_dns(&dns, "127.0.0.1");
	push(&dns.rig, 5);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	peer_stop(dns.rig.peer);
	other = peer_create_on(dns.rig.base, "127.0.0.2", dns.rig.peer->port);
	push(&dns.rig, 5);
	RUN_UNTIL(&dns.rig, row(&dns.rig, OUTPUT_ERRORS_CONNECT) >= 2);
	ck_assert_uint_eq(other->taken->len, 0);
	inet_pton(AF_INET, "127.0.0.2", &dns.names.addresses[0]);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	ck_assert_uint_eq(other->taken->len, 5 * SPANS);
	ck_assert_uint_eq(dns.rig.peer->taken->len, 5 * SPANS);
	peer_destroy(other);
	close_dns(&dns);
}
END_TEST

/* Of its addresses only the last has a server: each is tried. */
START_TEST(all_addresses_are_tried)
{
	struct dns dns;

	open_dns(&dns, "127.0.0.3");
	inet_pton(AF_INET, "127.0.0.4", &dns.names.addresses[1]);
	inet_pton(AF_INET, "127.0.0.1", &dns.names.addresses[2]);
	push(&dns.rig, 5);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	ck_assert_int_eq(errors(&dns.rig), 0);
	assert_in_order(&dns.rig);
	close_dns(&dns);
}
END_TEST

/* It has an IPv6 address only: one that leads to the peer on IPv4, as not every system has ::1. */
START_TEST(ipv6_is_found)
{
	struct in6_addr address;
	struct dns dns;

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &address);
	open_dns(&dns, "0.0.0.0");
	dns.names.ipv6 = &address;
	push(&dns.rig, 1);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	ck_assert_int_eq(errors(&dns.rig), 0);
	close_dns(&dns);
}
END_TEST

static unsigned int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned int count = 0;

	for (struct dirent *task; (task = readdir(tasks));)
		count += task->d_name[0] != '.';
	closedir(tasks);
	return count;
}

static void *nothing(void *data)
{
	return data;
}

/* A try takes over the question that the one before gave up. */
START_TEST(tries_hold_one_thread)
{
	unsigned int before;
	struct dns dns;

	/* with the first thread ThreadSanitizer starts one of its own */
	g_thread_join(g_thread_new("first", nothing, NULL));
	before = count_threads();
	open_dns(&dns, "127.0.0.1");
	dns.rig.is.timeout = 50 * NS_PER_MS;
	dns.names.deaf = true;
	push(&dns.rig, 1);
	start(&dns.rig);
	RUN_UNTIL(&dns.rig, row(&dns.rig, OUTPUT_ERRORS_CONNECT) == 10);
	ck_assert_uint_le(count_threads(), before + 2); /* one may be about to end */
	dns.names.deaf = false;
	RUN_UNTIL(&dns.rig, row(&dns.rig, SPANS_SENT) == dns.rig.pushed);
	RUN_UNTIL(&dns.rig, count_threads() == before);
	close_dns(&dns);
}
END_TEST

static bool is_answered(const char *host, int64_t patience)
{
	char why[64];
	struct addrinfo *addresses = question_wait(host, "1", 0, patience, why, sizeof(why));

	if (addresses)
		freeaddrinfo(addresses);
	return addresses;
}

/* Gives up a question, and lets the answer come, which takes the loop. */
static void ask_in_vain(struct dns *dns, const char *host, unsigned int threads)
{
	ck_assert(!is_answered(host, 0));
	RUN_UNTIL(&dns->rig, count_threads() == threads);
}

/* One that needs no name server. */
static void ask_another(void)
{
	ck_assert(is_answered("127.0.0.1", 20 * NS_PER_SECOND));
}

/* An answer that came late stays while others ask; if there are too many, the oldest goes. */
START_TEST(late_answers_stay)
{
	const int places = 8 * ADDRESSES_MAX;
	unsigned int before;
	char host[32];
	struct dns dns;

	/* with the first thread ThreadSanitizer starts one of its own */
	g_thread_join(g_thread_new("first", nothing, NULL));
	open_dns(&dns, "127.0.0.1");
	before = count_threads();
	for (int i = 0; i < places; i++) {
		if (i > 0) /* there is an empty place */
			ask_another();
		snprintf(host, sizeof(host), "c%d.blkin.test", i);
		ask_in_vain(&dns, host, before);
	}
	ck_assert(is_answered("c0.blkin.test", 0));
	ask_in_vain(&dns, "c0.blkin.test", before); /* it stands where the oldest was, and is the newest */
	ask_another();
	ck_assert(is_answered("c0.blkin.test", 0));
	for (int i = 2; i < places; i++) {
		snprintf(host, sizeof(host), "c%d.blkin.test", i);
		ck_assert_msg(is_answered(host, 0), "%s", host);
	}
	close_dns(&dns);
}
END_TEST

/* The uplink goes while a question is open. */
START_TEST(given_up_while_asking)
{
	struct dns dns;

	open_dns(&dns, "127.0.0.1");
	dns.names.deaf = true;
	push(&dns.rig, 1);
	start(&dns.rig);
	run_ms(&dns.rig, 20);
	uplink_destroy(dns.rig.uplink);
	dns.rig.uplink = NULL;
	ASSERT_ROW(&dns.rig, SPANS_QUEUED, dns.rig.pushed);
	run_ms(&dns.rig, 20);
	close_dns(&dns);
}
END_TEST

TCase *uplink_dns(void)
{
	TCase *tests = tcase_create("dns");

	if (!names_possible()) {
		fprintf(stderr, "uplink: this system allows no namespaces: names are not looked up\n");
		return tests;
	}
	tcase_add_test(tests, name_is_found);
	tcase_add_loop_test(tests, name_server_fails, 0, (int)LENGTH(failures));
	tcase_add_test(tests, name_server_is_gone);
	tcase_add_test(tests, half_an_answer);
	tcase_add_test(tests, name_moves);
	tcase_add_test(tests, all_addresses_are_tried);
	tcase_add_test(tests, ipv6_is_found);
	tcase_add_test(tests, tries_hold_one_thread);
	tcase_add_test(tests, given_up_while_asking);
	tcase_add_test(tests, late_answers_stay);
	tcase_set_timeout(tests, 30);
	return tests;
}
