/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes traces at an even rate: a root and two children each, for tests of sampling.
 *
 *     requests SERVICE SECONDS ROOTS_A_SECOND
 *
 * Ends earlier on SIGTERM. Prints how many roots it made.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <blkin/blkin.h>

static volatile sig_atomic_t ends;

static void end(int number)
{
	(void)number;
	ends = 1;
}

static void make_trace(const struct blkin_endpoint *here)
{
	BLKIN_SPAN(root, BLKIN_SERVER, "root", here, NULL);

	for (int i = 0; i < 2; i++) {
		BLKIN_SPAN(child, BLKIN_LOCAL, "child", here, blkin_span_context(&root));
		blkin_span_tag_int(&child, "number", i);
	}
}

static void sleep_until(uint64_t time)
{
	struct timespec at = {(time_t)(time / 1000000000), (long)(time % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

int main(int argc, char **argv)
{
	struct blkin_endpoint here = {"10.0.0.1", 6800, argc > 1 ? argv[1] : ""};
	uint64_t begin = blkin_now();
	long roots, made;

	if (argc != 4)
		return 64;
	signal(SIGTERM, end);
	roots = atol(argv[2]) * atol(argv[3]);
	for (made = 0; made < roots && !ends; made++) {
		sleep_until(begin + (uint64_t)made * 1000000000 / (uint64_t)atol(argv[3]));
		make_trace(&here);
	}
	printf("%ld\n", made);
	return 0;
}
