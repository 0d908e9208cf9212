/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time that spans are stamped with: CLOCK_MONOTONIC, which LTTng stamps events with.
 *
 * To ask the kernel takes twice as long as to read the processor's counter, even without a system call. So
 * where the kernel's clock is that counter, the provider pairs a reading of both, and for the next four
 * microseconds the time is what the counter has advanced since then. Then the kernel is asked again. The
 * shorter that is, the less it matters how the kernel's clock is slewed meanwhile. And the counter's rate is
 * taken to be a little slower than it was, so that what is computed is behind the kernel's time rather than
 * ahead of it; see libclient/clock.c.
 */
#ifndef BLKIN_CLOCK_H_
#define BLKIN_CLOCK_H_

#include <stdint.h>

#include <blkin/provider.h>
#include <blkin/ticks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The time by the counter; asks the provider if the last pair is too old, or is being changed. */
static inline uint64_t blkin_clock_now_(const struct blkin_clock *clock)
{
	uint64_t turn = __atomic_load_n(&clock->turn, __ATOMIC_ACQUIRE);
	uint64_t rate = __atomic_load_n(&clock->rate, __ATOMIC_ACQUIRE);
	uint64_t window = __atomic_load_n(&clock->window, __ATOMIC_ACQUIRE);
	uint64_t time = __atomic_load_n(&clock->time, __ATOMIC_ACQUIRE);
	uint64_t ticks, passed, least;

	if (!window)
		return clock->read(0);
	ticks = blkin_ticks_();
	passed = ticks - __atomic_load_n(&clock->ticks, __ATOMIC_ACQUIRE);
	if (__builtin_expect(passed >= window, 0) || __builtin_expect(turn & 1, 0) ||
		__builtin_expect(turn != __atomic_load_n(&clock->turn, __ATOMIC_RELAXED), 0))
		return clock->read(ticks);
	time += passed * rate >> 32;
	least = __atomic_load_n(&clock->least, __ATOMIC_RELAXED);
	return time >= least ? time : least;
}

/**
 * blkin_now - the time that spans are stamped with
 *
 * Returns CLOCK_MONOTONIC in nanoseconds, which is what LTTng stamps events with; it may be half a
 * microsecond behind.
 */
static inline uint64_t blkin_now(void)
{
	const struct blkin_clock *clock = blkin_clock_;

	return clock ? blkin_clock_now_(clock) : blkin_kernel_now_();
}

#ifdef __cplusplus
}
#endif

#endif
