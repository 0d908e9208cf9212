/* SPDX-License-Identifier: BSD-2-Clause */
/* What is shown of the reader: its state as others see it. */
#include <check.h>

#include <glib.h>

#include "base/clock.h"
#include "supervise/readerstatus.h"

#include "run.h"

static struct page page;
static struct reader_status shown;
static struct supervisor_state seen;

static void setup(void)
{
	page = (struct page){0};
	reader_status_init(&shown, &page);
}

static void teardown(void)
{
	reader_status_free(&shown);
}

static void check_state(bool collecting, enum reason reason, const char *error)
{
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.collecting, collecting);
	ck_assert_int_eq(seen.reason, reason);
	ck_assert_str_eq(seen.error, error);
}

static void report(int kind, enum reason reason, const char *text)
{
	struct report said = {.kind = kind, .session = "blkin", .problem.reason = reason};

	g_strlcpy(said.problem.text, text, sizeof(said.problem.text));
	reader_status_report(&shown, &said);
}

START_TEST(reason_goes_with_the_sentence)
{
	check_state(false, REASON_STARTING, "");
	report(REPORT_WAITS, REASON_NO_RELAY, "no relay");
	check_state(false, REASON_NO_RELAY, "no relay");
	report(REPORT_WAITS, REASON_RELAY_DISK_FULL, "full");
	check_state(false, REASON_RELAY_DISK_FULL, "full");
	report(REPORT_COLLECTS, REASON_NONE, "");
	check_state(true, REASON_NONE, "");
	ck_assert_str_eq(seen.session, "blkin");
	report(REPORT_IN_PART, REASON_LEFT_OUT, "left out");
	check_state(true, REASON_LEFT_OUT, "left out");
}
END_TEST

/* Attaching again is no news: it has been collecting since it began. */
START_TEST(since_when)
{
	int64_t since;

	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_read(&shown, &seen);
	since = seen.since;
	g_usleep(2000);
	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.since, since);
	report(REPORT_WAITS, REASON_SESSION_LOST, "gone");
	reader_status_read(&shown, &seen);
	ck_assert_int_gt(seen.since, since);
}
END_TEST

static const struct {
	enum lttng_daemon daemon;
	enum reason reason;
} hung[] = {{DAEMON_RELAY, REASON_RELAY_HANGS}, {DAEMON_SESSION, REASON_SESSION_DAEMON_HANGS}};

/* Whatever the reader said last, it waits for a daemon now. */
START_TEST(daemon_hangs)
{
	report(REPORT_COLLECTS, REASON_NONE, "");
	page.called = hung[_i].daemon;
	page.moved = clock_monotonic();
	check_state(true, REASON_NONE, "");
	page.moved -= 6 * NS_PER_SECOND;
	reader_status_read(&shown, &seen);
	ck_assert(!seen.collecting);
	ck_assert_int_eq(seen.reason, hung[_i].reason);
	page.called = DAEMON_NONE;
	check_state(true, REASON_NONE, "");
}
END_TEST

/* It computes, or gets no processor: nobody keeps it waiting, although the call has not come back. */
START_TEST(reader_is_busy)
{
	report(REPORT_COLLECTS, REASON_NONE, "");
	page.called = hung[_i].daemon;
	page.moved = clock_monotonic() - 6 * NS_PER_SECOND;
	reader_status_watch(&shown, 5 * NS_PER_SECOND);
	check_state(true, REASON_NONE, "");
	page.moved -= 5 * NS_PER_SECOND;
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, hung[_i].reason);
	page.moved = clock_monotonic() - 6 * NS_PER_SECOND;
	reader_status_watch(&shown, 0);
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, hung[_i].reason);
}
END_TEST

/* It answers when it is asked how it is, but what it was told to do takes it long. */
START_TEST(session_daemon_waits)
{
	struct daemons_health healths = {0};

	report(REPORT_COLLECTS, REASON_NONE, "");
	page.called = DAEMON_SESSION;
	page.moved = clock_monotonic() - 6 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert(!seen.collecting);
	ck_assert_int_eq(seen.reason, REASON_SESSION_DAEMON_WAITS);
	ck_assert_ptr_nonnull(strstr(seen.error, "waits for programs that do not answer"));
	healths.consumer.silent = clock_monotonic() - 3 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, REASON_SESSION_DAEMON_HANGS);
	page.called = DAEMON_NONE;
	check_state(true, REASON_NONE, "");
}
END_TEST

/* A daemon that was asked, and has not answered for six seconds. */
static struct daemon_health silent(void)
{
	return (struct daemon_health){.silent = clock_monotonic() - 6 * NS_PER_SECOND};
}

/* Whatever the reader says, and whether it waits for one or not: the one that the others wait for is named.
 */
