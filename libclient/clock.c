/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs the processor's counter with the kernel's clock; what the pair is for is in <blkin/clock.h>.
 *
 * A pair can be used for WINDOW of time. Then whoever reads the time next asks the kernel, and makes the next
 * pair. How long the counter took for the time between the two pairs is its rate from then on, taken a MARGIN
 * slower: thus the clock falls behind by a third of a microsecond, and is not ahead of the kernel's, even if
 * that gets slower by six percent from one moment to the next. NTP slews by a twentieth of a percent. chrony
 * may slew by eight percent, and a kernel allows ten: then the clock is wrong by less than two microseconds,
 * for one window, and the next one has the new rate.
 *
 * No rate is trusted that the one before does not confirm. So what stops or changes the counter, as a
 * suspended or a migrated machine does, and also a second without readings, costs two windows, in which the
 * kernel is asked each time.
 *
 * To make a pair costs three times what it saves a reading. So this is for programs that read the time about
 * every microsecond. In others the clock rests, and each reading asks the kernel. One of LOOK readings,
 * picked at random, finds out whether there are enough of them again.
 *
 * Readers never wait. Who finds another at work, interrupted perhaps, uses the kernel's time. What is handed
 * out so is noted in `least`, as the clock is a little behind that.
 */
#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkin/ticks.h>

#define WINDOW 4000 /* ns */
/* Of the rate: a sixteenth. */
#define MARGIN_SHIFT 4
/* A new rate differs by less than a fourth of the one before. */
#define AGREE_SHIFT 2
/* As many pairs in a row, made so long after the one before that few readings used that: and the clock rests.
 */
#define LATE (WINDOW + WINDOW / 2)
#define LATES 8
/* It goes on when that many readings are made in less than BUSY. */
#define LOOK_SHIFT 6
#define BUSY 80000 /* ns */
/* How long it may take to read both: in a longer time, one of them has become old. */
#define SLACK 200 /* ns */
/* After that, what the rate was means nothing. */
#define LONG 1000000000 /* ns */
/* The unit of rates. */
#define UNIT 4294967296.0

#if defined(__x86_64__)
#define KERNELS_NAME "tsc\n"
#elif defined(__aarch64__)
#define KERNELS_NAME "arch_sys_counter\n"
#else
#define KERNELS_NAME "none"
#endif

struct blkin_clock clock_shared;
uint64_t (*clock_kernel)(void) = blkin_kernel_now_;

/* Of the last pair, for whose turn it is: */
static uint64_t ticks_before; /* the counter before the kernel was asked */
static uint64_t last_rate;    /* not confirmed yet, perhaps */
static unsigned lates;        /* pairs made late, in a row */

static uint64_t resting = 1;
static uint64_t looked; /* how busy the program is, last; ns */

static uint64_t get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Not visible before `turn` is odd. */
static void set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* The counter, not before all that precedes is done. */
static uint64_t ticks_after(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return blkin_ticks_();
}

static bool agree(uint64_t rate, uint64_t other)
{
	uint64_t difference = rate > other ? rate - other : other - rate;

	return difference < other >> AGREE_SHIFT;
}

/* How much of @ticks passed at @rate. */
static double time_of(uint64_t ticks, uint64_t rate)
{
	return (double)ticks * (double)rate / UNIT;
}

/*
 * The rate since the last pair; too low rather than too high; 0: unknown. After a long time it says little:
 * the machine may have been suspended.
 */
static uint64_t measure(uint64_t time, uint64_t after)
{
	uint64_t passed = time - clock_shared.time, ticks = after - ticks_before;

	return ticks && passed < LONG ? (uint64_t)((double)passed / (double)ticks * UNIT) : 0;
}

/* From now on, no reading is before @time. */
static void note_least(uint64_t time)
{
	uint64_t least = get(&clock_shared.least);

	while (least < time && !__atomic_compare_exchange_n(&clock_shared.least, &least, time, 1,
				       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Begins a window with this pair; it is one of no length until the rate is known. */
static void renew(uint64_t before, uint64_t time, uint64_t after)
{
	struct blkin_clock *clock = &clock_shared;
	uint64_t measured = measure(time, after);
	uint64_t rate = measured - (measured >> MARGIN_SHIFT);
	bool known = agree(measured, last_rate);

	if (time_of(after - before, measured) >= SLACK) {
		note_least(time);
		return;
	}
	lates = time - clock->time < LATE ? 0 : lates + 1;
	if (lates >= LATES) {
		set(&resting, 1);
		known = false;
		lates = 0;
	}
	last_rate = measured;
	ticks_before = before;
	/* a slow counter, as some of arm64's are, may have been about to reach its next tick: that is no time
	 */
	set(&clock->ticks, after + 1);
	set(&clock->time, time);
	set(&clock->rate, rate);
	set(&clock->window, known ? ((uint64_t)WINDOW << 32) / rate : 0);
}

/*
 * Whether the last pair is too old, by both clocks: while some use its window, no other may begin, or who
 * goes from one to the other could go back in time.
 */
static bool is_over(uint64_t before, uint64_t time)
{
	return before - get(&clock_shared.ticks) >= get(&clock_shared.window) &&
	       (int64_t)(time - get(&clock_shared.time)) >= WINDOW;
}

/* Whether a resting clock is to go on. Looks seldom, as that is a write to what all threads share. */
static void look(uint64_t time)
{
	uint64_t before;

	if (time * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOOK_SHIFT))
		return;
	before = get(&looked);
	set(&looked, time);
	if (time - before < BUSY) {
		set(&resting, 0);
	}
}

static uint64_t read_resting(void)
{
	uint64_t time = clock_kernel();

	look(time);
	if (!get(&resting)) /* perhaps for a while */
		note_least(time);
	return time;
}

uint64_t clock_read(uint64_t ticks)
{
	struct blkin_clock *clock = &clock_shared;
	uint64_t turn, before, time, after;

	if (get(&resting))
		return read_resting();
	turn = get(&clock->turn);
	before = ticks ? ticks : blkin_ticks_();
	time = clock_kernel();
	after = ticks_after();
	if (!(turn & 1) && is_over(before, time) &&
		__atomic_compare_exchange_n(
			&clock->turn, &turn, turn + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		renew(before, time, after);
		set(&clock->turn, turn + 2);
	} else {
		note_least(time);
	}
	return time;
}

/* Another thread may have been at work when the process forked. And in a time namespace it is another time.
 */
void clock_in_child(void)
{
	struct blkin_clock *clock = &clock_shared;

	ticks_before = last_rate = lates = 0;
	resting = 1;
	looked = 0;
	clock->ticks = clock->time = clock->rate = clock->window = clock->least = 0;
	clock->turn = 0;
}

/* Whether the counter keeps one rate on all processors and in all their states. arm64's always does. */
static bool is_steady(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000000u), "c"(0));
	if (a < 0x80000007u)
		return false;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000007u), "c"(0));
	return d >> 8 & 1;
#else
	return true;
#endif
}

/* Whether the kernel's own clock is the counter. Otherwise it has found it wanting, or is a guest's clock. */
static bool is_kernels(void)
{
	char name[32] = "";
	int fd = open(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, name, sizeof(name) - 1);
	close(fd);
	return size > 0 && strcmp(name, KERNELS_NAME) == 0;
}

__attribute__((constructor)) static void start_clock(void)
{
	const char *choice = getenv("BLKIN_CLOCK");

	if (!(choice && strcmp(choice, "kernel") == 0) && is_kernels() && is_steady())
		clock_shared.read = clock_read;
}
