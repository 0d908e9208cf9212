/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing costs the traced program.
 *
 *     client [-t THREADS] [-r ROUNDS] [-b BATCHES] [-n CALLS] [-p PAUSE_US] on|off
 *
 * Times batches of CALLS calls of each row in turn, BATCHES times a round, and pauses behind each batch so
 * that LTTng's consumer keeps up. `on` waits for a session that records; `off` is to run without one. Prints
 * a line for each row and round: ROW ROUND WALL CPU, nanoseconds a call, the median of the round's batches;
 * and `events N`, how many events it recorded.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <blkin/blkin.h>

#include "floor.h"

#define THREADS_MAX 8
#define ROWS_MAX 8
/* A row that records nothing takes a nanosecond or two: that many times the calls. */
#define CHEAP 50

struct options {
	int threads, rounds, batches;
	unsigned calls, pause;
	bool on;
};

/* What is traced. */
struct subject {
	struct blkin_endpoint here;
	struct blkin_trace trace;
	struct blkin_context parent, unsampled;
	const char *event, *object, *pool;
};

struct row {
	const char *name;
	void (*call)(const struct subject *subject);
	unsigned records; /* events a call */
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

/* The calls, all reached in the same way */

static void call_nothing(const struct subject *subject)
{
	__asm__ volatile("" : : "r"(subject) : "memory");
}

static void call_floor(const struct subject *subject)
{
	const struct blkin_trace *trace = &subject->trace;

	lttng_ust_tracepoint(bench, timestamp, trace->name, trace->endpoint->name, trace->endpoint->port,
		trace->endpoint->ip, trace->info.trace_id, trace->info.span_id, trace->info.parent_span_id,
		subject->event);
}

static void call_record(const struct subject *subject)
{
	BLKIN_TIMESTAMP(&subject->trace, NULL, subject->event);
}

/* What BlkKin has always done for a span such as the next. */
static void call_six_records(const struct subject *subject)
{
	BLKIN_TIMESTAMP(&subject->trace, NULL, "request decoded");
	BLKIN_KEYVAL_STRING(&subject->trace, NULL, "object", subject->object);
	BLKIN_KEYVAL_STRING(&subject->trace, NULL, "pool", subject->pool);
	BLKIN_TIMESTAMP(&subject->trace, NULL, "cache miss");
	BLKIN_KEYVAL_INTEGER(&subject->trace, NULL, "bytes", 4194304);
	BLKIN_TIMESTAMP(&subject->trace, NULL, "reply sent");
}

static inline void fill_span(struct blkin_span *span, const struct subject *subject)
{
	blkin_span_start(span, BLKIN_SERVER, "read", &subject->here, &subject->parent);
	blkin_span_annotate(span, "request decoded");
	blkin_span_tag(span, "object", subject->object);
	blkin_span_tag(span, "pool", subject->pool);
	blkin_span_annotate(span, "cache miss");
	blkin_span_tag_int(span, "bytes", 4194304);
	blkin_span_annotate(span, "reply sent");
}

static void call_span_of_six(const struct subject *subject)
{
	struct blkin_span span;

	fill_span(&span, subject);
	blkin_span_finish(&span);
}

static void call_bare_span(const struct subject *subject)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_SERVER, "read", &subject->here, &subject->parent);
	blkin_span_finish(&span);
}

static void call_unsampled_span(const struct subject *subject)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_SERVER, "read", &subject->here, &subject->unsampled);
	blkin_span_finish(&span);
}

/* A span of six, its text ready, is finished again and again: what is left is its event. */
static void call_ready_event(const struct subject *subject)
{
	static __thread struct blkin_span span;

	if (!span.used)
		fill_span(&span, subject);
	span.recording = 1;
	blkin_span_finish(&span);
}

static const struct row rows_on[] = {
	{"tracepoint", call_floor, 1},
	{"record", call_record, 1},
	{"six-records", call_six_records, 6},
	{"span-six", call_span_of_six, 1},
	{"span-bare", call_bare_span, 1},
	{"span-event", call_ready_event, 1},
	{"nothing", call_nothing, 0},
	{"unsampled", call_unsampled_span, 0},
};

static const struct row rows_off[] = {
	{"off-nothing", call_nothing, 0},
	{"off-tracepoint", call_floor, 0},
	{"off-span", call_bare_span, 0},
	{"off-span-six", call_span_of_six, 0},
	{"off-record", call_record, 0},
};

static void fill_subject(struct subject *subject)
{
	subject->here = (struct blkin_endpoint){"192.168.17.4", 6800, "osd.4"};
	blkin_init_new_trace(&subject->trace, "read", &subject->here);
	subject->parent = (struct blkin_context){.trace_id = blkin_id(), .span_id = blkin_id()};
	subject->event = "request decoded";
	subject->object = "rbd_data.10226b8b4567.000000000000042a";
	subject->pool = "rbd";
}

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

/* Whether all that is measured is recorded, or none of it. */
static bool recording(bool on)
{
	bool floor = lttng_ust_tracepoint_enabled(bench, timestamp), classic = BLKIN_CLASSIC_ON_(timestamp);

	return on ? floor && classic && blkin_tracing() : floor || classic || blkin_tracing();
}

static bool ready(bool on)
{
	for (int i = 0; on && i < 200 && !recording(true); i++)
		usleep(50000);
	if (recording(on) == on)
		return true;
	fprintf(stderr, "client: %s\n", on ? "no session records blkin:* and bench:*" : "a session records");
	return false;
}

static bool read_options(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){.threads = 1, .rounds = 7, .batches = 20, .calls = 2000, .pause = 2000};
	while ((option = getopt(argc, argv, "t:r:b:n:p:")) != -1) {
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
		else
			return false;
	}
	options->on = optind < argc && !strcmp(argv[optind], "on");
	return optind + 1 == argc && (options->on || !strcmp(argv[optind], "off")) && options->threads >= 1 &&
	       options->threads <= THREADS_MAX && options->batches >= 1 && options->batches <= 1000 &&
	       options->calls;
}

int main(int argc, char **argv)
{
	static struct bench bench;

	if (!read_options(&bench.options, argc, argv)) {
		fprintf(stderr, "usage: client [-t THREADS] [-r ROUNDS] [-b BATCHES] [-n CALLS] [-p "
				"PAUSE_US] on|off\n");
		return 64;
	}
	if (!ready(bench.options.on))
		return 3;
	bench.rows = bench.options.on ? rows_on : rows_off;
	bench.row_count =
		(int)(bench.options.on ? sizeof(rows_on) : sizeof(rows_off)) / (int)sizeof(struct row);
	fill_subject(&bench.subject);
	run(&bench);
	return 0;
}
