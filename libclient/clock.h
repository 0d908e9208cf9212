/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's half of <blkin/clock.h>. */
#ifndef CLOCK_H
#define CLOCK_H

#include <blkin/record.h>

/* The clock of this process, used if its `read` is set. */
extern struct blkin_clock clock_shared;

/* What it follows: CLOCK_MONOTONIC; tests have others. */
extern uint64_t (*clock_kernel)(void);

/* Reads the time; in any thread and in signal handlers. @ticks: what the counter has just said, or 0. */
uint64_t clock_read(uint64_t ticks);

/* In a child after a fork: nothing is known yet. */
void clock_in_child(void);

#endif
