/* SPDX-License-Identifier: BSD-2-Clause */
/* The collector's state as others see it. */
#include <check.h>
#include <stdlib.h>

#include <glib.h>

#include "collect/runstate.h"

static struct runstate state;
static struct collector_state seen;

static void setup(void)
{
	runstate_init(&state);
}

static void teardown(void)
{
	runstate_free(&state);
}

static void check_state(bool collecting, enum collector_reason reason, const char *error)
{
	runstate_read(&state, &seen);
	ck_assert_int_eq(seen.collecting, collecting);
	ck_assert_int_eq(seen.reason, reason);
	ck_assert_str_eq(seen.error, error);
}

START_TEST(reason_goes_with_the_sentence)
{
	check_state(false, REASON_STARTING, "");
	runstate_waits(&state, REASON_NO_RELAY, "no relay");
	check_state(false, REASON_NO_RELAY, "no relay");
	runstate_waits(&state, REASON_RELAY_DISK_FULL, "full");
	check_state(false, REASON_RELAY_DISK_FULL, "full");
	runstate_collects(&state, "blkin", true);
	check_state(true, REASON_NONE, "");
	ck_assert_str_eq(seen.session, "blkin");
	runstate_collects_in_part(&state, "blkin", REASON_LEFT_OUT, "left out");
	check_state(true, REASON_LEFT_OUT, "left out");
}
END_TEST

/* Attaching again is no news: it has been collecting since it began. */
START_TEST(since_when)
{
	int64_t since;

	runstate_collects(&state, "blkin", true);
	runstate_read(&state, &seen);
	since = seen.since;
	g_usleep(2000);
	runstate_collects(&state, "blkin", false);
	runstate_read(&state, &seen);
	ck_assert_int_eq(seen.since, since);
	runstate_waits(&state, REASON_SESSION_LOST, "gone");
	runstate_read(&state, &seen);
	ck_assert_int_gt(seen.since, since);
}
END_TEST

static const struct {
	enum lttng_daemon daemon;
	enum collector_reason reason;
} hung[] = {{DAEMON_RELAY, REASON_RELAY_HANGS}, {DAEMON_SESSION, REASON_SESSION_DAEMON_HANGS}};

/* Whatever the thread said last, it waits for a daemon now. */
START_TEST(daemon_hangs)
{
	runstate_collects(&state, "blkin", true);
	runstate_calls(&state, hung[_i].daemon);
	check_state(true, REASON_NONE, "");
	state.moved -= INT64_C(6000000000);
	runstate_read(&state, &seen);
	ck_assert(!seen.collecting);
	ck_assert_int_eq(seen.reason, hung[_i].reason);
	ck_assert(runstate_is_calling(&state));
	ck_assert(!runstate_stopping(&state));
	check_state(true, REASON_NONE, "");
	ck_assert(!runstate_is_calling(&state));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runstate");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, reason_goes_with_the_sentence);
	tcase_add_test(cases, since_when);
	tcase_add_loop_test(cases, daemon_hangs, 0, 2);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
