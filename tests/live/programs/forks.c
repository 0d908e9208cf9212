/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What LTTng costs the children of a program that forks.
 *
 *     forks CHILDREN FILE...
 *
 * forks when the first FILE exists, one child after the other; and again when the next one does. Each child
 * records one span, at once, and ends. Prints, in microseconds, how long they took from fork to their first
 * own step, all together and at most.
 *
 * With PLAIN it has a tracepoint of its own instead of our header.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef PLAIN
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "layout2014.h"

static void record(void)
{
	lttng_ust_tracepoint(zipkin, timestamp, "child", "forks", 0, "", 1, 2, 0, "is there");
}
#else
#include <blkin/blkin.h>

static void record(void)
{
	static const struct blkin_endpoint here = {"", 0, "forks"};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "child", &here, NULL);
	blkin_span_finish(&span);
}
#endif

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* How long a child took. It ends as programs end, so that LTTng ends with it. */
static int64_t run_child(int64_t *there)
{
	int64_t before = now();
	pid_t child = fork();
	int status;

	if (child == 0) {
		*there = now();
		record();
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
	return *there - before;
}

static void run_round(int children, int64_t *there)
{
	int64_t took, all = 0, most = 0;

	for (int i = 0; i < children; i++) {
		took = run_child(there);
		all += took;
		most = took > most ? took : most;
	}
	printf("%" PRId64 " %" PRId64 "\n", all, most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int children = argc > 2 ? atoi(argv[1]) : 0;
	int64_t *there =
		mmap(NULL, sizeof(*there), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!children || there == MAP_FAILED)
		return 64;
	puts("ready");
	fflush(stdout);
	for (int i = 2; i < argc; i++) {
		while (access(argv[i], F_OK) != 0)
			usleep(10000);
		run_round(children, there);
	}
	return 0;
}
