/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares that are found out: what is kept by them, what is counted, and services of which little comes. */
#include <stdio.h>

#include "encode/zipkin.h"
#include "fanout_rig.h"
#include "queue/rare.h"

#define SECOND INT64_C(1000000000)

static struct outlet by_share(struct side *side)
{
	struct outlet outlet = outlet_of(side, 1000, 1000000);

	outlet.limits.keep = (struct keep){.quota = queue_quota(side->queue)};
	return outlet;
}

static void add_span(struct batch *items, uint64_t trace, const char *service)
{
	const struct span span = {.trace_id = trace,
		.id = 1,
		.timestamp = 1000,
		.has_user = trace % 2,
		.user = 1000,
		.name = {"get", 3},
		.local.service = {service, (uint32_t)strlen(service)}};
	struct buffer item = {0};

	if (items->format == BATCH_SPAN_RECORDS)
		ck_assert_int_eq(record_put(&item, &span), 0);
	else
		zipkin_encode(&item, &span);
	batch_add(items, item.data, item.size, (int64_t)trace);
	buffer_free(&item);
}

/* Spans of the traces from @first on, one of each, at @now. */
static void hand_of(struct fanout *to, enum batch_format format, const char *service, uint64_t first,
	uint32_t count, int64_t now)
{
	struct batch *items = batch_create(format, count, 0);
	struct ledger change = {.row = {[SPANS_MADE] = count}};

	for (uint64_t i = 0; i < count; i++)
		add_span(items, first + i, service);
	fanout_hand(to, &change, &(struct items){.batch = items}, now, true);
	batch_unref(items);
}

static int64_t left_out(void)
{
	return row_of(one.account, SPANS_SAMPLED_OUT);
}

/* It is the same as a fixed share, changes between two batches, and counts what it counts. */
START_TEST(as_a_fixed_share)
{
	struct outlet fixed = outlet_of(&other, 1000, 1000000);
	struct quota *quota = queue_quota(one.queue);
	struct fanout *to;

	fixed.limits.keep.one_in = 10;
	to = fanout_create(outlets_of(by_share(&one), fixed));
	hand_of(to, BATCH_SPAN_RECORDS, "web", 1, 500, SECOND);
	ck_assert_int_eq(left_out(), 0);
	ck_assert_uint_eq(quota->came, 500);
	ck_assert_uint_eq(quota->kept, 500);
	atomic_store(&quota->share, QUOTA_ALL / 10);
	for (int i = 0; i < 10; i++) /* the service is not rare: some of it was kept a moment ago */
		hand_of(to, _i ? BATCH_ZIPKIN_SPANS : BATCH_SPAN_RECORDS, "web", 1 + 50 * (uint64_t)i, 50,
			SECOND + 1);
	ck_assert_uint_eq(quota->came, 1000);
	ck_assert_int_eq(left_out(), row_of(other.account, SPANS_SAMPLED_OUT) / 2);
	ck_assert_uint_eq(quota->kept, 1000 - (uint64_t)left_out());
	fanout_destroy(to);
}
END_TEST

/* A service of which nothing was kept for a second gets one span; with records, and with what came. */
START_TEST(rare_services)
{
	const enum batch_format format = _i ? BATCH_ZIPKIN_SPANS : BATCH_SPAN_RECORDS;
	struct quota *quota = queue_quota(one.queue);
	struct fanout *to = fanout_create(outlets_of(by_share(&one), outlet_of(&other, 1000, 1000000)));

	atomic_store(&quota->share, 0);
	hand_of(to, format, "web", 1, 100, SECOND);
	ck_assert_int_eq(left_out(), 99);
	hand_of(to, format, "db", 1, 100, SECOND + SECOND / 2);
	ck_assert_int_eq(left_out(), 198);
	hand_of(to, format, "web", 1, 100, 2 * SECOND - 1);
	ck_assert_int_eq(left_out(), 298);
	hand_of(to, format, "web", 1, 100, 2 * SECOND);
	ck_assert_int_eq(left_out(), 397);
	/* that is not for the budget */
	ck_assert_uint_eq(quota->kept, 0);
	ck_assert_uint_eq(quota->came, 400);
	fanout_destroy(to);
}
END_TEST

/* Who names a service of its own for each span does not get all of them through. */
START_TEST(any_number_of_services)
{
	struct fanout *to = fanout_create(outlets_of(by_share(&one), outlet_of(&other, 1000, 1000000)));
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 10000, 0);
	char service[16];

	atomic_store(&queue_quota(one.queue)->share, 0);
	for (int i = 0; i < 10000; i++) {
		snprintf(service, sizeof(service), "s%d", i);
		add_span(items, 1, service);
	}
	fanout_hand(to, &(struct ledger){.row = {[SPANS_MADE] = 10000}}, &(struct items){.batch = items},
		SECOND, true);
	ck_assert_int_eq(left_out(), 10000 - RARE_MAX);
	batch_unref(items);
	fanout_destroy(to);
}
END_TEST

