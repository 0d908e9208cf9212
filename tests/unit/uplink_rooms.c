/* SPDX-License-Identifier: BSD-2-Clause */
/* The uplink's parts without I/O: addresses, the rate, parcels. */
#include "uplink_rig.h"

#include "base/address.h"
#include "output/uplink/parcel.h"
#include "output/uplink/ratelimit.h"

START_TEST(server_is_host_and_port)
{
	static const struct {
		const char *server, *host; /* NULL: refused */
		uint16_t port;
	} cases[] = {
		{"127.0.0.1:9410", "127.0.0.1", 9410},
		{"collector.example:1", "collector.example", 1},
		{"a-b_c:65535", "a-b_c", 65535},
		{"[::1]:9410", "::1", 9410},
		{"[fe80::1%eth0]:9410", "fe80::1%eth0", 9410},
		{"", NULL, 0},
		{"localhost", NULL, 0},
		{":9410", NULL, 0},
		{"localhost:", NULL, 0},
		{"localhost:0", NULL, 0},
		{"localhost:65536", NULL, 0},
		{"localhost:123456", NULL, 0},
		{"localhost:-1", NULL, 0},
		{"localhost:+1", NULL, 0},
		{"localhost: 1", NULL, 0},
		{"localhost:94x", NULL, 0},
		{"localhost:9410 ", NULL, 0},
		{"local host:9410", NULL, 0},
		{"http://localhost:9410", NULL, 0},
		{"::1:9410", NULL, 0},
		{"[::1]", NULL, 0},
		{"[::1]9410", NULL, 0},
		{"[::1:9410", NULL, 0},
		{"[]:9410", NULL, 0},
		{"[localhost]:9410", NULL, 0},
		{"[fe80::1%e/0]:9410", NULL, 0},
	};
	struct address address;
	char longest[300];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		bool good = address_parse(cases[i].server, &address);

		ck_assert_msg(good == !!cases[i].host, "%s", cases[i].server);
		if (good) {
			ck_assert_str_eq(address.host, cases[i].host);
			ck_assert_uint_eq(address.port, cases[i].port);
		}
	}
	for (int size = 255; size <= 256; size++) {
		snprintf(longest, sizeof(longest), "%0*d:9410", size, 0);
		ck_assert_int_eq(address_parse(longest, &address), size == 255);
	}
}
END_TEST

START_TEST(servers_are_a_list)
{
	static const struct {
		const char *text;
		size_t count;
	} cases[] = {
		{"a:1", 1},
		{"a:1,b:1", 2},
		{" a:1 ,\tb:1 , [::1]:1 ", 3},
		{"a:1,a:2", 2},
		{"a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1", 8},
		{"a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1", 0},
		{"a:1,", 0},
		{",a:1", 0},
		{"a:1,b", 0},
		{"a:1 b:1", 0},
		{"a:1,A:1", 0},
		{"", 0},
	};
	struct address list[ADDRESSES_MAX];
	char text[ADDRESS_TEXT];

	for (size_t i = 0; i < LENGTH(cases); i++)
		ck_assert_msg(address_parse_list(cases[i].text, list) == cases[i].count, "%s", cases[i].text);
	ck_assert_uint_eq(address_parse_list("one.example:9410, [fe80::1%eth0]:65535", list), 2);
	address_print(&list[0], text);
	ck_assert_str_eq(text, "one.example:9410");
	address_print(&list[1], text);
	ck_assert_str_eq(text, "[fe80::1%eth0]:65535");
}
END_TEST

START_TEST(rate_is_paid_afterwards)
{
	struct ratelimit rate = {.limit = 1000};

	ck_assert_int_eq(ratelimit_wait(&rate, NS_PER_SECOND), 0);
	ratelimit_spend(&rate, 500, NS_PER_SECOND);
	ck_assert_int_eq(ratelimit_wait(&rate, NS_PER_SECOND), NS_PER_SECOND / 2);
	ck_assert_int_eq(ratelimit_wait(&rate, NS_PER_SECOND * 5 / 4), NS_PER_SECOND / 4);
	ck_assert_int_eq(ratelimit_wait(&rate, NS_PER_SECOND * 3 / 2), 0);
	/* What was not used is not saved up. */
	ratelimit_spend(&rate, 100000, 100 * NS_PER_SECOND);
	ck_assert_int_eq(ratelimit_wait(&rate, 100 * NS_PER_SECOND), 100 * NS_PER_SECOND);
	rate = (struct ratelimit){.limit = 0};
	ratelimit_spend(&rate, UINT64_MAX, 0);
	ck_assert_int_eq(ratelimit_wait(&rate, 0), 0);
}
END_TEST

/* However a batch is taken apart, its pieces are all of it, and what is not settled is what is left. */
START_TEST(parcel_comes_apart_and_together)
{
	struct rig rig;
	struct entry *entry;
	const struct batch *batch;
	struct parcel *parcel;
	struct piece *left, *right, *middle;
	struct run run;

	rig_open(&rig);
	for (int i = 0; i < 7; i++) {
		char span[32];

		push_span(&rig, span, (size_t)snprintf(span, sizeof(span), "%0*d", i + 1, i));
	}
	push_batch(&rig);
	entry = queue_take(rig.queue);
	parcel = parcel_create(entry);
	left = parcel_whole(parcel);
	right = piece_split(left);
	middle = piece_split(right);
	piece_run(left, &run);
	ck_assert_uint_eq(run.count, 3);
	ck_assert_uint_eq(run.size, 1 + 2 + 3);
	ck_assert_mem_eq(run.spans, "001002", 6);
	piece_run(right, &run);
	ck_assert_uint_eq(run.count, 2);
	ck_assert_mem_eq(run.spans, "000300004", 9);
	ck_assert_uint_eq(run.sizes[1], 5);
	piece_run(middle, &run);
	ck_assert_uint_eq(run.count, 2);
	ck_assert_mem_eq(run.spans, "0000050000006", 13);
	parcel_settle(parcel, right);
	ck_assert_uint_eq(parcel->left, 5);
	piece_destroy(left);
	piece_destroy(right);
	piece_destroy(middle);
	parcel_give_back(parcel, rig.queue);
	ck_assert_ptr_eq(queue_take(rig.queue), entry);
	batch = entry->batch;
	ck_assert_uint_eq(batch->count, 5);
	ck_assert_uint_eq(batch->spans.size, 19);
	ck_assert_mem_eq(batch->spans.data, "0010020000050000006", 19);
	ck_assert_uint_eq(batch_sizes(batch)[3], 6);
	ck_assert_uint_eq(batch->sizes.size, 5 * sizeof(uint32_t));
	ck_assert_uint_eq(batch->events.size, 5 * sizeof(int64_t));
	queue_release(rig.queue, entry);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	account_move(rig.account, SPANS_QUEUED, SPANS_DROPPED_SHUTDOWN, 7);
	rig_close(&rig);
}
END_TEST

TCase *uplink_rooms(void)
{
	TCase *tests = tcase_create("rooms");

	tcase_add_test(tests, server_is_host_and_port);
	tcase_add_test(tests, servers_are_a_list);
	tcase_add_test(tests, rate_is_paid_afterwards);
	tcase_add_test(tests, parcel_comes_apart_and_together);
	return tests;
}
