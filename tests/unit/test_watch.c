/* SPDX-License-Identifier: BSD-2-Clause */
/* The watch over a session, with a session daemon of the test's own. */
#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "session/again.h"
#include "session/measure.h"
#include "session/session.h"
#include "session/watch.h"

#include "run.h"

static _Atomic uint64_t level_seen;
static atomic_int anew_seen; /* how often all was asked for */
static atomic_bool there, refuses;
static atomic_int looks;

/* In the place of the one that asks the daemon. */
enum session_status session_repair(const struct config *config, const struct session_identity *identity,
	uint64_t level, struct anew anew, struct session_repairs *repairs)
{
	(void)config, (void)identity;
	anew_seen += anew.events && anew.kernel;
	*repairs = (struct session_repairs){0};
	level_seen = level;
	looks++;
	if (refuses)
		g_strlcpy(repairs->error, "cannot do so", sizeof(repairs->error));
	if (refuses)
		return SESSION_FAILED;
	return there ? SESSION_OK : SESSION_NONE;
}

void measure_buffers(
	const struct config *config, const struct session_identity *identity, struct user_buffers *buffers)
{
	(void)config;
	*buffers = (struct user_buffers){.known = true};
	userbuffers_add(buffers, 1000, identity->created);
}

static const struct config config = {.level = 7};
static const struct session_identity session = {.name = "blkin", .created = 1};

static void wait_level(uint64_t level)
{
	for (int i = 0; i < 100 && level_seen != level; i++)
		g_usleep(20 * 1000);
	ck_assert_uint_eq(level_seen, level);
}

START_TEST(level_changes_at_once)
{
	struct watch *watch = watch_create(&config);

	there = true;
	watch_set(watch, &session);
	wait_level(7);
	watch_set_level(watch, 3);
	wait_level(3);
	ck_assert(!watch_gone(watch));
	watch_destroy(watch);
}
END_TEST

/* The keeper says it when it takes a session up, and when it reads it live: it is configured once. */
START_TEST(same_session)
{
	struct watch *watch = watch_create(&config);

	there = true;
	anew_seen = 0;
	for (int times = 1; times <= 2; times++) {
		watch_set(watch, &session);
		wait_level(7);
		watch_set(watch, &session);
		watch_set_level(watch, 3);
		wait_level(3);
		ck_assert_int_eq(anew_seen, times);
		watch_set(watch, NULL);
		watch_set_level(watch, 7);
	}
	watch_destroy(watch);
}
END_TEST

/* Each session's buffers are told once, and soon after it began. */
START_TEST(buffers_are_measured)
{
	struct session_identity other = {.name = "blkin-2", .created = 2};
	struct watch *watch = watch_create(&config);
	struct user_buffers buffers = {0};

	there = true;
	for (uint64_t created = 1; created <= 2; created++) {
		watch_set(watch, created == 1 ? &session : &other);
		for (int i = 0; i < 100 && !watch_measured(watch, &buffers); i++)
			g_usleep(20 * 1000);
		ck_assert(buffers.known);
		ck_assert_uint_eq(userbuffers_sum(&buffers), created);
		ck_assert(!watch_measured(watch, &buffers));
	}
	watch_destroy(watch);
}
END_TEST

/* What LTTng refuses again and again is told, and not each time. */
START_TEST(refusal_is_told)
{
	char path[] = "/tmp/blkin-test-XXXXXX";
	int file = mkstemp(path), old = dup(STDERR_FILENO);
	g_autofree char *said = NULL;
	struct watch *watch = watch_create(&config);

	dup2(file, STDERR_FILENO);
	refuses = true;
	looks = 0;
	watch_set(watch, &session);
	while (looks < 4)
		g_usleep(20 * 1000);
	watch_destroy(watch);
	refuses = false;
	dup2(old, STDERR_FILENO);
	ck_assert(g_file_get_contents(path, &said, NULL, NULL));
	ck_assert_str_eq(
		said, "blkin: LTTng session `blkin` may not record all that it should: cannot do so\n");
	unlink(path);
	close(file);
	close(old);
}
END_TEST

/* The level of a session that is gone is nobody's concern: who asks for it has an answer all the same. */
START_TEST(level_changes_once_it_is_gone)
{
	struct watch *watch = watch_create(&config);

	there = false;
	watch_set(watch, &session);
	for (int i = 0; i < 100 && !watch_gone(watch); i++)
		g_usleep(20 * 1000);
	ck_assert(watch_gone(watch));
	watch_set_level(watch, 3);
	for (int i = 0; i < 20; i++) {
		clock_t before = clock();

		g_usleep(10 * 1000);
		ck_assert(watch_gone(watch));
		ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC / 200);
	}
	ck_assert_uint_eq(level_seen, 7);
	/* the next session has it */
	there = true;
	watch_set(watch, &session);
	wait_level(3);
	watch_destroy(watch);
}
END_TEST

#define MINUTE (60 * NS_PER_SECOND)

static void check_due(const struct omissions *omissions, int64_t minutes, bool events, bool kernel)
{
	const struct asked asked = {NS_PER_SECOND, NS_PER_SECOND};
	struct anew due = again_due(omissions, &asked, NS_PER_SECOND + minutes * MINUTE);

	ck_assert_int_eq(due.events, events);
	ck_assert_int_eq(due.kernel, kernel);
}

/* What is refused to programs' events does not have the kernel's modules looked for more often. */
START_TEST(asked_again)
{
	struct omissions omissions = {0};

	check_due(&omissions, 100, false, false);
	omissions.kernel.reason = REASON_KERNEL_MISSING;
	check_due(&omissions, 9, false, false);
	check_due(&omissions, 10, false, true);
	omissions.events.reason = REASON_EVENTS_FAILED;
	check_due(&omissions, 0, false, false);
	check_due(&omissions, 1, true, false);
	check_due(&omissions, 10, true, true);
	omissions.kernel.reason = REASON_KERNEL_DENIED;
	check_due(&omissions, 1, true, true);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 20);
	tcase_add_test(cases, level_changes_at_once);
	tcase_add_test(cases, same_session);
	tcase_add_test(cases, buffers_are_measured);
	tcase_add_test(cases, level_changes_once_it_is_gone);
	tcase_add_test(cases, refusal_is_told);
	tcase_add_test(cases, asked_again);
	return run_cases("watch", cases);
}
