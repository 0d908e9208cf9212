/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two readings that <blkin/clock.h> is made of: the processor's counter, and the kernel's clock. Apart
 * from it, as the provider needs them too, which must not load itself as <blkin/provider.h> does. Names may
 * change.
 */
#ifndef BLKIN_TICKS_H_
#define BLKIN_TICKS_H_

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CLOCK_MONOTONIC /* a strict -std=c11 hides POSIX's clock */
#define CLOCK_MONOTONIC 1
#if defined(__USE_TIME64_REDIRECTS) || (defined(__USE_TIME_BITS64) && __TIMESIZE == 32)
#define BLKIN_CLOCK_NAME_ __asm__("__clock_gettime64") /* as time_t is larger than it was on 32 bits */
#else
#define BLKIN_CLOCK_NAME_
#endif
extern int clock_gettime(int clock, struct timespec *time) BLKIN_CLOCK_NAME_ __attribute__((nothrow, leaf));
#endif

/*
 * Reads the processor's counter. The reading may be taken before what precedes it in the program, which makes
 * it too early by nanoseconds, but not after what follows.
 */
static inline uint64_t blkin_ticks_(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0; /* the provider has no clock here */
#endif
}

/* Asks the kernel. */
static inline uint64_t blkin_kernel_now_(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifdef __cplusplus
}
#endif

#endif
