/* SPDX-License-Identifier: BSD-2-Clause */
/* When a reader that does not move is taken for one that hangs, with processes of the test's own in its
 * place. */
#define _GNU_SOURCE
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "core/reason.h"
#include "handover/frames.h"
#include "supervise/child.h"

#include "run.h"

#define LOOK_US 50000
#define RIVALS 7
/* The relay daemon has 20 s; this much of it is over when the test begins. */
#define OVER_NS (18 * NS_PER_SECOND)
#define WATCH_NS (6 * NS_PER_SECOND)

static struct page *page;
static struct child child;
static pid_t rivals[RIVALS];

/* Of one processor, the first that the test may have. */
static void share_one(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

static void compute(void)
{
	alarm(120);
	for (volatile bool on = true; on;)
		;
}

static void wait_for_ever(void)
{
	alarm(120);
	for (;;)
		pause();
}

static pid_t start(void (*what)(void), bool shares)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (shares)
			share_one();
		what();
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

static void begin(void (*what)(void), bool shares)
{
	int fd = -1;

	page = page_create(&fd);
	close(fd);
	child = (struct child){.pid = start(what, shares), .memory = -1, .watched = clock_monotonic()};
	child.moved = clock_monotonic() - OVER_NS;
	atomic_store(&page->called, DAEMON_RELAY);
}

static void end(void)
{
	char how[128];

	kill(child.pid, SIGKILL);
	child_end(&child, NS_PER_SECOND, how, sizeof(how));
	page_unmap(page);
}

/* Whether it is killed, being watched as the supervisor does. */
static bool is_killed(void)
{
	for (int64_t until = clock_monotonic() + WATCH_NS; clock_monotonic() < until && !child.killed;) {
		child_watch(&child, page);
		g_usleep(LOOK_US);
	}
	return child.killed;
}

START_TEST(who_waits_for_a_daemon)
{
	begin(wait_for_ever, false);
	ck_assert(is_killed());
	end();
}
END_TEST

/* Among eight on one processor it has computed for less than a second, and waited for nobody. */
START_TEST(who_waits_for_a_processor)
{
	for (int i = 0; i < RIVALS; i++)
		rivals[i] = start(compute, true);
	begin(compute, true);
	ck_assert_msg(!is_killed(), "computed %g s, kept waiting %g s", (double)child.computed / 1e9,
		(double)child.kept / 1e9);
	ck_assert_int_gt(child.kept, 0);
	for (int i = 0; i < RIVALS; i++) {
		kill(rivals[i], SIGKILL);
		waitpid(rivals[i], NULL, 0);
	}
	end();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 100);
	tcase_add_test(cases, who_waits_for_a_daemon);
	tcase_add_test(cases, who_waits_for_a_processor);
	return run_cases("child", cases);
}
