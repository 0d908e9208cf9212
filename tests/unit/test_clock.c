/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of the provider library, against the kernel's, and against clocks that are slewed as no kernel
 * may.
 *
 * Each reading is compared with one of the kernel's before and one after it: who loses the processor in
 * between sees a longer time, but no wrong one.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <blkin/clock.h>

#include "clock.h"
#include "run.h"

#define MS UINT64_C(1000000)
#define THREADS 4
/* How far behind a reading may be, and under an impossible slew also ahead. */
#define FAR 2000

/* What a thread saw. */
struct worst {
	int64_t ahead, behind, back;
	uint64_t readings;
};

static uint64_t asked; /* the kernel's clock, or what replaces it */

static uint64_t count_kernel(void)
{
	__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	return blkin_kernel_now_();
}

/* The counter in program order. */
static uint64_t ordered_ticks(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return blkin_ticks_();
}

/* A clock of two rates in turn, from the counter. */
static double rates[2], ticks_per_ns;
static uint64_t phase, origin; /* ticks */
static uint64_t stopped;       /* ticks that are not counted */

static uint64_t slewed(void)
{
	uint64_t ticks = ordered_ticks() - origin - __atomic_load_n(&stopped, __ATOMIC_RELAXED);
	uint64_t phases = ticks / phase, rest = ticks % phase;
	double time = (double)(phases / 2) * (double)phase * (rates[0] + rates[1]);

	if (phases % 2)
		time += (double)phase * rates[0];
	time += (double)rest * rates[phases % 2];
	__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	return 1000 * MS + (uint64_t)(time / ticks_per_ns);
}

static void slew(double first, double second, uint64_t each)
{
	rates[0] = first;
	rates[1] = second;
	phase = (uint64_t)((double)each * ticks_per_ns);
	origin = blkin_ticks_();
	stopped = 0;
	clock_kernel = slewed;
}

static void measure_counter(void)
{
	uint64_t time = blkin_kernel_now_(), ticks = blkin_ticks_();

	while (blkin_kernel_now_() < time + 20 * MS)
		;
	ticks_per_ns = (double)(blkin_ticks_() - ticks) / (double)(blkin_kernel_now_() - time);
}

static void watch(struct worst *worst, uint64_t duration)
{
	uint64_t end = blkin_kernel_now_() + duration, last = 0, now, before, after;

	while (blkin_kernel_now_() < end) {
		for (int i = 0; i < 100; i++) {
			before = clock_kernel();
			now = blkin_clock_now_(&clock_shared);
			after = clock_kernel();
			if ((int64_t)(now - after) > worst->ahead)
				worst->ahead = (int64_t)(now - after);
			if ((int64_t)(before - now) > worst->behind)
				worst->behind = (int64_t)(before - now);
			if ((int64_t)(last - now) > worst->back)
				worst->back = (int64_t)(last - now);
			last = now;
			worst->readings++;
		}
	}
}

/* BLKIN_SLEWED=600: for how many seconds threads watch, instead of two */
static uint64_t seconds(void)
{
	const char *text = getenv("BLKIN_SLEWED");

	return text ? strtoul(text, NULL, 10) : 2;
}

static void *watch_in_thread(void *worst)
{
	watch(worst, seconds() * 1000 * MS);
	return NULL;
}

static void use_counter(void)
{
	clock_shared.read = clock_read;
	clock_in_child();
	clock_kernel = count_kernel;
	asked = 0;
}

/* Threads, and a timer whose handler reads the time as well. */
static void watch_in_threads(struct worst *worst)
{
	pthread_t threads[THREADS];
	struct worst each[THREADS] = {0};

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, watch_in_thread, &each[i]), 0);
	memset(worst, 0, sizeof(*worst));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		worst->ahead = each[i].ahead > worst->ahead ? each[i].ahead : worst->ahead;
		worst->behind = each[i].behind > worst->behind ? each[i].behind : worst->behind;
		worst->back = each[i].back > worst->back ? each[i].back : worst->back;
		worst->readings += each[i].readings;
	}
}

static void read_in_handler(int signal)
{
	(void)signal;
	blkin_clock_now_(&clock_shared);
}

