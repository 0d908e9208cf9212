/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span that is slow for a known reason, for `blkin why`:
 *
 *     slow cpu | disk FILE | lock | fault FILE | network | sleep | request FILE
 *
 * The span is called as the reason. cpu: three threads "hog" compete for its processor. disk: it writes FILE
 * and has it synced. lock: a thread "holder" has the mutex. fault: it touches the pages of FILE, which nobody
 * has read. network: a thread "peer" answers late. request: its children are called network, lock, disk and
 * cpu, and are slow for that, one after another. It waits for tracing to be on (then it ends with 3), and
 * prints the trace's id, the span's, the process, its thread, and the other one (of several the last).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define WAIT_MS 120000
#define NAP_US 80000
#define WORK_NS 100000000
#define HOGS 3
#define WRITTEN (512 * 1024)
#define PAGE 4096

static const struct blkin_endpoint here = {"127.0.0.1", 0, "slow"};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int other; /* the other thread, once it is where it is to be */
static atomic_bool done;
static int pair[2];

static void say_ready(void)
{
	other = (int)gettid();
}

static pthread_t start(const char *name, void *(*run)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	pthread_setname_np(thread, name);
	return thread;
}

static void wait_ready(void)
{
	while (!other)
		usleep(1000);
}

/* The processor */

static void stay_on_one(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *compete(void *data)
{
	stay_on_one();
	say_ready();
	while (!done)
		;
	return data;
}

static uint64_t worked(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void compute(void)
{
	for (uint64_t begun = worked(); worked() - begun < WORK_NS;)
		;
}

/* The disk */

static void write_all(const char *path)
{
	static char bytes[WRITTEN];
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(bytes, 'x', sizeof(bytes));
	if (file < 0 || write(file, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) || fsync(file) != 0) {
		perror(path);
		exit(1);
	}
	close(file);
}

static void touch_all(const char *path)
{
	int file = open(path, O_RDONLY);
	struct stat stat;
	volatile const char *bytes;
	unsigned sum = 0;

	if (file < 0 || fstat(file, &stat) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
		perror(path);
		exit(1);
	}
	bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED || madvise((void *)(uintptr_t)bytes, (size_t)stat.st_size, MADV_RANDOM) != 0)
		exit(1);
	for (off_t i = 0; i < stat.st_size; i += PAGE)
		sum += (unsigned char)bytes[i];
	fprintf(stderr, "%u\n", sum);
}

/* Others */

static void *hold(void *data)
{
	pthread_mutex_lock(&mutex);
	say_ready();
	usleep(NAP_US);
	pthread_mutex_unlock(&mutex);
	return data;
}

static void *answer(void *data)
{
	char byte;

	say_ready();
	if (read(pair[0], &byte, 1) == 1)
		usleep(NAP_US);
	if (write(pair[0], "x", 1) != 1)
		exit(1);
	return data;
}

static void ask(void)
{
	struct pollfd wanted = {.fd = pair[1], .events = POLLIN};
	char byte;

	if (send(pair[1], "x", 1, 0) != 1 || poll(&wanted, 1, -1) != 1 || recv(pair[1], &byte, 1, 0) != 1)
		exit(1);
}

static void prepare(const char *reason)
{
	other = 0;
	if (!strcmp(reason, "cpu")) {
		for (int i = 0; i < HOGS; i++) {
			other = 0;
			start("hog", compete);
			wait_ready();
		}
		stay_on_one();
	} else if (!strcmp(reason, "lock")) {
		start("holder", hold);
		wait_ready();
	} else if (!strcmp(reason, "network")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			exit(1);
		start("peer", answer);
		wait_ready();
	}
}

static void suffer(const char *reason, const char *path)
{
	if (!strcmp(reason, "cpu"))
		compute();
	else if (!strcmp(reason, "disk"))
		write_all(path);
	else if (!strcmp(reason, "lock"))
		pthread_mutex_lock(&mutex);
	else if (!strcmp(reason, "fault"))
		touch_all(path);
	else if (!strcmp(reason, "network"))
		ask();
	else
		usleep(NAP_US);
}

static void request(const char *path, const struct blkin_context *parent)
{
	static const char *const reasons[] = {"network", "lock", "disk", "cpu"};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		prepare(reasons[i]);
		BLKIN_SPAN(span, BLKIN_LOCAL, reasons[i], &here, parent);
		suffer(reasons[i], path);
	}
}

int main(int argc, char **argv)
{
	const char *reason = argc > 1 ? argv[1] : "sleep";
	uint64_t trace, id;

	for (int i = 0; i < WAIT_MS / 50 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	usleep(500000);
	prepare(reason);
	{
		BLKIN_SPAN(span, BLKIN_LOCAL, reason, &here, NULL);

		trace = (uint64_t)blkin_span_context(&span)->trace_id;
		id = blkin_span_context(&span)->span_id;
		if (!strcmp(reason, "request"))
			request(argc > 2 ? argv[2] : "", blkin_span_context(&span));
		else
			suffer(reason, argc > 2 ? argv[2] : "");
	}
	done = true;
	printf("%016" PRIx64 " %016" PRIx64 " %d %d %d\n", trace, id, (int)getpid(), (int)gettid(),
		(int)other);
	return 0;
}