/* Of many that are kept, those that were kept last are known. */
START_TEST(known_services)
{
	struct rare *rare = rare_create();

	for (uint32_t service = 1; service <= 100; service++)
		ck_assert(rare_wants(rare, service, SECOND));
	for (uint32_t service = 1; service <= 100; service++)
		ck_assert(!rare_wants(rare, service, 2 * SECOND - 1));
	rare_keep(rare, 7, 2 * SECOND - 1);
	for (uint32_t service = 1; service <= 100; service++)
		ck_assert(rare_wants(rare, service, 2 * SECOND) == (service != 7));
	/* a set of places that is full */
	for (uint32_t i = 0; i < 9; i++)
		rare_keep(rare, 5 + 256 * i, 3 * SECOND + i);
	for (uint32_t i = 1; i < 9; i++)
		ck_assert(!rare_wants(rare, 5 + 256 * i, 3 * SECOND + 10));
	ck_assert(rare_wants(rare, 5, 3 * SECOND + 10));
	rare_destroy(rare);
	rare_destroy(NULL);
}
END_TEST

/* Senders are told what the most generous output keeps, once that is known. */
START_TEST(what_is_offered)
{
	struct outlet fixed = outlet_of(&other, 1000, 1000000);
	struct quota *quota = queue_quota(one.queue);
	struct fanout *to;
	bool finds_out = true;

	fixed.limits.keep.one_in = 100;
	to = fanout_create(outlets_of(fixed, fixed));
	ck_assert_uint_eq(fanout_offer(to, &finds_out), 0);
	ck_assert(!finds_out);
	fanout_tell(to, 10, 5);
	fanout_destroy(to);
	to = fanout_create(outlets_of(by_share(&one), fixed));
	ck_assert_uint_eq(fanout_offer(to, &finds_out), 0);
	ck_assert(finds_out);
	atomic_store(&quota->offered, QUOTA_ALL / 1000);
	ck_assert_uint_eq(fanout_offer(to, &finds_out), QUOTA_ALL / 100);
	atomic_store(&quota->offered, QUOTA_ALL / 20);
	ck_assert_uint_eq(fanout_offer(to, &finds_out), QUOTA_ALL / 20);
	ck_assert(finds_out);
	fanout_tell(to, 10, QUOTA_ALL / 4);
	fanout_tell(to, 10, QUOTA_ALL);
	ck_assert_uint_eq(quota->told, 20);
	ck_assert_uint_eq(quota->before, 50);
	/* what nobody can mean: it counts for little once senders are told */
	atomic_store(&quota->offered, QUOTA_ALL / 16);
	fanout_tell(to, 1, 1);
	ck_assert_uint_eq(quota->before, 50 + 128);
	fanout_tell(to, 1, QUOTA_ALL / 128);
	ck_assert_uint_eq(quota->before, 50 + 2 * 128);
	atomic_store(&quota->offered, 0);
	fanout_tell(to, 1, 1);
	ck_assert_uint_eq(quota->before, 50 + 2 * 128 + 1000000);
	fanout_destroy(to);
}
END_TEST

/* Senders are counted by the time, in which whoever replays is heard. */
START_TEST(who_replays)
{
	struct quota *quota = queue_quota(one.queue);
	struct fanout *to =
		fanout_create(outlets_of(outlet_of(&one, 100, 10000), outlet_of(&other, 100, 10000)));
	uint64_t first = 0, second = 0, turn = quota_turn(100 * SECOND);

	fanout_replay(to, 10, &first, 100 * SECOND);
	fanout_replay(to, 10, &first, 101 * SECOND);
	fanout_replay(to, 10, &second, 102 * SECOND);
	ck_assert_uint_eq(quota->replayed, 30);
	ck_assert_uint_eq(quota_replayers(quota, turn), 2);
	ck_assert_uint_eq(quota_replayers(quota, turn + 1), 2);
	ck_assert_uint_eq(quota_replayers(quota, turn + 2), 0);
	fanout_replay(to, 10, &second, 121 * SECOND);
	ck_assert_uint_eq(quota_replayers(quota, turn + 1), 2); /* the first may still be heard */
	fanout_replay(to, 10, &second, 141 * SECOND);
	ck_assert_uint_eq(quota_replayers(quota, turn + 2), 1);
	/* the output that is furthest behind says how many */
	ck_assert_uint_eq(fanout_grant(to), 0);
	atomic_store(&quota->grant, 70);
	ck_assert_uint_eq(fanout_grant(to), 70);
	atomic_store(&queue_quota(other.queue)->grant, 7);
	ck_assert_uint_eq(fanout_grant(to), 7);
	fanout_destroy(to);
}
END_TEST

START_TEST(parts)
{
	ck_assert_uint_eq(quota_share(1), QUOTA_ALL);
	ck_assert_uint_eq(quota_share(2), QUOTA_ALL);
	ck_assert_uint_eq(quota_share(0.5), UINT64_C(1) << 63);
	ck_assert_uint_gt(quota_share(0), 0);
	ck_assert_uint_gt(quota_share(-1), 0);
	ck_assert_double_eq(quota_part(QUOTA_ALL), 1);
	for (double part = 1; part > 2e-6; part *= 0.7)
		ck_assert_double_eq_tol(quota_part(quota_share(part)), part, part * 1e-9);
}
END_TEST

TCase *queue_shares(void)
{
	TCase *tests = tcase_create("quota");

	tcase_add_checked_fixture(tests, open_sides, close_sides);
	tcase_add_loop_test(tests, as_a_fixed_share, 0, 2);
	tcase_add_loop_test(tests, rare_services, 0, 2);
	tcase_add_test(tests, any_number_of_services);
	tcase_add_test(tests, known_services);
	tcase_add_test(tests, what_is_offered);
	tcase_add_test(tests, who_replays);
	tcase_add_test(tests, parts);
	return tests;
}
