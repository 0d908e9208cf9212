/* SPDX-License-Identifier: BSD-2-Clause */
/* The watch over a session, with a session daemon of the test's own. */
#include <check.h>
#include <stdatomic.h>
#include <time.h>

#include <glib.h>

#include "session/session.h"
#include "session/watch.h"

#include "run.h"

static _Atomic uint64_t level_seen;
static atomic_bool there;

/* In the place of the one that asks the daemon. */
enum session_status session_repair(const struct config *config, const struct session_identity *identity,
	uint64_t level, bool anew, struct session_repairs *repairs)
{
	(void)config, (void)identity, (void)anew;
	*repairs = (struct session_repairs){0};
	level_seen = level;
	return there ? SESSION_OK : SESSION_NONE;
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

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 20);
	tcase_add_test(cases, level_changes_at_once);
	tcase_add_test(cases, level_changes_once_it_is_gone);
	return run_cases("watch", cases);
}
