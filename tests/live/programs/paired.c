/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with tracepoints that come two by two, and spans of its own, if it is to have any.
 *
 *     paired COUNT THREADS RATE [spans|killed|lone]
 *
 * Each of THREADS threads does COUNT rounds, at most RATE a second (0: as fast as it can): paired:read_enter,
 * within it two times paired:flush_enter and paired:flush_exit, the second time within the first one, then
 * paired:read_exit. With `spans`, each round is within a span "request". With `killed`, it is killed behind a
 * last read_enter and flush_enter of its first thread; with `lone`, there is a flush_exit alone at the end of
 * each thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "paired.h"

#define BATCH 10

static const struct blkin_endpoint here = {"127.0.0.1", 7, "pairedservice"};
static unsigned long rounds, rate;
static const char *mode = "";

static void flush(uint64_t number)
{
	lttng_ust_tracepoint(paired, flush_enter, number);
	lttng_ust_tracepoint(paired, flush_enter, number + 1);
	lttng_ust_tracepoint(paired, flush_exit, number + 1);
	lttng_ust_tracepoint(paired, flush_exit, number);
}

static void read_one(uint64_t number)
{
	lttng_ust_tracepoint(paired, read_enter, number, "/etc/hosts", (double)number / 4);
	flush(number);
	lttng_ust_tracepoint(paired, read_exit, number, -(int64_t)number);
}

static void request(uint64_t number)
{
	BLKIN_SPAN(span, BLKIN_LOCAL, "request", &here, NULL);

	read_one(number);
}

static void *run(void *data)
{
	struct timespec nap = {0, rate ? (long)(BATCH * 1000000000UL / rate) % 1000000000L : 0};

	(void)data;
	for (uint64_t i = 0; i < rounds; i++) {
		if (!strcmp(mode, "spans"))
			request(i);
		else
			read_one(i);
		if (rate && i % BATCH == 0)
			nanosleep(&nap, NULL);
	}
	if (!strcmp(mode, "lone"))
		lttng_ust_tracepoint(paired, flush_exit, rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	pthread_t *threads = calloc(count, sizeof(*threads));

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	rate = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	mode = argc > 4 ? argv[4] : "";
	for (unsigned long i = 1; threads && i < count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	run(NULL);
	for (unsigned long i = 1; threads && i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (strcmp(mode, "killed") != 0)
		return 0;
	lttng_ust_tracepoint(paired, read_enter, rounds, "/etc/hosts", 0.5);
	lttng_ust_tracepoint(paired, flush_enter, rounds);
	raise(SIGKILL);
	return 1;
}
