/* SPDX-License-Identifier: BSD-2-Clause */
/* How a test program runs: main returns one of these. */
#ifndef RUN_H
#define RUN_H

#include <stdlib.h>

#include <check.h>

/* Runs all suites of @runner, and frees it. */
static inline int run_all(SRunner *runner)
{
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Runs the cases as a suite of this name. */
static inline int run_cases(const char *name, TCase *cases)
{
	Suite *suite = suite_create(name);

	suite_add_tcase(suite, cases);
	return run_all(srunner_create(suite));
}

#endif
