/* SPDX-License-Identifier: BSD-2-Clause */
/* sixfields COUNT: records so many spans, each twice, as providers of before 0.2 do: with ids from 1 on, and
 * again, as `err`, with ids from 1,000,001 on. */
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "sixfields.h"

#define DATA "local 7 10.6.0.1 sixfields\n+100 note\nkey=value\n"

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

	for (uint64_t id = 1; id <= count; id++) {
		uint64_t start = now();

		lttng_ust_tracepoint(blkin, span, id, start, "six", DATA);
		lttng_ust_tracepoint(blkin, span_err, 1000000 + id, start, "six", DATA);
	}
	return 0;
}
