/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What came about in the last 1, 10 and 60 minutes: for each, the counts as they were when it began
 * (plane.h), which follow ten seconds, a minute, or five minutes at a time. So a window is its minutes long,
 * or up to that much longer.
 *
 * What a window has to follow with is kept as changes, in WINDOWS_MEMORY at most. If that is not enough,
 * which takes thousands of names that are busy in each minute, the longest window becomes shorter. In all,
 * windows take no more than WINDOWS_MEMORY and five planes.
 */
#ifndef STATS_WINDOWS_H
#define STATS_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "stats/plane.h"
#include "stats/statistics.h"

enum window { WINDOW_1, WINDOW_10, WINDOW_60, WINDOWS };

/* windows_tick is due so often. */
#define WINDOWS_TICK_SECONDS 10
#define WINDOWS_MEMORY (24 * 1024 * 1024)

struct windows;

/* The statistics are borrowed. @memory: WINDOWS_MEMORY, but in tests. */
struct windows *windows_create(const struct statistics *statistics, size_t memory);
void windows_destroy(struct windows *windows);

/* Ten seconds have passed. */
void windows_tick(struct windows *windows);

/* The counts when the window began, and at the tick before the last one. */
const struct plane *windows_base(const struct windows *windows, enum window window);
const struct plane *windows_before(const struct windows *windows);

/* Bytes that the changes take. */
size_t windows_memory(const struct windows *windows);

#endif
