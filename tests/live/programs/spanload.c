/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load of spans of which every field is known beforehand: tests/live/expect.py derives the same from a
 * span's tags.
 *
 *     spanload [-p PROCESSES] [-t THREADS] [-n SPANS] [-r RATE] [-w SECONDS]
 *
 * Each thread of each process records SPANS spans, at most RATE a second (0: as fast as it can), in traces of
 * five: a root and four children of it. Processes are numbered from 0, and so are threads and spans within
 * them. It waits up to SECONDS for tracing to be on (then it ends with 3), and prints how many spans it
 * recorded. SIGTERM ends it early; then it prints for each thread who that is and how many spans it
 * recorded, as in "1.0 2345".
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define TRACE_SPANS 5
#define WORKERS_MAX 64
#define NS_PER_SECOND UINT64_C(1000000000)
/* Paced work sleeps for no less than this. */
#define NAP 1000000
/* Spans begin that much before they are recorded: their ends are made up, and must not lie in the future. */
#define EARLIER 2000000

extern char **environ;

struct load {
	int processes, threads;
	uint64_t spans, rate;
	int wait;
	int process; /* this one's number, or -1 in the one that starts the others */
};

struct worker {
	const struct load *load;
	uint64_t recorded;
	int thread;
	pthread_t id;
	struct blkin_endpoint local;
	char service[32], ip[32];
};

static volatile sig_atomic_t ended, started;
static pid_t children[WORKERS_MAX];

static const char *const names[] = {"read", "Write", "list objects", "delete", "stat", "sync-all", "größe"};

static void fill_and_finish(struct blkin_span *span, const struct worker *worker, uint64_t n)
{
	uint64_t start = span->recording ? span->record.start -= EARLIER : 0;
	char text[64];

	snprintf(text, sizeof(text), "%d.%d", worker->load->process, worker->thread);
	blkin_span_tag(span, "worker", text);
	blkin_span_tag_int(span, "ordinal", (int64_t)n);
	blkin_span_tag_int(span, "score", -(int64_t)(n * n * 31));
	snprintf(text, sizeof(text), "%" PRIu64, start);
	blkin_span_tag(span, "start", text);
	snprintf(text, sizeof(text), "step %" PRIu64 " of a request", n % 100);
	blkin_span_annotate_at(span, start + 1000 * (1 + n % 50), text);
	blkin_span_annotate_at(span, start + 1000 * (60 + n % 7), n % 3 ? "done" : "erledigt ✓");
	blkin_span_finish_at(span, start + 1000 * (100 + n % 1000));
}

static void record(struct worker *worker, uint64_t n, struct blkin_context *root)
{
	static const struct blkin_endpoint remote = {"10.9.8.7", 6789, "peer"};
	enum blkin_kind kind = (enum blkin_kind)(n % TRACE_SPANS);
	struct blkin_span span;

	blkin_span_start(&span, kind, names[n % (sizeof(names) / sizeof(*names))], &worker->local,
		n % TRACE_SPANS ? root : NULL);
	if (n % TRACE_SPANS == 0)
		*root = *blkin_span_context(&span);
	if (kind == BLKIN_CLIENT)
		blkin_span_remote(&span, &remote);
	fill_and_finish(&span, worker, n);
}

/* Sleeps until the moment that the span @n is due. */
static void pace(uint64_t begun, uint64_t n, uint64_t rate)
{
	uint64_t due = begun + n * NS_PER_SECOND / rate, now = blkin_now();

	if (due > now + NAP)
		usleep((useconds_t)((due - now) / 1000));
}

static void *work(void *data)
{
	struct worker *worker = data;
	uint64_t begun = blkin_now();
	struct blkin_context root = {0};

	for (uint64_t n = 0; n < worker->load->spans && !ended; n++) {
		if (worker->load->rate)
			pace(begun, n, worker->load->rate);
		record(worker, n, &root);
		worker->recorded++;
	}
	return NULL;
}

/* LTTng tells that an event is recorded a few milliseconds before it is, more on a busy machine, while it
 * goes on registering a program with a session that begins; nothing tells when that is over. */
#define BEGINS_US 500000

/* The process's share: its threads, each with an endpoint of its own. */
static int run_threads(const struct load *load)
{
	struct worker workers[WORKERS_MAX];
	bool waited = false;

	for (int i = 0; i < load->wait * 20 && !blkin_tracing(); i++) {
		usleep(50000);
		waited = true;
	}
	if (load->wait && !blkin_tracing()) {
		fprintf(stderr, "spanload: no session records spans\n");
		return 3;
	}
	if (waited)
		usleep(BEGINS_US);
	for (int i = 0; i < load->threads; i++) {
		struct worker *worker = &workers[i];

		worker->load = load;
		worker->recorded = 0;
		worker->thread = i;
		snprintf(worker->service, sizeof(worker->service), "load-%d", load->process);
		snprintf(worker->ip, sizeof(worker->ip), "10.1.%d.%d", load->process, i);
		worker->local = (struct blkin_endpoint){worker->ip, (int16_t)(7000 + i), worker->service};
		pthread_create(&worker->id, NULL, work, worker);
	}
	for (int i = 0; i < load->threads; i++) {
		pthread_join(workers[i].id, NULL);
		if (ended)
			printf("%d.%d %" PRIu64 "\n", load->process, i, workers[i].recorded);
	}
	return 0;
}

static void end(int number)
{
	ended = 1;
	for (int i = 0; i < started; i++)
		kill(children[i], number);
}

/* Starts this program again as process @number; a fork alone would lose LTTng's threads. */
static pid_t start_process(char **argv, int argc, int number)
{
	char text[16], *words[32];
	pid_t pid;

	snprintf(text, sizeof(text), "-P%d", number);
	words[0] = argv[0];
	words[1] = text;
	memcpy(words + 2, argv + 1, (size_t)argc * sizeof(*argv));
	return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ) == 0 ? pid : -1;
}

static int run_processes(const struct load *load, char **argv, int argc)
{
	int failed = 0, status;

	for (int i = 0; i < load->processes && !ended; i++) {
		children[i] = start_process(argv, argc, i);
		if (children[i] < 0)
			return 1;
		started = i + 1;
	}
	while (wait(&status) > 0)
		if (status)
			failed = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	if (!failed && !ended)
		printf("%" PRIu64 "\n", load->spans * (uint64_t)load->threads * (uint64_t)load->processes);
	return failed;
}

int main(int argc, char **argv)
{
	struct load load = {.processes = 1, .threads = 1, .spans = 1000, .wait = 10, .process = -1};
	int option;

	while ((option = getopt(argc, argv, "p:t:n:r:w:P:")) != -1) {
		switch (option) {
		case 'p':
			load.processes = atoi(optarg);
			break;
		case 't':
			load.threads = atoi(optarg);
			break;
		case 'n':
			load.spans = strtoull(optarg, NULL, 10);
			break;
		case 'r':
			load.rate = strtoull(optarg, NULL, 10);
			break;
		case 'w':
			load.wait = atoi(optarg);
			break;
		case 'P':
			load.process = atoi(optarg);
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that is killed leaves none of them behind */
			break;
		default:
			return 64;
		}
	}
	if (load.threads < 1 || load.threads > WORKERS_MAX || load.processes > WORKERS_MAX || argc > 24)
		return 64;
	signal(SIGTERM, end);
	return load.process < 0 ? run_processes(&load, argv, argc) : run_threads(&load);
}
