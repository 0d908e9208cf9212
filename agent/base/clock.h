/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_SECOND INT64_C(1000000000)

static inline int64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* For durations. */
static inline int64_t clock_monotonic(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* What the calling thread has used of processors. */
static inline int64_t clock_thread(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* Since the epoch. */
static inline int64_t clock_wall(void)
{
	return clock_read(CLOCK_REALTIME);
}

/* Conversions to the types of the system. */
static inline struct timeval clock_timeval(int64_t ns)
{
	return (struct timeval){ns / NS_PER_SECOND, ns % NS_PER_SECOND / 1000};
}

static inline struct timespec clock_timespec(int64_t ns)
{
	return (struct timespec){ns / NS_PER_SECOND, ns % NS_PER_SECOND};
}

/* The pause after the given number of failures: @first, doubled for each of them, up to @most. */
static inline int64_t clock_backoff(int64_t first, unsigned failures, int64_t most)
{
	int64_t pause = first << (failures < 20 ? failures : 20);

	return pause < most ? pause : most;
}

#endif
