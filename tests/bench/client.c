/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing costs the traced program.
 *
 *     client [-t THREADS] [-r ROUNDS] [-b BATCHES] [-n CALLS] [-p PAUSE_US] [-o ROW] on|off
 *
 * Times batches of CALLS calls of each row in turn, BATCHES times a round, and pauses behind each batch so
 * that LTTng's consumer keeps up. -o: only that row. `on` waits for a session that records; `off` is to run
 * without one. Prints a line for each row and round: ROW ROUND WALL CPU, nanoseconds a call, the median of
 * the round's batches; and `events N`, how many events it recorded.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"

#define THREADS_MAX 8
/* A row that records nothing takes a nanosecond or two: that many times the calls. */
#define CHEAP 50

struct options {
	int threads, rounds, batches;
	unsigned calls, pause;
	const char *only; /* NULL: all rows */
	bool on;
};

struct cost {
	double wall, cpu;
};

struct bench {
	struct options options;
	const struct row *rows;
	int row_count;
	struct subject subject;
	pthread_barrier_t barrier;
	struct cost *costs[THREADS_MAX]; /* of a round: by row, then batch */
};

struct worker {
	struct bench *bench;
	int thread;
	pthread_t id;
};

/* Measuring */

static double read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct cost time_batch(const struct row *row, const struct subject *subject, unsigned calls)
{
	void (*volatile call)(const struct subject *subject) = row->call;
	double wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < calls; i++)
		call(subject);
	cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = read_clock(CLOCK_MONOTONIC) - wall;
	return (struct cost){wall / calls, cpu / calls};
}

static void run_round(struct worker *worker)
{
	struct bench *bench = worker->bench;
	const struct options *options = &bench->options;

	for (int batch = 0; batch < options->batches; batch++) {
		for (int i = 0; i < bench->row_count; i++) {
			const struct row *row = &bench->rows[i];

			pthread_barrier_wait(&bench->barrier);
			bench->costs[worker->thread][i * options->batches + batch] =
				time_batch(row, &bench->subject, options->calls * (row->records ? 1 : CHEAP));
			if (row->records)
				usleep(options->pause);
		}
	}
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* All threads' batches of row @row count alike. */
static void print_row(const struct bench *bench, int row, int round)
{
	int batches = bench->options.batches, count = 0;
	double wall[THREADS_MAX * 1000], cpu[THREADS_MAX * 1000];

	for (int thread = 0; thread < bench->options.threads; thread++) {
		for (int batch = 0; batch < batches; batch++) {
			wall[count] = bench->costs[thread][row * batches + batch].wall;
			cpu[count++] = bench->costs[thread][row * batches + batch].cpu;
		}
	}
	printf("%s %d %.3f %.3f\n", bench->rows[row].name, round, median(wall, count), median(cpu, count));
}

/* Round 0 warms up, and is not printed. */
static void *work(void *data)
{
	struct worker *worker = data;
	struct bench *bench = worker->bench;

	for (int round = 0; round <= bench->options.rounds; round++) {
		run_round(worker);
		pthread_barrier_wait(&bench->barrier);
		for (int i = 0; worker->thread == 0 && round > 0 && i < bench->row_count; i++)
			print_row(bench, i, round);
		pthread_barrier_wait(&bench->barrier);
	}
	return NULL;
}

static void run(struct bench *bench)
{
	const struct options *options = &bench->options;
	struct worker workers[THREADS_MAX];
	uint64_t records = 0;

	pthread_barrier_init(&bench->barrier, NULL, (unsigned)options->threads);
	for (int i = 0; i < options->threads; i++) {
		bench->costs[i] =
			calloc((size_t)bench->row_count * (size_t)options->batches, sizeof(struct cost));
		workers[i].bench = bench;
		workers[i].thread = i;
		pthread_create(&workers[i].id, NULL, work, &workers[i]);
	}
	for (int i = 0; i < options->threads; i++) {
		pthread_join(workers[i].id, NULL);
		free(bench->costs[i]);
	}
	pthread_barrier_destroy(&bench->barrier);
	for (int i = 0; i < bench->row_count; i++)
		records += bench->rows[i].records;
	printf("events %" PRIu64 "\n",
		records * options->calls *
			(uint64_t)(options->batches * options->threads * (options->rounds + 1)));
}

static bool read_options(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){.threads = 1, .rounds = 7, .batches = 20, .calls = 2000, .pause = 2000};
	while ((option = getopt(argc, argv, "t:r:b:n:p:o:")) != -1) {
		if (option == 't')
			options->threads = atoi(optarg);
		else if (option == 'r')
			options->rounds = atoi(optarg);
		else if (option == 'b')
			options->batches = atoi(optarg);
		else if (option == 'n')
			options->calls = (unsigned)atoi(optarg);
		else if (option == 'p')
			options->pause = (unsigned)atoi(optarg);
		else if (option == 'o')
			options->only = optarg;
		else
			return false;
	}
	options->on = optind < argc && !strcmp(argv[optind], "on");
	return optind + 1 == argc && (options->on || !strcmp(argv[optind], "off")) && options->threads >= 1 &&
	       options->threads <= THREADS_MAX && options->batches >= 1 && options->batches <= 1000 &&
	       options->calls;
}

static bool choose_rows(struct bench *bench)
{
	const char *only = bench->options.only;

	bench->rows = bench->options.on ? rows_on : rows_off;
	while (only && bench->rows->name && strcmp(bench->rows->name, only) != 0)
		bench->rows++;
	while (bench->rows[bench->row_count].name && !(only && bench->row_count))
		bench->row_count++;
	return bench->row_count > 0;
}

int main(int argc, char **argv)
{
	static struct bench bench;

	if (!read_options(&bench.options, argc, argv)) {
		fprintf(stderr, "usage: client [-t THREADS] [-r ROUNDS] [-b BATCHES] [-n CALLS] [-p "
				"PAUSE_US] [-o ROW] on|off\n");
		return 64;
	}
	if (!rows_ready(bench.options.on))
		return 3;
	if (!choose_rows(&bench)) {
		fprintf(stderr, "client: no row is named %s\n", bench.options.only);
		return 64;
	}
	fill_subject(&bench.subject);
	run(&bench);
	return 0;
}
