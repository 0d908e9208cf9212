/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with tracepoints of its own, foreign:tick and, less important, foreign:whisper.
 *
 *     foreign COUNT RATE [FIRST]
 *
 * Records COUNT of each, numbered from FIRST or 0, at most RATE of each a second (0: as fast as it can);
 * prints the number of its thread.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "foreign.h"

#define BATCH 10

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long rate = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long first = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	struct timespec nap = {0, rate ? (long)(BATCH * 1000000000UL / rate) % 1000000000L : 0};
	char text[32];

	for (unsigned long i = first; i < first + count; i++) {
		snprintf(text, sizeof(text), "tick %lu", i);
		lttng_ust_tracepoint(foreign, tick, i, text);
		lttng_ust_tracepoint(foreign, whisper, i);
		if (rate && i % BATCH == 0)
			nanosleep(&nap, NULL);
	}
	printf("%d\n", (int)gettid());
	return 0;
}
