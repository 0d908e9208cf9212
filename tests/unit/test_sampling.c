/* SPDX-License-Identifier: BSD-2-Clause */
/* The decider of the provider library: shares and caps, in threads; the page is tested live. */
#include <check.h>
#include <pthread.h>
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
	tcase_add_test(tests, test_cap);
	tcase_add_test(tests, test_cap_holds_in_threads);
	return run_cases("sampling", tests);
}
