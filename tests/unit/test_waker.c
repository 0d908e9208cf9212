/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking a loop, and a pause, from other threads: with a descriptor for it, and where no file can be opened.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>
#include <glib.h>

#include "base/clock.h"
#include "base/waker.h"
#include "reader/runstate.h"

#include "run.h"

#define THREADS 4
#define WAKES 20000

static struct event_base *base;
static struct waker *waker;
static atomic_int asked; /* told before each wake */
static int seen;         /* of these, when it was woken last */
static atomic_int ended;

static void on_woken(void *data)
{
	ck_assert_ptr_eq(data, &seen);
	seen = atomic_load(&asked);
	if (atomic_load(&ended) == THREADS && seen == THREADS * WAKES)
		event_base_loopbreak(base);
}

static void *wake(void *data)
{
	(void)data;
	for (int i = 0; i < WAKES; i++) {
		if (i == WAKES - 1)
			atomic_fetch_add(&ended, 1);
		atomic_fetch_add(&asked, 1);
		waker_wake(waker);
	}
	return NULL;
}

/* Runs @call where no file can be opened if @full. */
static void with_files(bool full, void (*call)(void))
{
	struct rlimit limit, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	if (full)
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	call();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void make_waker(void)
{
	waker = waker_create(base, on_woken, &seen);
}

/* The last wake of all is never forgotten: the loop sees what was told before it. */
START_TEST(none_is_forgotten)
{
	pthread_t threads[THREADS];

	evthread_use_pthreads();
	base = event_base_new();
	with_files(_i, make_waker);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wake, NULL), 0);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(seen, THREADS * WAKES);
	waker_destroy(waker);
	event_base_free(base);
}
END_TEST

static struct runstate state;
static struct page page;

static void make_state(void)
{
	runstate_init(&state, &page, NULL);
}

static void *request_stop(void *data)
{
	(void)data;
	runstate_request_stop(&state, NS_PER_SECOND);
	return NULL;
}

START_TEST(pause_ends_with_news)
{
	int news = eventfd(1, EFD_CLOEXEC);

	with_files(_i, make_state);
	ck_assert(!runstate_pause_on(&state, NS_PER_MS, -1));
	ck_assert(runstate_pause_on(&state, 3600 * NS_PER_SECOND, news));
	ck_assert(!runstate_stopping(&state));
	close(news);
}
END_TEST

/* It would be an hour; and each one after that is over at once. */
START_TEST(pause_ends_with_a_stop)
{
	pthread_t thread;

	with_files(false, make_state);
	ck_assert_int_eq(pthread_create(&thread, NULL, request_stop, NULL), 0);
	for (int i = 0; i < 3; i++)
		runstate_pause(&state, 3600 * NS_PER_SECOND);
	pthread_join(thread, NULL);
	ck_assert(runstate_stopping(&state));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("waker");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, none_is_forgotten, 0, 2);
	tcase_add_loop_test(cases, pause_ends_with_news, 0, 2);
	tcase_add_test(cases, pause_ends_with_a_stop);
	return run_cases("waker", cases);
}
