/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans with other events in them, for `blkin import --around`: foreign:tick 1 and 3 within the span "outer",
 * 2 within its child "inner", 4 behind both; and meanwhile 100 and more on another thread, which has no span.
 * Prints the trace's id, the process, both threads, and CLOCK_MONOTONIC within inner.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "foreign.h"

#define NAP_US 30000

static const struct blkin_endpoint here = {"127.0.0.1", 0, "around"};
static atomic_bool done;
static atomic_int other;

static void tick(uint64_t number)
{
	lttng_ust_tracepoint(foreign, tick, number, "around");
}

static void *run(void *data)
{
	(void)data;
	other = (int)gettid();
	for (uint64_t i = 100; !done; i++) {
		tick(i);
		usleep(1000);
	}
	return NULL;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(void)
{
	uint64_t within, trace;
	pthread_t thread;

	sleep(1); /* until the session is heard of */
	pthread_create(&thread, NULL, run, NULL);
	{
		BLKIN_SPAN(outer, BLKIN_LOCAL, "outer", &here, NULL);

		trace = (uint64_t)blkin_span_context(&outer)->trace_id;
		tick(1);
		usleep(NAP_US);
		{
			BLKIN_SPAN(inner, BLKIN_LOCAL, "inner", &here, blkin_span_context(&outer));

			tick(2);
			usleep(NAP_US);
			within = now();
			usleep(NAP_US);
		}
		tick(3);
		usleep(NAP_US);
	}
	tick(4);
	done = true;
	pthread_join(thread, NULL);
	printf("%016" PRIx64 " %d %d %d %" PRIu64 "\n", trace, (int)getpid(), (int)gettid(), (int)other,
		within);
	return 0;
}
