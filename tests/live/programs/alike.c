/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of which one is like the other: nothing but their order tells them apart.
 *
 *     alike THREADS RATE
 *
 * Each thread records the event alike:tick, with the thread's number, ten at once, RATE a second, until
 * SIGTERM; then it prints how many of each thread there are.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "alike.h"

#define THREADS_MAX 16
#define AT_ONCE 10

static volatile sig_atomic_t ended;
static long rate;

struct worker {
	pthread_t id;
	int number;
	uint64_t recorded;
};

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void *work(void *data)
{
	struct worker *worker = data;
	struct timespec nap = {0, AT_ONCE * 1000000000L / rate % 1000000000L};

	while (!ended) {
		for (int i = 0; i < AT_ONCE; i++)
			lttng_ust_tracepoint(alike, tick, worker->number);
		worker->recorded += AT_ONCE;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS_MAX] = {0};
	int threads = argc > 1 ? atoi(argv[1]) : 1;

	rate = argc > 2 ? atol(argv[2]) : 1000;
	signal(SIGTERM, end);
	for (int i = 0; i < threads && i < THREADS_MAX; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].id, NULL, work, &workers[i]);
	}
	for (int i = 0; i < threads && i < THREADS_MAX; i++) {
		pthread_join(workers[i].id, NULL);
		printf("%" PRIu64 "\n", workers[i].recorded);
	}
	return 0;
}
