/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing costs the traced program in instructions: run it under callgrind.
 *
 *     count CALLS on|off
 *
 * Makes CALLS calls of each row, and has callgrind write what they took by themselves, under the row's name.
 * The clock stands still, so that no row asks the kernel in one run and the processor's counter in the next.
 */
#include <stdio.h>
#include <stdlib.h>

#include <valgrind/callgrind.h>

#include "rows.h"

/* What is done once only, as the first call in a thread, is done with those. */
#define WARM_UP 20

static uint64_t no_clock(uint64_t ticks)
{
	(void)ticks;
	fprintf(stderr, "count: the clock that stands still was found too old\n");
	exit(1);
}

static void stop_clock(void)
{
	static struct blkin_clock clock;

	clock.read = no_clock;
	clock.time = blkin_kernel_now_();
	clock.ticks = blkin_ticks_();
	clock.window = UINT64_MAX;
	blkin_clock_ = &clock;
}

static __attribute__((noinline)) void repeat(
	void (*call)(const struct subject *subject), const struct subject *subject, unsigned calls)
{
	for (unsigned i = 0; i < calls; i++)
		call(subject);
}

static void count(const struct row *row, const struct subject *subject, unsigned calls)
{
	repeat(row->call, subject, WARM_UP);
	CALLGRIND_ZERO_STATS;
	repeat(row->call, subject, calls);
	CALLGRIND_DUMP_STATS_AT(row->name);
}

int main(int argc, char **argv)
{
	bool on = argc == 3 && !strcmp(argv[2], "on");
	struct subject subject;

	if (argc != 3 || (!on && strcmp(argv[2], "off") != 0)) {
		fprintf(stderr, "usage: count CALLS on|off\n");
		return 64;
	}
	if (!rows_ready(on))
		return 3;
	fill_subject(&subject);
	stop_clock();
	for (const struct row *row = on ? rows_on : rows_off; row->name; row++)
		count(row, &subject, (unsigned)atoi(argv[1]));
	return 0;
}
