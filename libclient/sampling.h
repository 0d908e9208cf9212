/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which traces are recorded: once, at their root, and in the provider library, of which a process has
 * only one.
 */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stddef.h>
#include <stdint.h>

/* Whether the trace that begins with root id @id at @now (CLOCK_MONOTONIC ns) in @service is recorded. Any
 * thread. */
int sampling_decide(uint64_t id, uint64_t now, const char *service);

/* The program's own setting: 1/@one_in of its traces (0 and 1: all), and at most @per_second (0: no cap). */
void sampling_set(uint32_t one_in, uint32_t per_second);

/* Says in words which share is recorded, and who says so. */
void sampling_describe(char *text, size_t size);

#endif