static void interrupt(bool on)
{
	struct itimerval timer = {{0, on ? 200 : 0}, {0, on ? 200 : 0}};
	struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Each reading of ours asks the kernel's clock twice for comparison. */
static bool counter_used(const struct worst *worst)
{
#ifdef __SANITIZE_THREAD__ /* which takes so long that the kernel's time is old when it is there */
	(void)worst;
	return true;
#else
	return asked - 2 * worst->readings < worst->readings / 2;
#endif
}

START_TEST(test_threads)
{
	struct worst worst;

	use_counter();
	interrupt(true);
	watch_in_threads(&worst);
	interrupt(false);
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_eq(worst.back, 0);
	ck_assert_int_lt(worst.behind, FAR);
	ck_assert(counter_used(&worst));
}
END_TEST

/* As fast as NTP's daemons slew, and adjtime, both ways, from one millisecond to the next. */
START_TEST(test_slewed)
{
	struct worst worst;

	use_counter();
	slew(1 + 0.001, 1 - 0.001, MS + 7);
	watch_in_threads(&worst);
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_eq(worst.back, 0);
	ck_assert_int_lt(worst.behind, FAR);
	ck_assert(counter_used(&worst));
}
END_TEST

/* From the fastest to the slowest that the kernel knows, at once. */
START_TEST(test_slewed_by_tick)
{
	struct worst worst;

	use_counter();
	slew(1.1005, 0.8995, MS + 7);
	watch_in_threads(&worst);
	ck_assert_int_lt(worst.ahead, FAR);
	ck_assert_int_lt(worst.behind, FAR);
	ck_assert(counter_used(&worst));
}
END_TEST

/* A suspended machine: the counter may go on, CLOCK_MONOTONIC does not. */
START_TEST(test_suspended)
{
	struct worst worst = {0};

	use_counter();
	slew(1, 1, MS);
	for (int i = 0; i < 20; i++) {
		uint64_t ticks = blkin_ticks_();

		usleep(10000);
		__atomic_add_fetch(&stopped, blkin_ticks_() - ticks, __ATOMIC_RELAXED);
		watch(&worst, 10 * MS);
	}
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_eq(worst.back, 0);
	ck_assert_int_lt(worst.behind, FAR);
	ck_assert(counter_used(&worst));
}
END_TEST

/* And if the counter has started again, the last pair is of its future. */
START_TEST(test_counter_starts_again)
{
	struct worst worst = {0};

	use_counter();
	watch(&worst, 10 * MS);
	clock_shared.ticks += UINT64_C(1) << 50;
	watch(&worst, 10 * MS);
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_lt(worst.behind, FAR);
	ck_assert(counter_used(&worst));
}
END_TEST

/* While another is at work, here for ever, the kernel is asked; a child goes on with the counter. */
START_TEST(test_interrupted)
{
	struct worst worst = {0};

	use_counter();
	watch(&worst, 10 * MS);
	clock_shared.turn |= 1;
	asked = worst.readings = 0;
	watch(&worst, 10 * MS);
	ck_assert_uint_eq(asked, 3 * worst.readings);
	clock_in_child();
	asked = worst.readings = 0;
	watch(&worst, 10 * MS);
	ck_assert(counter_used(&worst));
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_eq(worst.back, 0);
	ck_assert_int_lt(worst.behind, FAR);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* with it, both clocks are seldom read fast enough for a pair */
/* Who reads the time seldom asks the kernel each time; and not any more when there is more to do. */
START_TEST(test_resting)
{
	struct worst worst = {0};
	uint64_t before;

	use_counter();
	watch(&worst, 10 * MS);
	ck_assert(counter_used(&worst));
	for (int i = 0; i < 100; i++) {
		usleep(50);
		before = blkin_kernel_now_();
		ck_assert_uint_le(before, blkin_clock_now_(&clock_shared) + FAR);
	}
	ck_assert_uint_eq(clock_shared.window, 0);
	asked = 0;
	for (int i = 0; i < 100; i++) {
		usleep(50);
		blkin_clock_now_(&clock_shared);
	}
	ck_assert_uint_eq(asked, 100);
	asked = worst.readings = 0;
	watch(&worst, 20 * MS);
	ck_assert(counter_used(&worst));
	ck_assert_int_eq(worst.ahead, 0);
	ck_assert_int_eq(worst.back, 0);
}
END_TEST

/* Children of a process whose threads are reading; ThreadSanitizer takes the parent's threads for theirs. */
START_TEST(test_fork)
{
	struct worst worst = {0};
	pthread_t thread;
	int status;

	use_counter();
	pthread_atfork(NULL, NULL, clock_in_child);
	pthread_create(&thread, NULL, watch_in_thread, &worst);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (child == 0) {
			struct worst mine = {0};

			asked = 0;
			while (mine.readings < 20000)
				watch(&mine, MS);
			_exit(mine.ahead || mine.back || mine.behind >= FAR || !counter_used(&mine));
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	pthread_join(thread, NULL);
	ck_assert_int_eq(worst.ahead, 0);
}
END_TEST
#endif

/* With BLKIN_CLOCK=kernel, and only with this, the counter is left alone. */
START_TEST(test_environment)
{
	ck_assert_int_eq(system("BLKIN_CLOCK=kernel /proc/$PPID/exe choice"), 0);
	ck_assert_int_eq(!system("BLKIN_CLOCK=other /proc/$PPID/exe choice"),
		!system("env -u BLKIN_CLOCK /proc/$PPID/exe choice"));
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tests = tcase_create("clock");

	(void)argv;
	if (argc > 1)
		_exit(clock_shared.read != NULL);
	measure_counter();
	tcase_set_timeout(tests, 60 + (double)seconds());
	tcase_add_test(tests, test_environment);
	if (clock_shared.read) { /* here the counter can be used */
		tcase_add_test(tests, test_threads);
		tcase_add_test(tests, test_slewed);
		tcase_add_test(tests, test_slewed_by_tick);
		tcase_add_test(tests, test_suspended);
		tcase_add_test(tests, test_counter_starts_again);
		tcase_add_test(tests, test_interrupted);
#ifndef __SANITIZE_THREAD__
		tcase_add_test(tests, test_resting);
		tcase_add_test(tests, test_fork);
#endif
	}
	return run_cases("clock", tests);
}
