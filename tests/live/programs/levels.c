/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records spans of two levels in turns, at an even rate, for tests of levels that change: "crit" and "debug",
 * each with its number as tag "n".
 *
 *     levels SECONDS SPANS_A_SECOND
 *
 * Prints how many of each it made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <blkin/blkin.h>

static void record(enum blkin_level level, const char *name, long n)
{
	static const struct blkin_endpoint here = {"10.0.0.1", 6800, "levels"};
	struct blkin_span span;

	blkin_span_start_level(&span, level, BLKIN_LOCAL, name, &here, NULL);
	blkin_span_tag_int(&span, "n", n);
	blkin_span_finish(&span);
}

int main(int argc, char **argv)
{
	uint64_t begin = blkin_now(), due;
	long rate = argc == 3 ? atol(argv[2]) : 0, count;

	if (rate <= 0)
		return 64;
	count = atol(argv[1]) * rate;
	for (long n = 0; n < count; n++) {
		due = begin + (uint64_t)n * 1000000000 / (uint64_t)rate;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
			&(struct timespec){(time_t)(due / 1000000000), (long)(due % 1000000000)}, NULL);
		record(BLKIN_CRIT, "crit", n);
		record(BLKIN_DEBUG, "debug", n);
	}
	printf("%ld\n", count);
	return 0;
}
