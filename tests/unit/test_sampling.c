/* SPDX-License-Identifier: BSD-2-Clause */
/* The decider of the provider library: shares and caps, in threads; the page is tested live. */
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <blkin/id.h>

#include "run.h"
#include "sampling.h"

#define SECOND UINT64_C(1000000000)

static int sampled(int count, uint64_t now)
{
	int yes = 0;

	for (int i = 0; i < count; i++)
		yes += sampling_decide(blkin_id(), now, "svc") != 0;
	return yes;
}

START_TEST(test_all_unless_told)
{
	ck_assert_int_eq(sampled(10000, SECOND), 10000);
	sampling_set(0, 0);
	ck_assert_int_eq(sampled(10000, SECOND), 10000);
	ck_assert(sampling_decide(UINT64_MAX, SECOND, ""));
}
END_TEST

START_TEST(test_share)
{
	sampling_set(10, 0);
	ck_assert_int_lt(abs(sampled(100000, SECOND) - 10000), 600); /* six standard deviations */
	sampling_set(UINT32_MAX, 0);
	ck_assert_int_le(sampled(100000, SECOND), 2);
}
END_TEST

/* The same trace gets the same decision, whoever decides. */
START_TEST(test_by_id)
{
	sampling_set(10, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t id = blkin_id();
		int first = sampling_decide(id, SECOND, "one");

		ck_assert_int_eq(sampling_decide(id, 9 * SECOND, "another"), first);
	}
}
END_TEST

/* The share of those that this takes which another sampler takes. */
static double taken(uint32_t one_in, bool (*takes)(uint64_t id))
{
	int all = 0, both = 0;

	sampling_set(one_in, 0);
	while (all < 20000) {
		uint64_t id = blkin_id();

		if (sampling_decide(id, SECOND, "svc")) {
			all++;
			both += takes(id);
		}
	}
	return both / (double)all;
}

/* Zipkin's COLLECTOR_SAMPLE_RATE=0.1. */
static bool zipkin_takes(uint64_t id)
{
	uint64_t positive = id >> 63 ? -id : id;

	return positive <= (uint64_t)INT64_MAX / 10;
}

/* OpenTelemetry's, of 10 %: by the lowest 63 bits, and by the lowest 56. */
static bool ratio_takes(uint64_t id)
{
	return (id & INT64_MAX) < (uint64_t)INT64_MAX / 10;
}

static bool random_takes(uint64_t id)
{
	return (id & ((UINT64_C(1) << 56) - 1)) >= (UINT64_C(1) << 56) / 10 * 9;
}

/* The agent's keep_hash, with keep = 1/10. */
static bool output_takes(uint64_t id)
{
	id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
	return (id ^ id >> 31) <= UINT64_MAX / 10;
}

/* Others decide by the id, too, each in its way: the shares multiply. */
START_TEST(test_samplers_behind)
{
	static bool (*const all[])(uint64_t id) = {zipkin_takes, ratio_takes, random_takes, output_takes};
	static const uint32_t rates[] = {2, 10, 100, 1000};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (size_t k = 0; k < sizeof(rates) / sizeof(*rates); k++)
			ck_assert_double_eq_tol(taken(rates[k], all[i]), 0.1, 0.015); /* seven deviations */
}
END_TEST

/* Neither a part of the id's bits says it, nor does it matter how ids are made. */
START_TEST(test_ids_are_spread)
{
	int counts[1024] = {0}, all = 0;

	sampling_set(1000, 0);
	while (all < 10240) {
		uint64_t id = blkin_id();

		if (!sampling_decide(id, SECOND, "svc"))
			continue;
		all++;
		counts[id >> 54]++;
	}
	for (int i = 0; i < 1024; i++)
		ck_assert_int_lt(counts[i], 40);
	all = 0;
	sampling_set(10, 0);
	for (uint64_t id = 1; id <= 10000; id++)
		all += sampling_decide(id, SECOND, "svc");
	ck_assert_int_lt(abs(all - 1000), 100);
}
END_TEST

START_TEST(test_cap)
{
	sampling_set(1, 10);
	ck_assert_int_eq(sampled(1000, 5 * SECOND), 10);
	ck_assert_int_eq(sampled(1000, 6 * SECOND - 1), 0);
	ck_assert_int_eq(sampled(1000, 6 * SECOND), 10);
	ck_assert_int_eq(sampled(5, 9 * SECOND), 5);
	ck_assert_int_eq(sampled(1000, 9 * SECOND), 5);
}
END_TEST

static void *sample_many(void *yes)
{
	*(int *)yes = sampled(100000, 7 * SECOND);
	return NULL;
}

START_TEST(test_cap_holds_in_threads)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	int yes[THREADS], sum = 0;

	sampling_set(1, 1000);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, sample_many, &yes[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += yes[i];
	}
	ck_assert_int_eq(sum, 1000);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("decide");

	tcase_add_test(tests, test_all_unless_told);
	tcase_add_test(tests, test_share);
	tcase_add_test(tests, test_by_id);
	tcase_add_test(tests, test_samplers_behind);
	tcase_add_test(tests, test_ids_are_spread);
	tcase_add_test(tests, test_cap);
	tcase_add_test(tests, test_cap_holds_in_threads);
	return run_cases("sampling", tests);
}