START_TEST(daemon_is_silent)
{
	struct daemons_health healths = {.session = silent()};

	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert(!seen.collecting);
	ck_assert_int_eq(seen.reason, REASON_SESSION_DAEMON_HANGS);
	healths.consumer = silent();
	page.called = DAEMON_SESSION;
	page.moved = clock_monotonic() - 6 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, REASON_CONSUMER_HANGS);
	page.called = DAEMON_NONE;
	healths = (struct daemons_health){0};
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
	/* where nothing comes, that is known sooner */
	healths.session.silent = clock_monotonic() - 3 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
	report(REPORT_WAITS, REASON_CONSUMER_STILL, "nothing comes");
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, REASON_SESSION_DAEMON_HANGS);
	report(REPORT_COLLECTS, REASON_NONE, "");
	healths.session.silent = clock_monotonic(); /* was asked just now */
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
}
END_TEST

/* LTTng says only that something failed. */
START_TEST(consumer_is_gone)
{
	struct daemons_health healths = {.consumer.gone = true};

	reader_status_daemons(&shown, &healths);
	report(REPORT_WAITS, REASON_NO_RELAY, "no relay");
	check_state(false, REASON_NO_RELAY, "no relay");
	report(REPORT_WAITS, REASON_LTTNG_FAILED, "fatal error");
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, REASON_CONSUMER_GONE);
	report(REPORT_COLLECTS, REASON_NONE, "");
	check_state(true, REASON_NONE, "");
}
END_TEST

static void check_kernel(enum reason reason, const char *words)
{
	reader_status_read(&shown, &seen);
	ck_assert(seen.collecting);
	ck_assert_int_eq(seen.omissions.kernel.reason, reason);
	ck_assert_msg(strstr(seen.omissions.kernel.text, words) != NULL, "%s", seen.omissions.kernel.text);
}

/* Spans come all the time. */
START_TEST(consumer_of_the_kernel)
{
	struct daemons_health healths = {.kernel = {.gone = true}};

	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_daemons(&shown, &healths);
	ck_assert_int_eq(shown.kernel_ill, 0); /* it is somebody else's affair */
	reader_status_kernel(&shown, true);
	reader_status_daemons(&shown, &healths);
	check_kernel(REASON_NONE, "");
	shown.kernel_ill -= 6 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	check_kernel(REASON_KERNEL_CONSUMER, "has ended");
	healths.kernel = silent();
	reader_status_daemons(&shown, &healths);
	check_kernel(REASON_KERNEL_CONSUMER, "does not answer");
	healths.kernel = (struct daemon_health){0};
	reader_status_daemons(&shown, &healths);
	check_kernel(REASON_NONE, "");
}
END_TEST

/* LTTng says nothing, and what was recorded before is read from files: the session itself is there. */
START_TEST(consumer_has_ended)
{
	struct daemons_health healths = {.consumer = {.gone = true}};

	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_daemons(&shown, &healths);
	ck_assert_int_eq(shown.consumer_ended, 0); /* one of the other word size is there */
	healths.consumer.ended = true;
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
	shown.consumer_ended -= 6 * NS_PER_SECOND;
	reader_status_daemons(&shown, &healths);
	reader_status_read(&shown, &seen);
	ck_assert_int_eq(seen.reason, REASON_CONSUMER_GONE);
	ck_assert(!seen.collecting);
	healths.session.gone = true; /* both are started again */
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
	healths.session.gone = false;
	reader_status_daemons(&shown, &healths);
	check_state(true, REASON_NONE, "");
}
END_TEST

/* While another reader starts nothing is missing yet; that one cannot be started is another matter. */
START_TEST(reader_ends)
{
	int64_t since;

	reader_status_ended(&shown, true, "died");
	check_state(false, REASON_STARTING, "");
	report(REPORT_COLLECTS, REASON_NONE, "");
	reader_status_read(&shown, &seen);
	since = seen.since;
	g_usleep(2000);
	reader_status_ended(&shown, true, "died");
	check_state(true, REASON_READER_ENDED, "died");
	ck_assert_str_eq(seen.session, "blkin");
	report(REPORT_COLLECTS, REASON_NONE, "");
	check_state(true, REASON_NONE, "");
	ck_assert_int_eq(seen.since, since);
	reader_status_ended(&shown, false, "no program");
	check_state(false, REASON_NO_READER, "no program");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, reason_goes_with_the_sentence);
	tcase_add_test(cases, since_when);
	tcase_add_loop_test(cases, daemon_hangs, 0, 2);
	tcase_add_loop_test(cases, reader_is_busy, 0, 2);
	tcase_add_test(cases, session_daemon_waits);
	tcase_add_test(cases, daemon_is_silent);
	tcase_add_test(cases, consumer_is_gone);
	tcase_add_test(cases, consumer_has_ended);
	tcase_add_test(cases, consumer_of_the_kernel);
	tcase_add_test(cases, reader_ends);
	return run_cases("shown", cases);
}
